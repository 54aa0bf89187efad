"""Hearing: a seat's stream message by message, and the view as each leaves it."""

from collections.abc import AsyncIterator
from dataclasses import dataclass
from typing import TypeAlias, final

from erqiwang_core import notices
from erqiwang_core.notices import Cause
from erqiwang_core.parts import View
from erqiwang_core.playing import Signalled, TrumpsShown

from erqiwang_grpc.client import SeatClient
from erqiwang_grpc.rooms.refusals import Refused
from erqiwang_grpc.rpc.wire import decode as read
from erqiwang_grpc.v1 import seat_service_pb2 as pb


@final
@dataclass(frozen=True, slots=True)
class Attached:
    """The whole view was sent: at the beginning, and after a connection was lost."""


@final
@dataclass(frozen=True, slots=True)
class Noticed:
    """An event."""

    version: int
    cause: Cause


@final
@dataclass(frozen=True, slots=True)
class RefusedTo:
    """A command of the seat's own was refused."""

    refusal: Refused


@final
@dataclass(frozen=True, slots=True)
class Present:
    """Which seats are there, seat 0 first."""

    seats: tuple[bool, ...]


Heard: TypeAlias = Attached | Noticed | Signalled | TrumpsShown | RefusedTo | Present


@final
class Hearing:
    """One seat's client, heard one message at a time."""

    def __init__(self, client: SeatClient) -> None:
        self.client = client
        self.version = 0
        self._messages: AsyncIterator[pb.SeatMessage] = client.messages()
        self._view: View | None = None

    @property
    def view(self) -> View:
        """The view as the last message left it; there is one once something was heard."""
        assert self._view is not None, "a stream begins with a view"
        return self._view

    @property
    def is_up_to_date(self) -> bool:
        """Whether no event is known to the client that was not heard here."""
        return self.version == self.client.version

    async def next(self) -> Heard | None:
        """The next thing there is to hear; None once the stream has ended for good."""
        async for message in self._messages:
            heard = self._take(message)
            if heard is not None:
                return heard
        return None

    async def until_version(self, version: int) -> Cause:
        """The cause of that version, which is the next one; everything else is passed over."""
        while True:
            heard = await self.next()
            if heard is None:
                raise ConnectionError("the stream has ended")
            if isinstance(heard, Noticed) and heard.version == version:
                return heard.cause

    def _take(self, message: pb.SeatMessage) -> Heard | None:
        match message.WhichOneof("message"):
            case "snapshot":
                self._view = read.view(message.snapshot.view)
                self.version = message.snapshot.version
                return Attached()
            case "notice":
                told = read.notice(message.notice, self.view.options)
                self._view = notices.fold(self.view, told)
                self.version = message.notice.version
                return Noticed(self.version, told.cause)
            case "signal_received":
                return read.aside(message.signal_received, self.view.seat)
            case "trumps_shown":
                return read.aside(message.trumps_shown, self.view.seat)
            case "refused":
                return RefusedTo(read.refusal(message.refused.refusal))
            case "presence":
                return Present(tuple(message.presence.present))
            case "accepted" | "heartbeat" | "goodbye" | None:
                return None
