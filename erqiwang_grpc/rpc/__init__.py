"""The gRPC transport: the server, its services, and the codecs of its messages.

Read the modules in this order:

1. `server`: what runs behind the port, how it starts and how it shuts down.
2. `access`, `errors`: who is calling, and how a call ends without an answer.
3. `seat_service`, `conversation`, `seat_stream`, `outbox`, `goodbyes`: a seat's stream, from its first message to its last.
   `own_records` reads the match's record for a seat, for all its transports. `spectating`, `spectator_stream`: the same
   for a spectator, whose view comes from the package `spectators`.
4. `gateway`: one stream that carries many seats.
5. `room_service`: what a platform calls. `searches`, `cursors` and `room_status` serve its lists, `openings` and
   `room_presence` its watchers, `server_info` the call of that name.
6. `wire`: the messages from and to core values. `requests` and `encode` are the server's, `decode` is the client's.
7. `health`, `reflection`, `metrics`, `places`: what tools and operators ask. `calls` counts every call.
"""
