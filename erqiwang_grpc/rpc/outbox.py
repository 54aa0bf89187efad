"""The outbox of one stream: what waits to be written, bounded, so that a client that does not read delays nobody."""

import asyncio
from collections.abc import Callable
from typing import final

from erqiwang_grpc.rooms.closing import Closing
from erqiwang_grpc.v1 import seat_service_pb2 as pb


@final
class Outbox:
    """Messages for one stream's only writer.

    A full outbox is emptied. `afresh` is then asked for what stands in place of all that was thrown away, when the
    writer comes for it or when the stream is closed: by then it holds everything. `afresh` is given the last version
    that the writer took, at first the one that the client named itself.
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
        """How often the client was too slow."""

    def put(self, message: pb.SeatMessage) -> None:
        """Leave a message for the writer. Once the stream is to end, nothing is added."""
        place = self.place()
        if place is not None:
            place.CopyFrom(message)

    def place(self) -> pb.SeatMessage | None:
        """Where the next message for the writer is to be put, so that it is not copied; None where nothing is added."""
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
        """End the stream once what waits is written, with `last` as the last message. The first reason stays."""
        if self.closing is not None:
            return
        if self._behind and why is not Closing.UNSEATED:
            # Now, and not when the client reads at last: by then another may have the seat, with other cards.
            self._waiting = self._resynced()
        self._behind = False
        if last is not None:
            self._waiting.messages.append(last)
        self.closing = why
        self._ready.set()

    async def take(self) -> pb.PlayResponse:
        """Everything that waits, in order, as soon as there is something; without a message once the stream is to end."""
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
