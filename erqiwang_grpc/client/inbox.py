"""The inbox of a gateway's client: what its seats were told, until somebody reads it. It is bounded."""

import asyncio
from collections.abc import Callable
from typing import Final, final

from erqiwang_grpc.v1 import seat_service_pb2 as pb

_AGAIN_SECONDS: Final = 1.0
"""Seconds until a snapshot that was refused is asked for again."""


@final
class Inbox:
    """Messages with the numbers of their seats, in the order in which they came.

    A seat whose next message has no room falls behind: nothing more is kept for it. When the reader has taken all that was
    kept, a snapshot is asked for, with which the seat goes on.
    """

    def __init__(self, most: int, resync: Callable[[int, int | None], None]) -> None:
        """Keeps `most` messages, none if it is 0. `resync` asks for a snapshot of a seat, from the last version that was kept."""
        self._most = most
        self._resync = resync
        self._kept: asyncio.Queue[tuple[int, pb.SeatMessage] | None] = asyncio.Queue()
        self._behind: dict[int, int | None] = {}
        """The seats that are behind, with the last version that was kept."""
        self._asked: dict[int, int | None] = {}
        """Those that have asked for a snapshot and not received it yet."""

    def put(self, number: int, message: pb.SeatMessage, version: int | None) -> None:
        """Keep a message. `version` is the seat's before it; None if it had none."""
        if self._most == 0 or number in self._behind:
            return
        asked, since = number in self._asked, self._asked.get(number, version)
        if asked and not message.HasField("snapshot"):
            if message.HasField("refused") and not message.refused.command_id:
                self._behind[number] = self._asked.pop(number)
            return
        self._asked.pop(number, None)
        if self._kept.qsize() >= self._most:
            self._behind[number] = since
        else:
            self._kept.put_nowait((number, message))

    def forget(self, number: int) -> None:
        """The seat has ended. What was kept is still given."""
        self._behind.pop(number, None)
        self._asked.pop(number, None)

    def end(self) -> None:
        """Nothing more comes."""
        self._kept.put_nowait(None)

    async def take(self) -> tuple[int, pb.SeatMessage] | None:
        """The next message; None after the last one."""
        while True:
            if self._kept.empty():
                self._catch_up()
            try:
                async with asyncio.timeout(_AGAIN_SECONDS if self._asked else None):
                    return await self._kept.get()
            except TimeoutError:
                continue

    def _catch_up(self) -> None:
        behind, self._behind = self._behind, {}
        self._asked |= behind
        for number, since in behind.items():
            self._resync(number, since)
