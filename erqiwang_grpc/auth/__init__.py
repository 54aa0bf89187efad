"""Authentication: a platform key gives access to a platform's rooms, a seat token to one seat of one room.

`keys` defines the keys, `files` stores them, `tokens` makes and checks seat tokens, `bearer` reads the header. Nothing
here writes a secret to a log, an error, or the representation of a value.
"""
