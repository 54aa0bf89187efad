"""A seated table for tests: a real server on a free port, a room with all seats taken, and a client on each seat.

`docs/testing.md` shows how to use it. `table` puts it together, `served` starts servers (in this process or in a
separate one), `rooms` creates a room and seats everyone, `playing` plays seats, and `decks` chooses who holds what. It
needs no test framework.
"""

from erqiwang_grpc.client.advice import suggested
from erqiwang_grpc.shuffling import Shuffler, seeded
from erqiwang_grpc.testing.decks import holding
from erqiwang_grpc.testing.playing import Chooser, accepted, in_phase, is_over, play, play_all, policy
from erqiwang_grpc.testing.rooms import PLAYERS, Table, attached, seated
from erqiwang_grpc.testing.served import ROOMY, NotStarted, Served, ServerProcess, Service, served, served_apart
from erqiwang_grpc.testing.table import SeatedTable, seated_table

__all__ = [
    "PLAYERS",
    "ROOMY",
    "Chooser",
    "NotStarted",
    "SeatedTable",
    "Served",
    "ServerProcess",
    "Service",
    "Shuffler",
    "Table",
    "accepted",
    "attached",
    "holding",
    "in_phase",
    "is_over",
    "play",
    "play_all",
    "policy",
    "seated",
    "seated_table",
    "seeded",
    "served",
    "served_apart",
    "suggested",
]
