"""What the tests of spectators share: tokens, streams whose messages are read one by one, and clocks moved by hand."""

import asyncio
from collections.abc import Sequence
from typing import Final, final

import grpc
from google.protobuf.duration_pb2 import Duration

from erqiwang_grpc.client import CallRefused, fold
from erqiwang_grpc.client.calls import bearer
from erqiwang_grpc.v1 import room_service_pb2 as room_pb, seat_service_pb2 as pb, view_pb2
from tests.service.tables import PATIENCE, Served, refused

SECOND: Final = 1_000_000_000
SETTLED: Final = "settled"


def duration(seconds: float) -> Duration:
    told = Duration()
    told.FromMilliseconds(round(1000 * seconds))
    return told


def asked(room_id: str, late: float | str, lifetime: float | None = None) -> room_pb.CreateWatchTokenRequest:
    request = room_pb.CreateWatchTokenRequest(room_id=room_id)
    if isinstance(late, str):
        request.settled_deals = True
    else:
        request.delay.CopyFrom(duration(late))
    if lifetime is not None:
        request.lifetime.CopyFrom(duration(lifetime))
    return request


async def watch_token(service: Served, room_id: str, late: float | str = 0.0, lifetime: float | None = None) -> str:
    """A token for spectators that are told so many seconds late, or up to the last settled deal."""
    request = asked(room_id, late, lifetime)
    response: room_pb.CreateWatchTokenResponse
    response = await service.rooms.CreateWatchToken(request, metadata=bearer(service.key))
    return response.watch_token


@final
class Watch:
    """A stream of `Watch`, of a seat or a spectator. Its messages are read one by one."""

    def __init__(self, service: Served, token: str, last_version: int | None = None) -> None:
        self.call: grpc.aio.UnaryStreamCall[pb.WatchRequest, pb.PlayResponse]
        self.call = service.seats.Watch(pb.WatchRequest(last_version=last_version), metadata=bearer(token))
        self.refused: CallRefused | None = None
        """The error that the stream ended with; None if it has not ended, or ended with OK."""
        self.view = view_pb2.View()
        self.version = 0
        self._waiting: list[pb.SeatMessage] = []

    async def next(self) -> pb.SeatMessage | None:
        """The next message, which is folded into the view; None once the stream has ended."""
        while not self._waiting:
            received = await self._receive()
            if received is None:
                return None
            self._waiting.extend(received)
        message = self._waiting.pop(0)
        if message.HasField("snapshot"):
            self.version = message.snapshot.version
            self.view.CopyFrom(message.snapshot.view)
        elif message.HasField("notice"):
            assert message.notice.version == self.version + 1, "no version is left out"
            self.version = message.notice.version
            fold.put(self.view, message.notice.changed)
        return message

    async def _receive(self) -> Sequence[pb.SeatMessage] | None:
        try:
            response = await asyncio.wait_for(self.call.read(), PATIENCE)
        except grpc.aio.AioRpcError as error:
            self.refused = refused(error)
            return None
        return response.messages if isinstance(response, pb.PlayResponse) else None

    async def hear(self, kind: str) -> pb.SeatMessage:
        """The next message of that kind. Others before it are dropped."""
        async with asyncio.timeout(PATIENCE):
            while True:
                message = await self.next()
                assert message is not None, f"the stream ended before any {kind}: {self.refused}"
                if message.WhichOneof("message") == kind:
                    return message

    async def hear_of(self, version: int) -> None:
        """Read until that version was told."""
        while self.version < version:
            message = await self.next()
            assert message is not None, f"the stream ended before version {version}: {self.refused}"

    async def rest(self) -> list[pb.SeatMessage]:
        """All further messages, up to the end."""
        heard: list[pb.SeatMessage] = []
        while (message := await self.next()) is not None:
            heard.append(message)
        return heard


async def ended(watch: Watch) -> CallRefused:
    """The error that the stream ends with."""
    await watch.rest()
    assert watch.refused is not None, "it ended with OK"
    return watch.refused
