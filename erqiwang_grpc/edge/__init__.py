"""The edge: a process without state between players who cannot speak gRPC and the service.

It is a client of the gateway stream (docs/gateway.md) and holds a gateway key, and no card beyond what its seats were
told. It decides nothing by the rules of the game: only `packets` knows the order of the cards, because old clients are sent
sorted cards and counts of trumps. It needs the extra `edge`. docs/edge.md is its manual.

Read the modules in this order:

1. `settings` says what an operator may set. `edge` is the process: one gateway stream, one port, one `status` port.
2. `seats` are the open seats on the gateway stream, each with the `SeatEar` that hears what it is told.
3. `connections` counts who is connected, and `admission` says who may open a socket. `web_socket` is one open socket, with its
   bounded `outbox`; `closes` has the codes it may be closed with.
4. A door is a module that adds its routes to the application: `doors` lists them. `play` is the one for players; its `frames`
   are protobuf or proto JSON, which `json_request` reads and `json_text` writes. `watch` is the one for spectators, each of
   which has a stream of its own over the `upstreams`. `packets` is the one for old clients. `page` is the table page. All
   JSON is read by `strict_json`.
"""
