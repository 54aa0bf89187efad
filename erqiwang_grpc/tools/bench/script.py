"""The script: what one match says on its streams, turn by turn, as it was recorded from a real server."""

from __future__ import annotations

import json
from base64 import b64decode, b64encode
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import final

import grpc

from erqiwang_grpc.tools.bench.scripted_seat import Metadata, attach, reply, request
from erqiwang_grpc.v1 import seat_service_pb2 as pb, seat_service_pb2_grpc as rpc


@final
@dataclass(frozen=True, slots=True)
class Script:
    """One match: what every seat is told as it attaches, and then for each turn what every seat is told of it."""

    attached: tuple[bytes, ...]
    """A serialized `PlayResponse` for every seat, seat 0 first."""
    turns: tuple[tuple[bytes, ...], ...]

    @property
    def bytes_per_turn(self) -> float:
        """How many bytes of responses a turn takes, over all streams."""
        return sum(len(response) for turn in self.turns for response in turn) / len(self.turns)

    def save(self, path: Path) -> None:
        """Write it where the relay finds it."""
        rounds = [[b64encode(response).decode() for response in turn] for turn in (self.attached, *self.turns)]
        path.write_text(json.dumps(rounds))


def load(path: Path) -> Script:
    """Read what `Script.save` wrote."""
    rounds: list[list[str]] = json.loads(path.read_text())
    attached, *turns = (tuple(b64decode(response) for response in each) for each in rounds)
    return Script(attached, tuple(turns))


@final
class _Stream:
    """One seat's stream while a match is recorded."""

    def __init__(self, stub: rpc.SeatServiceStub, seat: Metadata) -> None:
        self._call = stub.Play(metadata=seat)
        self.command: pb.Command | None = None
        """What the seat has yet to say."""

    async def attach(self) -> bytes:
        await self._call.write(attach())
        return await self._until(lambda message: message.HasField("snapshot"))

    async def act(self, number: int) -> tuple[int, bytes]:
        """Say what there is to say; the version it brought, and what the seat was told of it."""
        assert self.command is not None, "the seat has something to say"
        await self._call.write(request(number, self.command))
        self.command = None
        told = await self._until(lambda message: message.HasField("accepted"))
        return pb.PlayResponse.FromString(told).messages[-1].accepted.last_version, told

    async def hear(self, version: int) -> bytes:
        """What the seat is told up to that version."""
        return await self._until(lambda message: message.notice.version >= version)

    async def _until(self, last: Callable[[pb.SeatMessage], bool]) -> bytes:
        """Everything up to the message for which `last` holds, as one response."""
        told: list[pb.SeatMessage] = []
        while not told or not last(told[-1]):
            response = await self._call.read()
            assert isinstance(response, pb.PlayResponse), "the stream is open"
            # Presence comes when it comes, and belongs to no turn.
            told += [message for message in response.messages if not message.HasField("presence")]
        whole = pb.PlayResponse(messages=told)
        self.command = reply(whole).command or self.command
        return whole.SerializeToString()

    def cancel(self) -> None:
        self._call.cancel()


async def record(channel: grpc.aio.Channel, seats: Sequence[Metadata]) -> Script:
    """Play one match of a real room from beginning to end, one command at a time, and record it."""
    stub = rpc.SeatServiceStub(channel)
    streams = [_Stream(stub, seat) for seat in seats]
    try:
        attached = [await stream.attach() for stream in streams]
        turns: list[tuple[bytes, ...]] = []
        while acting := next((stream for stream in streams if stream.command is not None), None):
            version, own = await acting.act(len(turns))
            told = [own if stream is acting else await stream.hear(version) for stream in streams]
            turns.append(tuple(told))
        return Script(tuple(attached), tuple(turns))
    finally:
        for stream in streams:
            stream.cancel()
