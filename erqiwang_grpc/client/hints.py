"""The hints that a seat has asked for and not got yet, and the callers that wait for them."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import TypeAlias, final
from uuid import uuid4

from erqiwang_grpc.client.commands import Ended
from erqiwang_grpc.v1 import seat_service_pb2 as pb

HintAnswer: TypeAlias = pb.Hint | pb.Refused | Ended
"""A hint, why there is none, or how the stream ended before it came."""


@final
class Hints:
    """Keeps each request for a hint until its answer comes. After a lost stream the hint is asked for again."""

    def __init__(self, send: Callable[[str], None]) -> None:
        """`send` sends a request for a hint that has this id."""
        self._send = send
        self._waiting: dict[str, asyncio.Future[HintAnswer]] = {}

    def __contains__(self, request_id: str) -> bool:
        return request_id in self._waiting

    async def ask(self) -> HintAnswer:
        """Ask for a hint, and wait for the answer."""
        request_id = uuid4().hex
        waiting: asyncio.Future[HintAnswer] = asyncio.get_running_loop().create_future()
        self._waiting[request_id] = waiting
        self._send(request_id)
        try:
            return await waiting
        finally:
            self._waiting.pop(request_id, None)

    def send_again(self) -> None:
        """Ask again for each hint that has not come: its answer may be lost with the old stream."""
        for request_id in tuple(self._waiting):
            self._send(request_id)

    def hear(self, message: pb.SeatMessage) -> None:
        """If the message is an answer, give it to the caller that waits for it."""
        if message.HasField("hint"):
            self._answer(message.hint.command_id, message.hint)
        elif message.HasField("refused"):
            self._answer(message.refused.command_id, message.refused)

    def end(self, ended: Ended) -> None:
        """No more hints come: tell that to all who wait."""
        for request_id in tuple(self._waiting):
            self._answer(request_id, ended)

    def _answer(self, request_id: str, answer: HintAnswer) -> None:
        waiting = self._waiting.pop(request_id, None)
        if waiting is not None and not waiting.done():
            waiting.set_result(answer)
