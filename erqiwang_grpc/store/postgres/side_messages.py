"""Side messages between nodes: they travel as notifications of the database, on a channel of their own."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from typing import Final, final

from erqiwang_grpc.store.port import RoomId, Version
from erqiwang_grpc.store.postgres.database_clock import DatabaseClock
from erqiwang_grpc.store.postgres.notifications import packed, unpacked
from erqiwang_grpc.store.side_messages import (
    NodeId,
    NodeLeft,
    ProcessSideMessages,
    Roster,
    SeatHere,
    SideMessage,
    SignalGiven,
)

CHANNEL: Final = "erqiwang_side"
_MOST_DUE: Final = 10_000
"""Most messages that wait for a database that is away. Beyond that they are lost."""
_LARGEST_NUMBER: Final = 2**63
_MOST_SEATS: Final = 16
"""Most seats of a roster that is believed. No game has so many."""


@final
class PostgresSideMessages:
    """`SideMessages` for all nodes on one database."""

    name: Final = CHANNEL

    def __init__(self, rung: asyncio.Event, clock: DatabaseClock) -> None:
        """Sets `rung` when a message waits to be told."""
        self._rung = rung
        self._clock = clock
        self._here = ProcessSideMessages()
        self._rosters: dict[tuple[NodeId, RoomId], Roster] = {}
        self._others: list[SignalGiven | NodeLeft] = []

    @property
    def ahead(self) -> float:
        """Seconds that this node's wall clock is ahead of the database's."""
        return self._clock.ahead

    def say(self, message: SideMessage) -> None:
        """Tell the other nodes soon. Of the rosters of one node and room only the last is told."""
        match message:
            case Roster(node, room):
                if len(self._rosters) < _MOST_DUE or (node, room) in self._rosters:
                    self._rosters[node, room] = message
            case SignalGiven() | NodeLeft():
                if len(self._others) < _MOST_DUE:
                    self._others.append(message)
        self._rung.set()

    def listen(self, hear: Callable[[SideMessage], None]) -> AbstractContextManager[None]:
        """Call `hear` for every message while in the context."""
        return self._here.listen(hear)

    def due(self) -> list[str]:
        """The notifications that tell the messages that wait."""
        waiting: list[SideMessage] = [*self._rosters.values(), *self._others]
        self._rosters, self._others = {}, []
        return payloads(waiting)

    def hear(self, payload: object) -> None:
        """Call all listeners for the messages in a notification."""
        for message in heard(payload):
            self._here.say(message)


def payloads(messages: list[SideMessage]) -> list[str]:
    """The notifications that tell these messages, none of them too long."""
    parts: dict[NodeId, list[str]] = {}
    for message in messages:
        parts.setdefault(message.node, []).append(json.dumps(_part(message)))
    return [payload for node, told in parts.items() for payload in packed(node, told)]


def _part(message: SideMessage) -> list[object]:
    match message:
        case Roster(_, room, seats):
            return ["seats", room, [[here.seat, here.order, here.is_present] for here in seats]]
        case SignalGiven(_, room, version, seat, signal):
            return ["signal", room, version, seat, signal]
        case NodeLeft():
            return ["left"]


def heard(payload: object) -> Iterator[SideMessage]:
    """The messages in a notification. Anybody may have sent it, so whatever is no message is passed over."""
    node, parts = unpacked(payload)
    for part in parts:
        message = _message(NodeId(node), part)
        if message is not None:
            yield message


def _message(node: NodeId, part: object) -> SideMessage | None:
    match part:
        case ["seats", str(room), [*seats]] if len(seats) <= _MOST_SEATS:
            here = tuple(_seat_here(each) for each in seats)
            found = tuple(each for each in here if each is not None)
            return Roster(node, RoomId(room), found) if len(found) == len(here) else None
        case ["signal", str(room), int(version), int(seat), int(signal)] if _are_counts(version, seat, signal):
            return SignalGiven(node, RoomId(room), Version(version), seat, signal)
        case ["left"]:
            return NodeLeft(node)
        case _:
            return None


def _seat_here(told: object) -> SeatHere | None:
    match told:
        case [int(seat), int(order), bool(is_present)] if _are_counts(seat, order):
            return SeatHere(seat, order, is_present)
        case _:
            return None


def _are_counts(*numbers: int) -> bool:
    return all(0 <= number < _LARGEST_NUMBER for number in numbers)
