"""The port for traces: a room says what it does for a command, and whatever stands behind the port tells it on.

What stands there by default does nothing. `erqiwang_grpc.traces` speaks to OpenTelemetry; rooms know none of that.
"""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext
from typing import Final, Protocol, final

from erqiwang_core.match import Match
from erqiwang_core.options import RoomOptions
from erqiwang_core.units import Seat

from erqiwang_grpc.rooms.command import Answer
from erqiwang_grpc.store import RoomId


class Span(Protocol):
    """One command, from the transport that took it to the last notice of what it brought about."""

    def step(self, name: str) -> AbstractContextManager[None]:
        """A step of the command, while in the context."""

    def end(self, answer: Answer) -> None:
        """The command is answered, and everybody has been told."""


class Spans(Protocol):
    """Begins the span of each command."""

    def command(self, kind: str, seat: Seat | None, room: RoomId, options: RoomOptions, match: Match | None) -> Span:
        """Begin the span of a command of this kind.

        `seat` is None for a command of the platform or the server. `match` is None if the command creates the room.
        """


_NO_STEP: Final[AbstractContextManager[None]] = nullcontext()


@final
class Untraced:
    """The span of a command that is not traced, and what begins such spans."""

    def command(self, kind: str, seat: Seat | None, room: RoomId, options: RoomOptions, match: Match | None) -> Span:
        return self

    def step(self, name: str) -> AbstractContextManager[None]:
        return _NO_STEP

    def end(self, answer: Answer) -> None:
        pass


UNTRACED: Final = Untraced()
