"""The outbox of a socket: what was encoded for it and not written yet. It is bounded."""

import asyncio
from typing import final

from erqiwang_grpc.edge.closes import Close


@final
class Outbox:
    """Chunks of bytes that wait for the one writer of a socket.

    When a chunk has no room, all that waits is dropped. The writer is told so once it has written what it took before: it takes
    an empty list.
    """

    def __init__(self, most_messages: int, most_bytes: int) -> None:
        self._most_messages = most_messages
        self._most_bytes = most_bytes
        self._chunks: list[bytes] = []
        self._messages = 0
        self._bytes = 0
        self._is_cut = False
        """Whether chunks were dropped, and the writer was not told so."""
        self._ready = asyncio.Event()
        self._room = asyncio.Event()
        self._room.set()
        self.closing: Close | None = None
        """How the socket is to be closed once all that waits is written; None while it is not."""

    def put(self, chunk: bytes, messages: int = 1) -> bool:
        """Add a chunk that holds so many messages; gives whether it had room. If not, all that waited is dropped too."""
        if self.closing is not None:
            return True
        if self._messages and (
            self._messages + messages > self._most_messages or self._bytes + len(chunk) > self._most_bytes
        ):
            self._clear()
            self._is_cut = True
            self._ready.set()
            return False
        self._chunks.append(chunk)
        self._messages += messages
        self._bytes += len(chunk)
        self._ready.set()
        if self._messages > self._most_messages // 4:
            self._room.clear()
        return True

    def close(self, why: Close) -> None:
        """Close the socket after what waits. If called again, the first reason stays."""
        if self.closing is None:
            self.closing = why
            self._ready.set()
            self._room.set()

    async def take(self) -> list[bytes]:
        """Wait for chunks, and give all that wait. It is empty after chunks were dropped, and once the socket is closing."""
        if not self._chunks and self.closing is None and not self._is_cut:
            self._ready.clear()
            await self._ready.wait()
        chunks = self._chunks
        self._is_cut = self._is_cut and bool(chunks)
        self._clear()
        return chunks

    @property
    def is_crowded(self) -> bool:
        """Whether a quarter of the bound waits."""
        return not self._room.is_set()

    async def room(self) -> None:
        """Wait until less than a quarter of the bound waits: until then nothing more is read from the socket."""
        await self._room.wait()

    def _clear(self) -> None:
        self._chunks = []
        self._messages = self._bytes = 0
        self._room.set()
