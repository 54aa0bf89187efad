"""Rooms: the write side. A room decides a command, appends its events to the store, and tells its listeners.

Read the modules in this order:

1. `command`, `fingerprint`, `refusals`: what a room is asked, how it knows a command again, and why it refuses one.
2. `room`: one live room. `carry_out` is the way of a command, `follow` that of events that other nodes appended.
3. `state`: the room folded from its events. `listener`, `audience`, `closing`: who is told, what, and why a stream ends.
   `neighbours`: who is attached to other nodes. `presences`: hints for those who follow who is present in many rooms.
4. `registry`, `open_rooms`, `housekeeping`: the rooms of a node, which of them are open, and what happens to them by time.
5. `limits`, `costs`, `rate_limit`, `quotas`, `bounds`: how much a caller may use, and how long its texts may be.
6. `counters`: what metrics read.
"""
