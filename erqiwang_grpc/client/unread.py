"""Unread messages: what a seat or a spectator was told, until somebody reads it. It is bounded."""

import asyncio
from collections import deque
from collections.abc import AsyncIterator
from typing import Final, final

from erqiwang_grpc.v1 import seat_service_pb2 as pb

KEPT: Final = 1_000
"""Most messages that wait for a reader, about those of a match. A program that only looks at the view never reads any."""


@final
class Unread:
    """Messages in the order in which they came. Beyond `KEPT` of them the oldest are dropped."""

    def __init__(self) -> None:
        self._kept: deque[pb.SeatMessage] = deque(maxlen=KEPT)
        self._came = asyncio.Event()
        self._has_ended = False

    def put(self, message: pb.SeatMessage) -> None:
        """Keep a message."""
        self._kept.append(message)
        self._came.set()

    def end(self) -> None:
        """Nothing more comes."""
        self._has_ended = True
        self._came.set()

    async def messages(self) -> AsyncIterator[pb.SeatMessage]:
        """What is kept, then what comes, until the end. Each message is given once."""
        while True:
            while self._kept:
                yield self._kept.popleft()
            if self._has_ended:
                return
            self._came.clear()
            await self._came.wait()
