"""The script: the responses of one match, turn by turn, recorded from a real server for the relay to send."""

from __future__ import annotations

import json
from base64 import b64decode, b64encode
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import final

import grpc

from erqiwang_grpc.client.calls import bearer
from erqiwang_grpc.tools.bench.scripted_seat import attach, reply, request
from erqiwang_grpc.v1 import seat_service_pb2 as pb, seat_service_pb2_grpc as rpc


@final
@dataclass(frozen=True, slots=True)
class Script:
    """The responses of one match: those to each attaching seat, and those to each seat in each turn."""

    attached: tuple[bytes, ...]
    """A serialized `PlayResponse` for each seat, seat 0 first."""
    turns: tuple[tuple[bytes, ...], ...]
    """For each turn in order, a serialized `PlayResponse` for each seat. A turn is one accepted command."""

    @property
    def bytes_per_turn(self) -> float:
        """The mean bytes of the responses of a turn, to all seats together."""
        return sum(len(response) for turn in self.turns for response in turn) / len(self.turns)

    def save(self, path: Path) -> None:
        """Write it to a file, for `load`. Raises `OSError`."""
        rounds = [[b64encode(response).decode() for response in turn] for turn in (self.attached, *self.turns)]
        path.write_text(json.dumps(rounds))


def load(path: Path) -> Script:
    """The script in a file that `Script.save` has written. Raises `OSError`."""
    rounds: list[list[str]] = json.loads(path.read_text())
    attached, *turns = (tuple(b64decode(response) for response in each) for each in rounds)
    return Script(attached, tuple(turns))


@final
class _Stream:
    """One seat's stream while a match is recorded."""

    def __init__(self, stub: rpc.SeatServiceStub, token: str) -> None:
        self._call = stub.Play(metadata=bearer(token))
        self.command: pb.Command | None = None
        """The command that the seat has to send; None while it has to wait."""

    async def attach(self) -> bytes:
        """Attach; gives the responses up to the snapshot, as one."""
        await self._call.write(attach())
        return await self._until(lambda message: message.HasField("snapshot"))

    async def act(self, number: int) -> tuple[int, bytes]:
        """Send the command. Gives the version of its last event, and the responses up to its answer, as one."""
        assert self.command is not None, "the seat has a command to send"
        await self._call.write(request(number, self.command))
        self.command = None
        response = await self._until(lambda message: message.HasField("accepted"))
        return pb.PlayResponse.FromString(response).messages[-1].accepted.last_version, response

    async def hear(self, version: int) -> bytes:
        """The responses up to the notice with this version, as one."""
        return await self._until(lambda message: message.notice.version >= version)

    async def _until(self, last: Callable[[pb.SeatMessage], bool]) -> bytes:
        """One serialized response with all messages up to the first for which `last` is true."""
        messages: list[pb.SeatMessage] = []
        while not messages or not last(messages[-1]):
            response = await self._call.read()
            assert isinstance(response, pb.PlayResponse), "the stream is open"
            # Presence belongs to no turn: it may come at any time.
            messages += [message for message in response.messages if not message.HasField("presence")]
        joined = pb.PlayResponse(messages=messages)
        self.command = reply(joined.messages).command or self.command
        return joined.SerializeToString()

    def cancel(self) -> None:
        self._call.cancel()


async def record(channel: grpc.aio.Channel, tokens: Sequence[str]) -> Script:
    """Play the match of a room to its end, one command at a time, and record it.

    `tokens` has the token of each seat, seat 0 first. Raises `grpc.RpcError` if a call fails, and
    `ValueError` if a command is refused.
    """
    stub = rpc.SeatServiceStub(channel)
    streams = [_Stream(stub, token) for token in tokens]
    try:
        attached = [await stream.attach() for stream in streams]
        turns: list[tuple[bytes, ...]] = []
        while acting := next((stream for stream in streams if stream.command is not None), None):
            version, own = await acting.act(len(turns))
            turns.append(tuple([own if stream is acting else await stream.hear(version) for stream in streams]))
        return Script(tuple(attached), tuple(turns))
    finally:
        for stream in streams:
            stream.cancel()
