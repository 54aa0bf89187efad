"""Tables for these tests: the harness of `erqiwang_grpc.testing`, raw streams, and calls without a stream."""

import asyncio
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from typing import Final, final

import grpc

from erqiwang_grpc.client import CallRefused, fold, refusal_of, suggested
from erqiwang_grpc.client.calls import bearer
from erqiwang_grpc.reasons import Reason
from erqiwang_grpc.testing import (
    PLAYERS,
    ROOMY,
    Chooser,
    Served,
    Service,
    Table,
    attached,
    in_phase,
    is_over,
    play,
    play_all,
    policy,
    seated,
    served,
)
from erqiwang_grpc.testing.table import PATIENCE
from erqiwang_grpc.v1 import room_pb2, seat_service_pb2 as pb, view_pb2

__all__ = [
    "PATIENCE",
    "PLAYERS",
    "ROOMY",
    "Chooser",
    "Served",
    "Service",
    "Table",
    "attached",
    "in_phase",
    "is_over",
    "play",
    "play_all",
    "policy",
    "seated",
    "served",
    "suggested",
]

FOUR_PLAYERS: Final = room_pb2.RoomOptions(four_player=room_pb2.FourPlayerGame())


def refused(error: grpc.aio.AioRpcError) -> CallRefused:
    """How a call ended. Fails the test if the reason is not in the table of reasons."""
    ended = refusal_of(error)
    assert not ended.reason or ended.reason in Reason.__members__, ended
    return ended


class SeatEar(ABC):
    """A seat's messages, one by one, without a client that would reconnect or fold. What carries them says a subclass."""

    def __init__(self) -> None:
        self.refused: CallRefused | None = None
        """The error that the seat ended with; None if it has not ended, or ended without one."""
        self.server_time = 0
        """The time of the last snapshot, in nanoseconds. It is taken out of the snapshot, so that two can be equal."""
        self._waiting: list[pb.SeatMessage] = []

    @abstractmethod
    async def say(self, request: pb.PlayRequest) -> None:
        """Send a request of the seat."""

    @abstractmethod
    async def _receive(self) -> Sequence[pb.SeatMessage] | None:
        """The messages that came together; None once the seat has ended."""

    async def attach(self, last_version: int | None = None) -> pb.Snapshot:
        """Send `Attach`, and give the snapshot that answers it."""
        await self.say(pb.PlayRequest(attach=pb.Attach(last_version=last_version)))
        return (await self.hear("snapshot")).snapshot

    async def next(self) -> pb.SeatMessage | None:
        """The next message; None once the seat has ended."""
        while not self._waiting:
            received = await self._receive()
            if received is None:
                return None
            self._waiting.extend(received)
        message = self._waiting.pop(0)
        if message.HasField("snapshot"):
            self.server_time = message.snapshot.server_time.ToNanoseconds()
            message.snapshot.ClearField("server_time")
        return message

    async def hear(self, kind: str) -> pb.SeatMessage:
        """The next message of that kind. Others before it are dropped."""
        async with asyncio.timeout(PATIENCE):
            while True:
                message = await self.next()
                assert message is not None, f"the stream ended before any {kind}: {self.refused}"
                if message.WhichOneof("message") == kind:
                    return message

    async def rest(self) -> list[pb.SeatMessage]:
        """All further messages, up to the end."""
        heard: list[pb.SeatMessage] = []
        while (message := await self.next()) is not None:
            heard.append(message)
        return heard


@final
class RawSeat(SeatEar):
    """A seat's stream."""

    def __init__(self, service: Served, token: str) -> None:
        super().__init__()
        self.call: grpc.aio.StreamStreamCall[pb.PlayRequest, pb.PlayResponse]
        self.call = service.seats.Play(metadata=bearer(token))

    async def say(self, request: pb.PlayRequest) -> None:
        await self.call.write(request)

    async def _receive(self) -> Sequence[pb.SeatMessage] | None:
        try:
            response = await asyncio.wait_for(self.call.read(), PATIENCE)
        except grpc.aio.AioRpcError as error:
            self.refused = refused(error)
            return None
        return response.messages if isinstance(response, pb.PlayResponse) else None


@final
class Witness:
    """A seat's stream that stays attached. Its view is the first snapshot, with every notice folded into it."""

    def __init__(self, service: Served, token: str) -> None:
        self.stream = RawSeat(service, token)
        self.view = view_pb2.View()
        self.version = 0
        self.notices: list[pb.Notice] = []

    async def attach(self) -> None:
        snapshot = await self.stream.attach()
        self.view, self.version = snapshot.view, snapshot.version

    async def hear_of(self, version: int) -> None:
        """Listen until `version` was told. Fails the test if a version is left out or told twice."""
        while self.version < version:
            notice = (await self.stream.hear("notice")).notice
            assert notice.version == self.version + 1
            self.version = notice.version
            self.notices.append(notice)
            fold.put(self.view, notice.changed)


async def witnesses(service: Served, table: Table) -> list[Witness]:
    """An attached witness on every seat."""
    found = [Witness(service, token) for token in table.tokens]
    for witness in found:
        await witness.attach()
    return found


async def act(service: Served, table: Table, seat: int, command: pb.Command, command_id: str = "") -> pb.ActResponse:
    """Send one command without a stream, and give the answer."""
    request = pb.ActRequest(command=command, command_id=command_id)
    response: pb.ActResponse = await service.seats.Act(request, metadata=table.metadata(seat))
    return response


async def seen(service: Served, table: Table, seat: int, last_version: int | None = None) -> pb.Snapshot:
    """The view of a seat now. The server's time is taken out, so that two can be equal."""
    request = pb.GetViewRequest(last_version=last_version)
    response: pb.GetViewResponse = await service.seats.GetView(request, metadata=table.metadata(seat))
    response.snapshot.ClearField("server_time")
    return response.snapshot


async def acting(service: Served, table: Table, choose: Chooser = suggested) -> tuple[int, pb.Command] | None:
    """A seat that must act, and the command that `choose` gives; None if no seat must act."""
    for seat in range(len(table.tokens)):
        command = choose((await seen(service, table, seat)).view)
        if command is not None:
            return seat, command
    return None


async def step(service: Served, table: Table, choose: Chooser = suggested) -> pb.Accepted:
    """Let a seat that must act send its command, without a stream."""
    turn = await acting(service, table, choose)
    assert turn is not None, "the match is over"
    return (await act(service, table, *turn)).accepted


async def eventually(condition: Callable[[], bool], seconds: float = PATIENCE) -> None:
    """Wait until the condition holds. Raises `TimeoutError` after `seconds`."""
    async with asyncio.timeout(seconds):
        while not condition():  # noqa: ASYNC110  # a condition on any state, which no event announces
            await asyncio.sleep(0.01)
