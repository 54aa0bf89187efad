"""Who may do what: platform keys, which own rooms, and seat tokens, which play one seat of one.

`keys` knows them, `files` keeps them, `tokens` makes and checks what a seat carries, `bearer` reads the header.
Nothing here writes a secret to a log, to an error, or to the representation of a value.
"""
