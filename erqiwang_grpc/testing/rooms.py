"""Rooms for tests: creates a room and takes every seat."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from typing import Final, final

from erqiwang_core.options import RoomOptions

from erqiwang_grpc.client import Platform, SeatClient, Seated
from erqiwang_grpc.client.calls import bearer
from erqiwang_grpc.rpc.wire import encode
from erqiwang_grpc.testing.served import Served
from erqiwang_grpc.v1 import room_pb2

PLAYERS: Final = ("alice", "bob", "carol", "dora")
"""Names for up to four seats, seat 0 first."""


@final
@dataclass(frozen=True, slots=True)
class Table:
    """A room whose seats are all taken."""

    room_id: str
    tokens: tuple[str, ...]
    """The token of each seat, seat 0 first."""
    seats: tuple[Seated, ...] = field(default=(), repr=False)
    """The platform's answer for each seat; empty if the tokens come from somewhere else."""

    def metadata(self, seat: int) -> tuple[tuple[str, str], ...]:
        """The metadata with a seat's token, for calls by generated stubs."""
        return bearer(self.tokens[seat])


async def seated(
    platform: Platform,
    options: room_pb2.RoomOptions | RoomOptions | None = None,
    *,
    roomtype: str | None = None,
    players: Sequence[str] = PLAYERS,
    command_id: str | None = None,
) -> Table:
    """Create a room and take every seat, so that the first deal is dealt. Without options the defaults apply.

    `command_id` is that of the call that creates the room. The first of `players` is the owner. Raises `ValueError` if
    there are fewer players than seats, and `CallRefused` if the server refuses a call.
    """
    asked = encode.room_options(options) if isinstance(options, RoomOptions) else options
    room = (await platform.create_room(players[0], asked, roomtype=roomtype, command_id=command_id)).room
    if len(players) < len(room.seats):
        raise ValueError(f"the room has {len(room.seats)} seats, and there are {len(players)} players")
    names = players[: len(room.seats)]
    taken = [await platform.take_seat(room.room_id, player) for player in names]
    return Table(room.room_id, tuple(seat.token for seat in taken), tuple(taken))


@asynccontextmanager
async def attached(service: Served, table: Table) -> AsyncIterator[list[SeatClient]]:
    """An attached client on every seat, detached when the context is left."""
    async with AsyncExitStack() as stack:
        versions = [seat.last_version for seat in table.seats] if table.seats else [None for _ in table.tokens]
        clients = (service.client(*each) for each in zip(table.tokens, versions, strict=True))
        yield [await stack.enter_async_context(client) for client in clients]
