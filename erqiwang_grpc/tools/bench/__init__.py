"""The bench: puts load on the server with scripted seats, and on a relay that sends the same messages without a game.

`command` reads the arguments, `measuring` runs one measurement after the other, and `figures` holds and shows the
results. `processes` starts the servers and the load processes. `load` is a load process, which plays a `scripted_seat`
on each stream. `script` records a match on a real server, and `relay` sends it.
"""
