"""The outbox of a gateway's stream: what waits for all its seats. Its bytes are bounded, and it is drained in turns.

A seat whose next message has no room falls behind: what waited for it is dropped, and when its turn comes it gets one
snapshot. So a gateway that does not read costs bounded memory and delays nobody.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable, Iterable
from itertools import accumulate
from typing import Final, final

from erqiwang_grpc.rooms.closing import Closing
from erqiwang_grpc.rpc.wire.encode import Packed
from erqiwang_grpc.rpc.wire.encode.packing import tag, varint
from erqiwang_grpc.v1 import gateway_service_pb2 as pb

_RESPONSE: Final = 64 * 1024
"""Bytes after which nothing is added to a response. A larger one gains little, and would delay what is put in meanwhile."""


@final
class SeatBox:
    """What waits for one seat."""

    __slots__ = ("afresh", "behind", "end", "ended", "handle", "in_turn", "last_version", "size", "waiting")

    def __init__(
        self, handle: int, afresh: Callable[[int | None], tuple[Packed, ...]], last_version: int | None
    ) -> None:
        """`afresh` makes the messages that take the place of others, from the last version that was written."""
        self.handle = pb.SeatMessages(handle=handle).SerializeToString()
        """The field `handle` of `SeatMessages`."""
        self.end = b""
        """The field `ended`; empty before the end."""
        self.afresh = afresh
        self.last_version = last_version
        self.waiting: list[Packed] = []
        self.size = 0
        """The bytes of what is waiting."""
        self.behind = False
        self.in_turn = False
        self.ended = False

    @property
    def takes_more(self) -> bool:
        """Whether there is a use in another message: none once the seat has ended, nor before a resync."""
        return not (self.behind or self.ended)


@final
class Outbox:
    """What waits for the one writer of a gateway's stream."""

    def __init__(self, most_bytes: int, most_messages: int) -> None:
        """Bounds of what waits: bytes of all seats together, and messages of each."""
        self._most_bytes = most_bytes
        self._most_messages = most_messages
        self._turns: deque[SeatBox] = deque()
        self._heartbeat = b""
        self._last = b""
        self._ready = asyncio.Event()
        self._read = asyncio.Event()
        self.waiting = 0
        """The bytes that wait for all seats."""
        self.closing: Closing | None = None
        self.resyncs = 0
        """How often a seat fell behind."""

    @property
    def crowded(self) -> bool:
        """Whether half of the room is taken."""
        return self.waiting >= self._most_bytes // 2

    async def relief(self) -> None:
        """Return once the outbox is no longer crowded, or the stream is closing."""
        while self.crowded and self.closing is None:
            self._read.clear()
            await self._read.wait()

    def put(self, box: SeatBox, message: Packed) -> None:
        """Add a message for a seat. Does nothing if the seat takes no more."""
        if box.behind or box.ended or self.closing is not None:
            return
        size = len(message.response)
        if len(box.waiting) >= self._most_messages or self.waiting + size > self._most_bytes:
            self._forget(box)
            box.behind = True
            self.resyncs += 1
        else:
            box.waiting.append(message)
            self._grow(box, size)
        self._queue(box)

    def finish(self, box: SeatBox, why: Closing, ended: pb.SeatEnded, last: Packed | None) -> None:
        """End a seat after the messages that wait for it, and after `last`. If called again, the first end stays."""
        if box.ended or self.closing is not None:
            return
        if box.behind:
            box.behind = False
            # Make them now. When the gateway reads at last, another player may have the seat, with other cards.
            made = () if why is Closing.UNSEATED else box.afresh(box.last_version)
            if not box.takes_more:
                return  # making them has failed, which has ended the seat
            if self.waiting + _size(made) <= self._most_bytes:
                self._add(box, made)
        box.ended = True
        self._add(box, () if last is None else (last,))
        box.end = pb.SeatMessages(ended=ended).SerializeToString()
        self._grow(box, len(box.end))
        self._queue(box)

    def beat(self, heartbeat: bytes) -> None:
        """Send this response if nothing else is sent before it."""
        self._heartbeat = heartbeat
        self._ready.set()

    def close(self, why: Closing, last: bytes = b"") -> None:
        """End the stream after what waits, and after the response `last`. If called again, the first reason stays."""
        if self.closing is None:
            self.closing = why
            self._last = last
            self._ready.set()
            self._read.set()

    def abandon(self) -> None:
        """The stream is gone: forget all that waits."""
        self.close(Closing.DETACHED)
        self._last = b""
        self._turns.clear()
        self.waiting = 0

    async def take(self) -> bytes:
        """Wait for something, then give what waits as one response, as far as it goes. Empty once the stream has ended."""
        while not (self._turns or self._heartbeat or self.closing is not None):
            self._ready.clear()
            await self._ready.wait()
        heartbeat, self._heartbeat = self._heartbeat, b""
        if not self._turns:
            if heartbeat:
                return heartbeat
            last, self._last = self._last, b""
            return last
        parts: list[bytes] = []
        left = _RESPONSE
        while self._turns and left > 0:
            box = self._turns.popleft()
            body = self._taken(box, left)
            # Only now: what is taken afresh may fail, which ends the seat, and its end is taken with it.
            box.in_turn = False
            if box.size:
                self._queue(box)
            parts += (_SEATS, varint(len(body)), body)
            left -= len(body)
        if not self.crowded:
            self._read.set()
        return b"".join(parts)

    def _taken(self, box: SeatBox, left: int) -> bytes:
        """What waits for a seat, as `SeatMessages`. If it is more than is `left`, the rest waits for another turn."""
        if box.behind:
            box.behind = False
            self._add(box, box.afresh(box.last_version))
        taken = box.waiting
        if box.size <= left:
            box.waiting = []
            end = box.end
            self._grow(box, -box.size)
        else:
            sums = accumulate(len(message.response) for message in taken)
            fit = next((number for number, total in enumerate(sums, 1) if total >= left), len(taken))
            taken, box.waiting = taken[:fit], taken[fit:]
            end = b""
            self._grow(box, -_size(taken))
        for message in reversed(taken):
            if message.version:
                box.last_version = message.version
                break
        return b"".join([*[message.response for message in taken], box.handle, end])

    def _add(self, box: SeatBox, messages: tuple[Packed, ...]) -> None:
        box.waiting.extend(messages)
        self._grow(box, _size(messages))

    def _grow(self, box: SeatBox, size: int) -> None:
        box.size += size
        self.waiting += size

    def _forget(self, box: SeatBox) -> None:
        self.waiting -= box.size
        box.size = 0
        box.waiting.clear()

    def _queue(self, box: SeatBox) -> None:
        if not box.in_turn:
            box.in_turn = True
            self._turns.append(box)
            self._ready.set()


def _size(messages: Iterable[Packed]) -> int:
    return sum(len(message.response) for message in messages)


_SEATS: Final = tag(pb.ConnectResponse.SEATS_FIELD_NUMBER)
