"""The neighbours of a node: the other nodes on its store, which seats they say have a stream there, and what they are told.

A node repeats its attached seats every 20 seconds. What another node has not repeated for 60 seconds is forgotten.
"""

from __future__ import annotations

import secrets
from collections import OrderedDict
from collections.abc import Callable, Iterable
from contextlib import AbstractContextManager, nullcontext
from typing import Final, final

from erqiwang_core.units import Seat

from erqiwang_grpc.rooms.limits import SECOND
from erqiwang_grpc.store import (
    NodeId,
    NodeLeft,
    RoomId,
    Roster,
    SeatHere,
    SideMessage,
    SideMessages,
    SignalGiven,
    TimeNs,
    Version,
)

REPEAT_SECONDS: Final = 20.0
"""Seconds after which a node repeats which seats of a room are attached to it."""
FORGET_SECONDS: Final = 60.0
"""Seconds after which a node forgets what another one has not repeated."""
_MOST_ROSTERS: Final = 500_000
"""Most rosters of other nodes that are kept; beyond that the oldest is forgotten."""
_MICROSECOND: Final = 1_000


@final
class Neighbours:
    """What one node knows of the others, and tells them.

    It keeps their rosters of all rooms, also of those that are not in memory here: a stream that attaches must be newer
    than every stream of its seat elsewhere, even if the clocks are wrong.
    """

    def __init__(self, side: SideMessages | None = None, node: NodeId | None = None) -> None:
        """Without `side` there are no neighbours: nothing is told, and nobody is anywhere else."""
        self._side = side
        self.node = node or NodeId(secrets.token_hex(8))
        """The name of this node."""
        self._rosters: dict[RoomId, dict[NodeId, dict[int, SeatHere]]] = {}
        self._heard: OrderedDict[tuple[NodeId, RoomId], float] = OrderedDict()
        """When each roster was heard, earliest first."""

    # Telling

    @property
    def are_told(self) -> bool:
        """Whether anything is told at all."""
        return self._side is not None

    def tell_seats(self, room: RoomId, seats: Iterable[SeatHere]) -> None:
        """Tell which seats of the room have a stream here."""
        if self._side is not None:
            self._side.say(Roster(self.node, room, tuple(seats)))

    def tell_signal(self, room: RoomId, version: Version, seat: Seat, signal: int) -> None:
        """Tell that a seat has given a signal."""
        if self._side is not None:
            self._side.say(SignalGiven(self.node, room, version, seat, signal))

    def part(self) -> None:
        """Tell that this node has stopped."""
        if self._side is not None:
            self._side.say(NodeLeft(self.node))

    # Hearing

    def listen(self, hear: Callable[[SideMessage], None]) -> AbstractContextManager[None]:
        """Call `hear` for every message of another node while in the context."""
        if self._side is None:
            return nullcontext()
        return self._side.listen(lambda message: hear(message) if message.node != self.node else None)

    def take(self, roster: Roster, now: float) -> None:
        """Note what another node says of a room, in place of what it said before."""
        key = (roster.node, roster.room)
        if not roster.seats:
            self._forget(*key)
            return
        nodes = self._rosters.setdefault(roster.room, {})
        for seat in roster.seats:
            # A newer stream has displaced the older ones, and their node may be gone without a word.
            for others in nodes.values():
                older = others.get(seat.seat)
                if older is not None and older.order < seat.order:
                    del others[seat.seat]
        nodes[roster.node] = {seat.seat: seat for seat in roster.seats}
        self._heard[key] = now
        self._heard.move_to_end(key)
        if len(self._heard) > _MOST_ROSTERS:
            self._forget(*next(iter(self._heard)))

    def leave(self, node: NodeId) -> tuple[RoomId, ...]:
        """Forget a node that has stopped. The rooms in which it had seats."""
        rooms = tuple(room for room, nodes in self._rosters.items() if node in nodes)
        for room in rooms:
            self._forget(node, room)
        return rooms

    def forget_silent(self, now: float) -> tuple[RoomId, ...]:
        """Forget what was not repeated in time; gives the rooms that this concerns."""
        rooms: list[RoomId] = []
        while self._heard:
            node, room = next(iter(self._heard))
            if now - self._heard[node, room] <= FORGET_SECONDS:
                break
            self._forget(node, room)
            rooms.append(room)
        return tuple(rooms)

    def _forget(self, node: NodeId, room: RoomId) -> None:
        self._heard.pop((node, room), None)
        nodes = self._rosters.get(room, {})
        nodes.pop(node, None)
        if not nodes:
            self._rosters.pop(room, None)

    # What is known

    def has(self, room: RoomId, seat: Seat) -> bool:
        """Whether the seat has a stream on another node."""
        return any(seat in seats for seats in self._rosters.get(room, {}).values())

    def present(self, room: RoomId, seat: Seat) -> bool:
        """Whether the seat has a stream on another node, whose client was heard of lately."""
        return any(seat in seats and seats[seat].is_present for seats in self._rosters.get(room, {}).values())

    def attended(self) -> tuple[RoomId, ...]:
        """The rooms in which a seat has a stream on another node."""
        return tuple(self._rosters)

    def all_present(self, room: RoomId) -> frozenset[int]:
        """The seats of the room that are present on another node."""
        nodes = self._rosters.get(room, {}).values()
        return frozenset(number for seats in nodes for number, seat in seats.items() if seat.is_present)

    def attach(self, room: RoomId, seat: Seat, after: int, wall: TimeNs) -> int:
        """The order of a stream that attaches now: higher than `after`, and than those of the seat on other nodes.

        Those are displaced from now on. The clock counts only where nothing was heard of another stream.
        """
        ahead = 0.0 if self._side is None else self._side.ahead
        nodes = self._rosters.get(room, {})
        known = [seats.pop(seat).order for seats in nodes.values() if seat in seats]
        return max((wall - int(ahead * SECOND)) // _MICROSECOND, 1 + max((after, *known)))
