"""Hearing: reads a seat's stream message by message, and keeps the view as it was after each message."""

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
    """The whole view was sent: at the start, after a lost connection, or because the client read too slowly."""


@final
@dataclass(frozen=True, slots=True)
class Noticed:
    """An event, as this seat may know it."""

    version: int
    """The version of the event."""
    cause: Cause


@final
@dataclass(frozen=True, slots=True)
class RefusedTo:
    """A command of this seat was refused."""

    refusal: Refused


@final
@dataclass(frozen=True, slots=True)
class Present:
    """The presence of the seats has changed."""

    seats: tuple[bool, ...]
    """Whether each seat is present, seat 0 first."""


Heard: TypeAlias = Attached | Noticed | Signalled | TrumpsShown | RefusedTo | Present
"""What a message tells a player."""


@final
class Hearing:
    """One seat's client, read one message at a time.

    The client folds messages as they arrive, so its view may be ahead. `view` belongs to the last message read here.
    """

    def __init__(self, client: SeatClient) -> None:
        self.client = client
        self.version = 0
        self._messages: AsyncIterator[pb.SeatMessage] = client.messages()
        self._view: View | None = None

    @property
    def view(self) -> View:
        """The view after the last message that `next` gave. There must have been one."""
        assert self._view is not None, "a stream begins with a view"
        return self._view

    @property
    def is_up_to_date(self) -> bool:
        """Whether every event that the client has received was read here."""
        return self.version == self.client.version

    async def next(self) -> Heard | None:
        """The next message that tells a player something; None once the stream has ended for good."""
        async for message in self._messages:
            heard = self._take(message)
            if heard is not None:
                return heard
        return None

    async def until_version(self, version: int) -> Cause:
        """Read up to the event with this version, and give its cause. It must not have been read before.

        Messages before it are dropped. Raises `ConnectionError` if the stream ends first.
        """
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
            case "accepted" | "heartbeat" | "record_read" | "hint" | "goodbye" | None:
                return None
