"""Measuring: a subject under load, from its first room to its last turn."""

from __future__ import annotations

import asyncio
import tempfile
from collections.abc import Callable, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Final, Literal, TypeAlias, final

import grpc
from erqiwang_core.options import RoomOptions
from erqiwang_core.rules import game_rules
from google.protobuf import json_format

from erqiwang_grpc.auth.files import FIRST_KEY
from erqiwang_grpc.rpc.wire import encode
from erqiwang_grpc.tools.bench import processes
from erqiwang_grpc.tools.bench.figures import Figures, Result, percentile
from erqiwang_grpc.tools.bench.load import Orders, Played, ServerRooms
from erqiwang_grpc.tools.bench.processes import Loader, Subject
from erqiwang_grpc.tools.bench.script import Script, record

_KIB: Final = 1024
_TICK_SECONDS: Final = 0.2


@final
@dataclass(frozen=True, slots=True)
class Plan:
    """What is to be measured."""

    rooms: int
    seconds: float
    """How long, at most."""
    deals: int | None
    """After how many deals a room has done; None for as many as there is time for."""
    rate: float | None
    """Turns a second of all rooms together; None for as many as they can."""
    idle_streams: int
    load_processes: int
    data: Path | None
    """Where to measure the server with its rooms on disk, too."""
    options: RoomOptions
    """Of every room."""

    @property
    def seats(self) -> int:
        """How many seats a room has."""
        return game_rules(self.options.game, self.options.review).seats

    @property
    def idle_rooms(self) -> int:
        """How many rooms have silent streams only."""
        return self.idle_streams // self.seats

    @property
    def written_options(self) -> str:
        """The options as load processes are told them."""
        return json_format.MessageToJson(encode.room_options(self.options))


Tell: TypeAlias = Callable[[str, float], None]
"""Is told what is measured and which part of it is done, 0 … 1."""


async def measure(plan: Plan, tell: Tell) -> Result:
    """Record a match, then load the relay and the server, one after the other."""
    with tempfile.TemporaryDirectory(prefix="erqiwang-bench-") as name:
        folder = Path(name)
        script = await _recorded(plan, folder / "recording")
        path = folder / "script.json"
        script.save(path)
        relay = await _measured("relay", plan, "relay", processes.relay(path), tell, lambda: "")
        servers = [await _server("server", plan, folder / "memory", tell, in_memory=True)]
        if plan.data is not None:
            servers.append(await _server("server, on disk", plan, plan.data, tell, in_memory=False))
        return Result(relay, tuple(servers), plan.rooms, plan.seats, plan.rate, script.bytes_per_turn)


async def _recorded(plan: Plan, folder: Path) -> Script:
    async with (
        processes.server(folder, in_memory=True) as subject,
        grpc.aio.insecure_channel(subject.address) as channel,
    ):
        rooms = ServerRooms(subject.address, _key(folder), plan.written_options)
        return await record(channel, await rooms.open(0))


def _key(folder: Path) -> str:
    return (folder / FIRST_KEY).read_text().strip()


async def _server(name: str, plan: Plan, folder: Path, tell: Tell, *, in_memory: bool) -> Figures:
    server = processes.server(folder, in_memory=in_memory)
    return await _measured(name, plan, "server", server, tell, lambda: _key(folder))


@final
@dataclass(frozen=True, slots=True)
class _Memory:
    """A subject's memory in bytes, step by step."""

    empty: int
    seated: int
    attached: int

    def a_room(self, rooms: int) -> float:
        return (self.seated - self.empty) / _KIB / rooms

    def a_stream(self, streams: int) -> float:
        return (self.attached - self.seated) / _KIB / streams


async def _measured(
    name: str,
    plan: Plan,
    subject: Literal["server", "relay"],
    started: AbstractAsyncContextManager[Subject],
    tell: Tell,
    key: Callable[[], str],
) -> Figures:
    """Start the subject, load it as planned, and stop it; its `key` is asked for once it runs."""
    tell(name, 0.0)
    async with started as running:
        orders = [*_playing(plan, subject, running, key()), *_idle(plan, subject, running, key())]
        async with processes.loaders(orders) as loaders:
            playing, idle = loaders[: plan.load_processes], loaders[plan.load_processes :]
            memory = await _attached(running, loaders)
            before = running.cpu_seconds()
            for loader in loaders:
                await loader.go_on()
            played = await _played(plan, name, playing, tell)
            cpu = running.cpu_seconds() - before
            stayed = [await _stay_no_longer(loader) for loader in idle]
    return _figures(name, plan, cpu, memory, played, stayed)


def _playing(plan: Plan, subject: Literal["server", "relay"], running: Subject, key: str) -> list[Orders]:
    number = plan.load_processes
    return [
        Orders(
            subject=subject,
            address=running.address,
            name=f"playing-{each}",
            key=key,
            options=plan.written_options,
            seats=plan.seats,
            rooms=plan.rooms // number + (each < plan.rooms % number),
            seconds=plan.seconds,
            deals=plan.deals,
            rate=None if plan.rate is None else plan.rate / number,
        )
        for each in range(number)
    ]


def _idle(plan: Plan, subject: Literal["server", "relay"], running: Subject, key: str) -> list[Orders]:
    if not plan.idle_rooms:
        return []
    rooms, options = plan.idle_rooms, plan.written_options
    orders = Orders(
        subject, running.address, "idle", key, options, plan.seats, rooms, seconds=0.0, deals=None, rate=None
    )
    return [orders]


async def _attached(running: Subject, loaders: Sequence[Loader]) -> _Memory:
    """Let every room be seated, then every stream be attached."""
    empty = running.memory()
    await asyncio.gather(*(loader.reach("seated") for loader in loaders))
    seated = running.memory()
    for loader in loaders:
        await loader.go_on()
    await asyncio.gather(*(loader.reach("attached") for loader in loaders))
    return _Memory(empty, seated, running.memory())


async def _played(plan: Plan, name: str, loaders: Sequence[Loader], tell: Tell) -> list[Played]:
    """What came of it in every load process; meanwhile the progress is told by the clock."""
    ticking = asyncio.create_task(_tick(plan.seconds, lambda part: tell(name, part)))
    try:
        return await asyncio.gather(*(loader.played() for loader in loaders))
    finally:
        ticking.cancel()
        tell(name, 1.0)


async def _tick(seconds: float, tell: Callable[[float], None]) -> None:
    steps = max(1, int(seconds / _TICK_SECONDS))
    for step in range(steps):
        await asyncio.sleep(_TICK_SECONDS)
        tell((step + 1) / steps)


async def _stay_no_longer(loader: Loader) -> Played:
    await loader.go_on()
    return await loader.played()


def _figures(
    name: str, plan: Plan, cpu: float, memory: _Memory, played: Sequence[Played], stayed: Sequence[Played]
) -> Figures:
    latencies = sorted(chain.from_iterable(each.latencies for each in played))
    turns = sum(each.turns for each in played)
    rooms = plan.rooms + plan.idle_rooms
    return Figures(
        name=name,
        turns=turns,
        turns_per_second=turns / max(each.seconds for each in played),
        cpu_us_per_turn=1_000_000 * cpu / max(1, turns),
        p50_ms=percentile(latencies, 50) / 1000,
        p95_ms=percentile(latencies, 95) / 1000,
        p99_ms=percentile(latencies, 99) / 1000,
        kib_per_room=memory.a_room(rooms),
        kib_per_stream=memory.a_stream(plan.seats * rooms),
        idle_streams=plan.idle_rooms * plan.seats,
        failed=sum(each.failed for each in (*played, *stayed)),
    )
