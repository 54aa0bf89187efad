"""`erqiwang bots`: plays seats of a running server, many at once over one gateway stream.

Read `levels` for who can play, `orders` for the file that says who sits where, `bot` for one seat, `crew` for all of them, and
`command` for the process.
"""
