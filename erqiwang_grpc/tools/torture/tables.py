"""Tables: a platform opens rooms and their seats play, however often the server is killed meanwhile."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from random import Random
from time import monotonic
from typing import Final, TypeVar, final
from uuid import uuid4

import grpc
from erqiwang_core.options import Deck, FourPlayer, RoomOptions, ThreePlayer
from erqiwang_core.players import Policy, RandomLegal

from erqiwang_grpc.client import Platform, SeatClient, Seated
from erqiwang_grpc.client.calls import CallRefused
from erqiwang_grpc.client.commands import Answer, Ended
from erqiwang_grpc.client.servers import Options
from erqiwang_grpc.rooms.fingerprint import command_key
from erqiwang_grpc.rooms.refusals import NoCommand
from erqiwang_grpc.rpc.wire import decode as read, encode, requests
from erqiwang_grpc.rpc.wire.encode.commands import command
from erqiwang_grpc.store import RoomId
from erqiwang_grpc.tools.torture.transcript import CommandAnswer, RoomTranscript, SeatTranscript
from erqiwang_grpc.v1 import seat_service_pb2 as pb, view_pb2

T = TypeVar("T")

PLAYERS: Final = ("alice", "bob", "carol", "dave")
GAMES: Final = (
    RoomOptions(ThreePlayer()),
    RoomOptions(ThreePlayer(joker_bonus=True, climb=True), review=False),
    RoomOptions(FourPlayer(Deck.FULL)),
)
_POLICY: Final[Policy] = RandomLegal()
RECONNECTING: Final[Options] = (  # by default a client waits up to two minutes, longer than a server lives here
    ("grpc.initial_reconnect_backoff_ms", 100),
    ("grpc.min_reconnect_backoff_ms", 100),
    ("grpc.max_reconnect_backoff_ms", 500),
)
_RETRY_SECONDS: Final = 0.2
_PATIENCE: Final = 300.0
"""Seconds for an attach: the server may be killed several times before it answers one."""
_UNANSWERED: Final = (
    grpc.StatusCode.UNAVAILABLE,
    grpc.StatusCode.CANCELLED,
    grpc.StatusCode.DEADLINE_EXCEEDED,
)
"""Statuses after which the platform does not know whether its command was carried out."""
_OF_THE_STORE: Final = ("store_unavailable", "outcome_unknown")
"""Refusals after which a seat sends its command again."""
_DROPPED: Final = 0.005
"""The share of turns at which a client loses its connection though the server runs."""


@final
class Pulse:
    """Knows for how long nothing was accepted, at worst."""

    def __init__(self) -> None:
        self._last = monotonic()
        self.longest_pause = 0.0
        """Seconds."""

    def beat(self) -> None:
        """A command was accepted just now."""
        now = monotonic()
        self.longest_pause = max(self.longest_pause, now - self._last)
        self._last = now


@final
@dataclass(frozen=True, slots=True)
class Load:
    """The servers to play on, and when to stop."""

    addresses: tuple[str, ...]
    """Those of all servers. Each client begins with one of them by chance."""
    options: Options
    """Channel options, which set how fast a lost connection comes back."""
    key: str
    """The platform's key."""
    stopping: asyncio.Event
    """Set when no more commands may be sent."""
    rooms: list[RoomTranscript]
    """Every room that was opened, with what its clients were told."""
    pulse: Pulse = field(default_factory=Pulse)
    """Beats with every accepted command."""


async def keep_playing(load: Load, luck: Random) -> None:
    """Open and play one table after another, until `load.stopping` is set."""
    while not load.stopping.is_set():
        await _play_table(load, luck.choice(GAMES), luck)


async def _play_table(load: Load, options: RoomOptions, luck: Random) -> None:
    transcript, seats = await _open(load, options, luck)
    load.rooms.append(transcript)
    async with AsyncExitStack() as stack:
        clients = [
            await stack.enter_async_context(
                SeatClient(
                    _in_any_order(load, luck),
                    seat.token,
                    last_version=seat.last_version,
                    options=load.options,
                    attach_seconds=_PATIENCE,
                )
            )
            for seat in seats
        ]
        listening = [
            asyncio.create_task(_listen(client, seat)) for client, seat in zip(clients, transcript.seats, strict=True)
        ]
        await asyncio.gather(*(_play(load, transcript, seat, client, luck) for seat, client in enumerate(clients)))
    await asyncio.gather(*listening)


def _in_any_order(load: Load, luck: Random) -> list[str]:
    return luck.sample(load.addresses, len(load.addresses))


async def _open(load: Load, options: RoomOptions, luck: Random) -> tuple[RoomTranscript, list[Seated]]:
    """Open a room and take every seat."""
    created = uuid4().hex
    async with Platform(_in_any_order(load, luck), load.key, options=load.options) as platform:
        opened = await _insisting(
            lambda: platform.create_room(PLAYERS[0], encode.room_options(options), command_id=created)
        )
        players = PLAYERS[: len(opened.room.seats)]
        transcript = RoomTranscript(
            RoomId(opened.room_id), players, tuple(SeatTranscript() for _ in players), house={created}
        )
        return transcript, [await _take_seat(platform, transcript, seat) for seat in range(len(players))]


async def _take_seat(platform: Platform, transcript: RoomTranscript, seat: int) -> Seated:
    seating = uuid4().hex
    transcript.house.add(seating)
    return await _insisting(lambda: platform.take_seat(transcript.room, transcript.players[seat], seat, seating))


async def _insisting(call: Callable[[], Awaitable[T]]) -> T:
    """Make the call until it is answered. It must send the same command id each time, as a platform does."""
    while True:
        try:
            return await call()
        except CallRefused as refused:
            if refused.code not in _UNANSWERED:
                raise
        await asyncio.sleep(_RETRY_SECONDS)


async def _listen(client: SeatClient, seat: SeatTranscript) -> None:
    async for message in client.messages():
        seat.hear(message)


async def _play(load: Load, transcript: RoomTranscript, seat: int, client: SeatClient, luck: Random) -> None:
    """Act whenever the seat must, and keep every answer, until the match is over or it is time to stop."""
    while await _is_asked(load, client):
        if luck.random() < _DROPPED:
            client.drop()
        chosen = _POLICY.act(read.view(client.view), luck)
        assert chosen is not None, "the seat is asked for something"
        said = command(chosen)
        answer = await _insisted(client, said)
        if not isinstance(answer, pb.Accepted):
            transcript.faults.append(f"a legal command of seat {seat} was not accepted: {answer}")
            return
        load.pulse.beat()
        transcript.answers.setdefault(seat, []).append(_answered(said, answer))
    if client.ended is not None and not _is_over(client.view):
        transcript.faults.append(f"the stream of seat {seat} ended before its match: {client.ended.why}")


async def _insisted(client: SeatClient, said: pb.Command) -> Answer | Ended:
    """Send a command, under one id, until the store is there and knows what became of it."""
    command_id = uuid4().hex
    while True:
        answer = await client.act(said, command_id=command_id)
        if not isinstance(answer, pb.Refused) or answer.refusal.WhichOneof("reason") not in _OF_THE_STORE:
            return answer
        await asyncio.sleep(_RETRY_SECONDS)


async def _is_asked(load: Load, client: SeatClient) -> bool:
    """Wait until the seat must act, which gives True, or until the match is over or it is time to stop."""
    asked = asyncio.create_task(client.until(lambda: _has_something_to_do(client.view) or _is_over(client.view)))
    stopping = asyncio.create_task(load.stopping.wait())
    await asyncio.wait((asked, stopping), return_when=asyncio.FIRST_COMPLETED)
    asked.cancel()
    stopping.cancel()
    return not load.stopping.is_set() and client.ended is None and not _is_over(client.view)


def _has_something_to_do(view: view_pb2.View) -> bool:
    return view.parts.advice.WhichOneof("choice") is not None


def _is_over(view: view_pb2.View) -> bool:
    return view.parts.progress.phase == view_pb2.PHASE_OVER


def _answered(said: pb.Command, answer: pb.Accepted) -> CommandAnswer:
    command = requests.command(said)
    assert not isinstance(command, NoCommand), "the client sends commands"
    key = command_key(answer.command_id, command)
    assert key is not None, "the client gives every command an id"
    return CommandAnswer(key.id, key.fingerprint, answer.first_version, answer.last_version, answer.repeated_command)
