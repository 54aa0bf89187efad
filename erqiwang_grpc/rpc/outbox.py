"""The outbox of a stream: messages not written yet. It is bounded, so a client that does not read delays nobody."""

import asyncio
from collections.abc import Callable
from typing import final

from erqiwang_grpc.rooms.closing import Closing
from erqiwang_grpc.rpc.wire.encode import Packed


@final
class Outbox:
    """The messages that wait for the one writer of a stream.

    When the outbox is full it is emptied, and `afresh` makes the messages that take their place. `afresh` is called as
    late as possible, when the writer takes messages or the stream is closed, so that it tells all that happened until
    then. Its argument is the last version that the writer took, or before that the one that `Attach` named.
    """

    def __init__(
        self, limit: int, afresh: Callable[[int | None], tuple[Packed, ...]], last_version: int | None = None
    ) -> None:
        self._limit = limit
        self._afresh = afresh
        self._last_version = last_version
        self._waiting: list[Packed] = []
        self._behind = False
        self._ready = asyncio.Event()
        self.closing: Closing | None = None
        self.resyncs = 0
        """How often the outbox was full because the client was too slow."""

    @property
    def takes_more(self) -> bool:
        """Whether there is a use in another message: none once the stream is closing, nor before a resync."""
        return self.closing is None and not self._behind

    def put(self, message: Packed) -> None:
        """Add a message for the writer. Does nothing if no more is taken."""
        if not self.takes_more:
            return
        self._ready.set()
        if len(self._waiting) >= self._limit:
            self._waiting.clear()
            self._behind = True
            self.resyncs += 1
        else:
            self._waiting.append(message)

    def close(self, why: Closing, last: Packed | None = None) -> None:
        """End the stream after the messages that wait, and after `last`. If called again, the first reason stays."""
        if self.closing is not None:
            return
        if self._behind and why is not Closing.UNSEATED:
            # Make them now. When the client reads at last, another player may have the seat, with other cards.
            self._waiting = self._resynced()
        self._behind = False
        if last is not None:
            self._waiting.append(last)
        self.closing = why
        self._ready.set()

    async def take(self) -> bytes:
        """Wait for messages, then give all that wait, in order, as one response. It is empty once the stream has ended."""
        while not self._waiting and not self._behind and self.closing is None:
            self._ready.clear()
            await self._ready.wait()
        taken = self._resynced() if self._behind else self._waiting
        self._waiting = []
        for message in reversed(taken):
            if message.version:
                self._last_version = message.version
                break
        return b"".join([message.response for message in taken])

    def _resynced(self) -> list[Packed]:
        self._behind = False
        return [*self._afresh(self._last_version)]
