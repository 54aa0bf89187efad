"""The read side: what was played, read from the store without opening a room.

Read the modules in this order:

1. `ownership`: which platform a stored room belongs to.
2. `records`, `matches`: the deals of a match, and the archive that gives records and pages of lists.
3. `summaries`: lists read them; here they are compared with the events and rebuilt.
4. `feed`: the public events of a platform's rooms, for those who watch.
5. `audit`, `retention`: deciding stored events again, and deleting matches that ended long ago.
"""
