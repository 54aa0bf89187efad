"""Torture: kills servers again and again under load, and checks that nothing they told their clients was lost.

Read `command` first. `victim` is the server in a child process, `tables` plays on it, `transcript` keeps what each
client was told, `checking` compares that with the store at the end, and `comparing` does so for every room.

`many_nodes` does it with several servers on one database: `nodes` starts them, `chaos` torments them and the database, and
`feeds` compares what a platform heard of its rooms.
"""
