"""Spectators: the public view of a room, folded from its stored log, as late as each watch token says.

No live room is asked, so a spectator delays no table, and any node tells the same, also after a restart.

Read the modules in this order:

1. `spectator`: one stream of a spectator, and what it is told.
2. `waiting`: stored entries that may not be told yet.
3. `broadcast`: one room at one lateness. All its spectators share one fold.
4. `broadcasts`: all that are open on a node.
"""
