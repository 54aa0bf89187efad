"""The port of side messages: what nodes on one store tell each other beside the events, and what is never stored.

A side message may be lost, late or forged. It names rooms, versions, seats and signals, and never a card or a token.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from typing import Final, NewType, Protocol, TypeAlias, final

from erqiwang_grpc.store.port import RoomId, Version

NodeId = NewType("NodeId", str)
"""The random name of a node in one run. A node that was started again has another one."""


@final
@dataclass(frozen=True, slots=True)
class SeatHere:
    """A seat that has a stream on the node that says so."""

    seat: int
    order: int
    """Tells which of two streams of a seat is newer: the one with the higher order."""
    is_present: bool
    """Whether its client was heard of lately."""


@final
@dataclass(frozen=True, slots=True)
class Roster:
    """All seats of a room that have a stream on a node. It replaces what the node has said of the room before."""

    node: NodeId
    room: RoomId
    seats: tuple[SeatHere, ...]


@final
@dataclass(frozen=True, slots=True)
class SignalGiven:
    """A seat has given a signal when its room was at `version`."""

    node: NodeId
    room: RoomId
    version: Version
    seat: int
    signal: int


@final
@dataclass(frozen=True, slots=True)
class NodeLeft:
    """The node has stopped: no seat has a stream there any more."""

    node: NodeId


SideMessage: TypeAlias = Roster | SignalGiven | NodeLeft


class SideMessages(Protocol):
    """Side messages to and from all nodes on one store. A node may hear its own messages too."""

    @property
    def ahead(self) -> float:
        """Seconds that this node's wall clock is ahead of the clock that all nodes share, as far as that is known."""

    def say(self, message: SideMessage) -> None:
        """Tell the other nodes soon. Of several rosters of one node and room that wait, only the last need be told."""

    def listen(self, hear: Callable[[SideMessage], None]) -> AbstractContextManager[None]:
        """Call `hear` for every message, on the event loop, while in the context."""


@final
class ProcessSideMessages:
    """`SideMessages` for nodes on one event loop, which share a store in memory."""

    ahead: Final = 0.0

    def __init__(self) -> None:
        self._hearing: list[Callable[[SideMessage], None]] = []

    def say(self, message: SideMessage) -> None:
        """Call all listeners. Call it on the event loop."""
        for hear in tuple(self._hearing):
            hear(message)

    @contextmanager
    def listen(self, hear: Callable[[SideMessage], None]) -> Iterator[None]:
        """Call `hear` for every message while in the context."""
        self._hearing.append(hear)
        try:
            yield
        finally:
            self._hearing.remove(hear)
