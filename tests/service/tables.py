"""Tables: a server on a free port, the platform that opens rooms on it, and seats that play them."""

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from time import time_ns
from typing import Final, TypeAlias, final

import grpc
from erqiwang_core.bidding import Bid, Pass
from erqiwang_core.burying import Bury
from erqiwang_core.match import Command, Ready
from erqiwang_core.naming import NameTrump, Surrender
from erqiwang_core.players import Policy
from erqiwang_core.playing import Play

from erqiwang_grpc import shuffling
from erqiwang_grpc.auth.files import (
    FIRST_KEY,
    PLATFORM_KEYS,
    KeyFiles,
    Opened,
    add_platform_key,
    open_key_files,
)
from erqiwang_grpc.auth.keys import PlatformId
from erqiwang_grpc.client import CallRefused, Platform, SeatClient, fold, refusal_of
from erqiwang_grpc.client.calls import bearer
from erqiwang_grpc.client.servers import Options
from erqiwang_grpc.clocks import Monotonic, SystemMonotonic
from erqiwang_grpc.reasons import Reason
from erqiwang_grpc.rooms.limits import Limits
from erqiwang_grpc.rooms.registry import Rooms
from erqiwang_grpc.rooms.room import Room
from erqiwang_grpc.rpc.server import Server, Settings, Tls
from erqiwang_grpc.rpc.wire import decode as read
from erqiwang_grpc.shuffling import Shuffler
from erqiwang_grpc.store import Store, StoreId, TimeNs
from erqiwang_grpc.store.memory import MemoryStore
from erqiwang_grpc.v1 import (
    bidding_pb2,
    burying_pb2,
    card_pb2,
    naming_pb2,
    playing_pb2,
    room_pb2,
    room_service_pb2_grpc,
    seat_service_pb2 as pb,
    seat_service_pb2_grpc,
    settlement_pb2,
    view_pb2,
)

ROOMY: Final = Limits(commands_per_second=100_000, platform_calls_per_second=100_000)
"""For tests that play faster than people do."""
PLAYERS: Final = ("alice", "bob", "carol", "dora")
PATIENCE: Final = 20.0
"""Seconds that a condition may take to come true on a busy machine before a test fails."""
FOUR_PLAYERS: Final = room_pb2.RoomOptions(four_player=room_pb2.FourPlayerGame())

Chooser: TypeAlias = Callable[[view_pb2.View], pb.Command | None]
"""What a seat does in a view; None where it has nothing to do."""


@dataclass(frozen=True, slots=True)
class Served:
    """What it takes to speak to a server: a connection and a platform's key."""

    channel: grpc.aio.Channel
    address: str
    key: str
    credentials: grpc.ChannelCredentials | None = field(default=None, kw_only=True)
    options: Options = field(default=(), kw_only=True)

    @property
    def platform(self) -> Platform:
        return Platform([self.address], self.key, credentials=self.credentials, options=self.options)

    def client(self, token: str) -> SeatClient:
        """A client for a seat, not attached yet."""
        return SeatClient([self.address], token, credentials=self.credentials, options=self.options)

    @property
    def rooms(self) -> room_service_pb2_grpc.RoomServiceStub:
        return room_service_pb2_grpc.RoomServiceStub(self.channel)

    @property
    def seats(self) -> seat_service_pb2_grpc.SeatServiceStub:
        return seat_service_pb2_grpc.SeatServiceStub(self.channel)


@final
@dataclass(frozen=True, slots=True)
class Service(Served):
    """A server that runs in this process, and can be looked at from inside."""

    server: Server
    store: Store
    keys: KeyFiles
    folder: Path

    @property
    def kept(self) -> Rooms:
        """The rooms of the server, looked at from inside."""
        return self.server.rooms

    @property
    def store_id(self) -> StoreId:
        """Which store it serves."""
        return self.store.identity

    def room(self, room_id: str) -> Room:
        """A room that is in memory, looked at from inside."""
        return next(room for room in self.kept.live if room.id == room_id)

    def tenant(self, name: str) -> str:
        """The key of another platform."""
        key = add_platform_key(self.folder / PLATFORM_KEYS, PlatformId(name))
        assert isinstance(key, str), key
        assert self.keys.reload() is None
        return key


@asynccontextmanager
async def served(
    folder: Path,
    *,
    limits: Limits = ROOMY,
    shuffle: Shuffler = shuffling.shuffle,
    store: Store | None = None,
    now: Callable[[], int] = time_ns,
    monotonic: Monotonic | None = None,
    tls: Tls | None = None,
    metrics_port: int | None = None,
) -> AsyncIterator[Service]:
    """A server in this process, on a free port."""
    opened = open_key_files(folder, None, None)
    assert isinstance(opened, Opened), opened
    kept = MemoryStore() if store is None else store
    server = Server(
        Settings(
            kept,
            opened.files,
            limits=limits,
            shuffle=shuffle,
            now=lambda: TimeNs(now()),
            monotonic=SystemMonotonic() if monotonic is None else monotonic,
            tls=tls,
            host="127.0.0.1",
            metrics_port=metrics_port,
        )
    )
    await server.start()
    try:
        address = f"127.0.0.1:{server.port}"
        async with grpc.aio.insecure_channel(address) as channel:
            key = (folder / FIRST_KEY).read_text().strip()
            yield Service(channel, address, key, server, kept, opened.files, folder)
    finally:
        await server.stop(grace=0.2)


@final
@dataclass(frozen=True, slots=True)
class Table:
    """A room whose seats are all taken, with each seat's token."""

    room_id: str
    tokens: tuple[str, ...]

    def metadata(self, seat: int) -> tuple[tuple[str, str], ...]:
        return bearer(self.tokens[seat])


async def seated(
    platform: Platform,
    options: room_pb2.RoomOptions | None = None,
    *,
    roomtype: str | None = None,
    players: Sequence[str] = PLAYERS,
    command_id: str | None = None,
) -> Table:
    """A room with every seat taken, so that its first deal is dealt."""
    room = (await platform.create_room(players[0], options, roomtype=roomtype, command_id=command_id)).room
    taken = [await platform.take_seat(room.room_id, player) for player in players[: len(room.seats)]]
    return Table(room.room_id, tuple(seat.token for seat in taken))


@asynccontextmanager
async def attached(service: Served, table: Table) -> AsyncIterator[list[SeatClient]]:
    """A client on every seat."""
    async with AsyncExitStack() as stack:
        yield [await stack.enter_async_context(service.client(token)) for token in table.tokens]


def suggested(view: view_pb2.View) -> pb.Command | None:
    """The whole legal action that the view's advice holds; None where the seat is to wait."""
    advice = view.parts.advice
    match advice.WhichOneof("choice"):
        case "call":
            if advice.call.HasField("pass_bid"):
                return pb.Command(pass_bid=advice.call.pass_bid)
            return pb.Command(bid=advice.call.bid)
        case "name":
            return pb.Command(name_trump=advice.name.suggestion)
        case "bury":
            return pb.Command(bury=advice.bury.suggestion)
        case "lead":
            return pb.Command(play_cards=advice.lead.suggestion)
        case "follow":
            return pb.Command(play_cards=advice.follow.suggestion)
        case "ready":
            return pb.Command(ready=advice.ready.suggestion)
        case None:
            return None


def is_over(view: view_pb2.View) -> bool:
    return view.parts.progress.phase == view_pb2.PHASE_OVER


def policy(player: Policy, random: Random) -> Chooser:
    """A player of the core, who knows the wire's view and nothing else."""

    def choose(view: view_pb2.View) -> pb.Command | None:
        command = player.act(read.view(view), random)
        return None if command is None else spoken(command)

    return choose


def spoken(command: Command) -> pb.Command:
    """A command of the core as a seat says it on the wire."""
    match command:
        case Bid(points):
            return pb.Command(bid=bidding_pb2.Bid(points=points))
        case Pass():
            return pb.Command(pass_bid=bidding_pb2.PassBid())
        case NameTrump(trump):
            return pb.Command(name_trump=naming_pb2.NameTrump(trump=card_pb2.Trump.ValueType(trump)))
        case Surrender():
            return pb.Command(surrender=naming_pb2.Surrender())
        case Bury(cards):
            return pb.Command(bury=burying_pb2.Bury(cards=cards))
        case Play(cards):
            return pb.Command(play_cards=playing_pb2.PlayCards(cards=cards))
        case Ready():
            return pb.Command(ready=settlement_pb2.Ready())


async def play(
    seat: SeatClient,
    choose: Chooser = suggested,
    *,
    until: Callable[[view_pb2.View], bool] = is_over,
    before: Callable[[], None] = lambda: None,
) -> None:
    """Play a seat until its view is as wanted, calling `before` ahead of every command."""
    turns = _Turns(seat, choose, until)
    while True:
        await seat.until(turns.is_next)
        assert seat.ended is None, seat.ended
        if until(seat.view):
            return
        before()
        answer = await seat.act(turns.take())
        assert isinstance(answer, pb.Accepted), answer


@final
class _Turns:
    """What a seat has to do, each thing once."""

    def __init__(self, seat: SeatClient, choose: Chooser, until: Callable[[view_pb2.View], bool]) -> None:
        self._seat = seat
        self._choose = choose
        self._until = until
        self._acted = 0
        self._command: pb.Command | None = None

    def is_next(self) -> bool:
        """Whether there is something to do, or nothing more."""
        if self._until(self._seat.view):
            return True
        self._command = self._choose(self._seat.view) if self._seat.version > self._acted else None
        return self._command is not None

    def take(self) -> pb.Command:
        assert self._command is not None, "asked only where there is something to do"
        self._acted = self._seat.version
        return self._command


async def play_all(seats: Sequence[SeatClient], *, until: Callable[[view_pb2.View], bool] = is_over) -> None:
    """Play every seat on its advice."""
    await asyncio.gather(*(play(seat, until=until) for seat in seats))


def in_phase(phase: view_pb2.Phase.ValueType, deal: int = 1) -> Callable[[view_pb2.View], bool]:
    """Whether a deal has come to a phase, or past it."""
    return lambda view: (view.parts.progress.deal, view.parts.progress.phase) >= (deal, phase)


def refused(error: grpc.aio.AioRpcError) -> CallRefused:
    """How a call has ended; no server of any test gives a reason that the table does not have."""
    ended = refusal_of(error)
    assert not ended.reason or ended.reason in Reason.__members__, ended
    return ended


@final
class RawSeat:
    """A seat's stream, message by message, without a client that would look after it."""

    def __init__(self, service: Served, token: str) -> None:
        self.call: grpc.aio.StreamStreamCall[pb.PlayRequest, pb.PlayResponse]
        self.call = service.seats.Play(metadata=bearer(token))
        self.refused: CallRefused | None = None
        """What the stream ended with, where it did not end well."""
        self.server_time = 0
        """When the last snapshot was made; kept apart from it, so that two can be compared."""
        self._waiting: list[pb.SeatMessage] = []

    async def attach(self, last_version: int | None = None) -> pb.Snapshot:
        """Say `Attach`; gives the snapshot that answers it."""
        await self.say(pb.PlayRequest(attach=pb.Attach(last_version=last_version)))
        return (await self.hear("snapshot")).snapshot

    async def say(self, request: pb.PlayRequest) -> None:
        await self.call.write(request)

    async def next(self) -> pb.SeatMessage | None:
        """The next message; None once the stream has ended."""
        while not self._waiting:
            try:
                response = await asyncio.wait_for(self.call.read(), PATIENCE)
            except grpc.aio.AioRpcError as error:
                self.refused = refused(error)
                return None
            if not isinstance(response, pb.PlayResponse):
                return None
            self._waiting.extend(response.messages)
        message = self._waiting.pop(0)
        if message.HasField("snapshot"):
            self.server_time = message.snapshot.server_time.ToNanoseconds()
            message.snapshot.ClearField("server_time")
        return message

    async def hear(self, kind: str) -> pb.SeatMessage:
        """The next message of that kind, passing over others."""
        async with asyncio.timeout(PATIENCE):
            while True:
                message = await self.next()
                assert message is not None, f"the stream ended before any {kind}: {self.refused}"
                if message.WhichOneof("message") == kind:
                    return message

    async def rest(self) -> list[pb.SeatMessage]:
        """Everything up to the end of the stream."""
        heard: list[pb.SeatMessage] = []
        while (message := await self.next()) is not None:
            heard.append(message)
        return heard


@final
class Witness:
    """A seat's stream that never leaves: its view is what folding every notice comes to."""

    def __init__(self, service: Served, token: str) -> None:
        self.stream = RawSeat(service, token)
        self.view = view_pb2.View()
        self.version = 0
        self.notices: list[pb.Notice] = []

    async def attach(self) -> None:
        snapshot = await self.stream.attach()
        self.view, self.version = snapshot.view, snapshot.version

    async def hear_of(self, version: int) -> None:
        """Listen until that version has been told; no version is passed over and none is told twice."""
        while self.version < version:
            notice = (await self.stream.hear("notice")).notice
            assert notice.version == self.version + 1
            self.version = notice.version
            self.notices.append(notice)
            fold.put(self.view, notice.changed)


async def witnesses(service: Served, table: Table) -> list[Witness]:
    """A witness on every seat."""
    found = [Witness(service, token) for token in table.tokens]
    for witness in found:
        await witness.attach()
    return found


async def act(service: Served, table: Table, seat: int, command: pb.Command, command_id: str = "") -> pb.ActResponse:
    """One command without a stream."""
    request = pb.ActRequest(command=command, command_id=command_id)
    response: pb.ActResponse = await service.seats.Act(request, metadata=table.metadata(seat))
    return response


async def seen(service: Served, table: Table, seat: int, last_version: int | None = None) -> pb.Snapshot:
    """The view of a seat now, without the time of asking, so that two can be compared."""
    request = pb.GetViewRequest(last_version=last_version)
    response: pb.GetViewResponse = await service.seats.GetView(request, metadata=table.metadata(seat))
    response.snapshot.ClearField("server_time")
    return response.snapshot


async def acting(service: Served, table: Table, choose: Chooser = suggested) -> tuple[int, pb.Command] | None:
    """A seat that has something to do and what it chooses to do; None where nobody has."""
    for seat in range(len(table.tokens)):
        command = choose((await seen(service, table, seat)).view)
        if command is not None:
            return seat, command
    return None


async def step(service: Served, table: Table, choose: Chooser = suggested) -> pb.Accepted:
    """Whoever is to act does, without a stream."""
    turn = await acting(service, table, choose)
    assert turn is not None, "the match is over"
    return (await act(service, table, *turn)).accepted


async def eventually(condition: Callable[[], bool], seconds: float = PATIENCE) -> None:
    """Wait until the condition holds; fails where it does not in time."""
    async with asyncio.timeout(seconds):
        while not condition():  # noqa: ASYNC110  # what is waited for is anything, and rings no bell
            await asyncio.sleep(0.01)
