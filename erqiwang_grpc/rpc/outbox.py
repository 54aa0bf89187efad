"""The outbox of a stream: messages not written yet. It is bounded, so a client that does not read delays nobody."""

import asyncio
from collections.abc import Callable
from typing import final

from erqiwang_grpc.rooms.closing import Closing
from erqiwang_grpc.v1 import seat_service_pb2 as pb


@final
class Outbox:
    """The messages that wait for the one writer of a stream.

    When the outbox is full it is emptied, and `afresh` makes the messages that take their place. `afresh` is called as
    late as possible, when the writer takes messages or the stream is closed, so that it tells all that happened until
    then. Its argument is the last version that the writer took, or before that the one that `Attach` named.
    """

    def __init__(
        self, limit: int, afresh: Callable[[int | None], tuple[pb.SeatMessage, ...]], last_version: int | None = None
    ) -> None:
        self._limit = limit
        self._afresh = afresh
        self._last_version = last_version
        self._waiting = pb.PlayResponse()
        self._behind = False
        self._ready = asyncio.Event()
        self.closing: Closing | None = None
        self.resyncs = 0
        """How often the outbox was full because the client was too slow."""

    def put(self, message: pb.SeatMessage) -> None:
        """Add a message for the writer. Does nothing once the stream is closing."""
        place = self.place()
        if place is not None:
            place.CopyFrom(message)

    def place(self) -> pb.SeatMessage | None:
        """A new, empty message for the writer, to be filled in place without a copy; None if nothing is to be added."""
        if self.closing is not None or self._behind:
            return None
        self._ready.set()
        if len(self._waiting.messages) >= self._limit:
            self._waiting.Clear()
            self._behind = True
            self.resyncs += 1
            return None
        return self._waiting.messages.add()

    def close(self, why: Closing, last: pb.SeatMessage | None = None) -> None:
        """End the stream after the messages that wait, and after `last`. If called again, the first reason stays."""
        if self.closing is not None:
            return
        if self._behind and why is not Closing.UNSEATED:
            # Make them now. When the client reads at last, another player may have the seat, with other cards.
            self._waiting = self._resynced()
        self._behind = False
        if last is not None:
            self._waiting.messages.append(last)
        self.closing = why
        self._ready.set()

    async def take(self) -> pb.PlayResponse:
        """Wait for messages, then give all that wait, in order. Without any message the stream has ended."""
        while not self._waiting.messages and not self._behind and self.closing is None:
            self._ready.clear()
            await self._ready.wait()
        if self._behind:
            return self._resynced()
        taken, self._waiting = self._waiting, pb.PlayResponse()
        return self._noted(taken)

    def _resynced(self) -> pb.PlayResponse:
        self._behind = False
        return self._noted(pb.PlayResponse(messages=self._afresh(self._last_version)))

    def _noted(self, taken: pb.PlayResponse) -> pb.PlayResponse:
        for message in reversed(taken.messages):
            version = message.notice.version or message.snapshot.version
            if version:
                self._last_version = version
                break
        return taken
