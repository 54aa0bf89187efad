"""The bench: puts load on the server with scripted seats, and on a relay that sends the same messages without a game.

Read the modules in this order:

1. `command` reads the arguments. `measuring` runs one measurement after the other, in rounds.
2. `figures` holds the results, `shown` shows them.
3. `processes` starts the servers and the load processes, which are told `orders`.
4. `load` is a load process: it has rooms opened (`opening`) and plays them at `turns` of its own choosing, each on a
   `stream_table` or a `gateway_table`, with a `scripted_seat` on each seat.
5. `script` records a match on a real server, and `relay` sends it.
"""
