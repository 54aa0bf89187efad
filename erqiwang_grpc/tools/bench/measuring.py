"""Measuring: puts load on the relay and the server, one after the other, and computes their figures."""

from __future__ import annotations

import asyncio
import tempfile
from collections.abc import Callable, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Final, TypeAlias, final

import grpc
from erqiwang_core.options import RoomOptions
from erqiwang_core.rules import game_rules
from google.protobuf import json_format

from erqiwang_grpc.auth.files import FIRST_KEY
from erqiwang_grpc.client.calls import CallRefused
from erqiwang_grpc.rpc.wire import encode
from erqiwang_grpc.tools.bench import processes
from erqiwang_grpc.tools.bench.failure import BenchFailed
from erqiwang_grpc.tools.bench.figures import Figures, Result, percentile
from erqiwang_grpc.tools.bench.load import Kind, Orders, Played, ServerRooms
from erqiwang_grpc.tools.bench.processes import Loader, Subject
from erqiwang_grpc.tools.bench.script import Script, record

_KIB: Final = 1024
_TICK_SECONDS: Final = 0.2
"""The time between two reports of progress."""

Report: TypeAlias = Callable[[str, float], None]
"""Called with the name of a measurement and the part of it that is done, 0 to 1."""


@final
@dataclass(frozen=True, slots=True)
class Plan:
    """What is to be measured."""

    rooms: int
    """The number of rooms to play at the same time, each at a table of its own."""
    seconds: float
    """The longest time that a measurement plays, in seconds."""
    deals: int | None
    """The number of deals after which a table stops; None for no limit."""
    rate: float | None
    """The most turns a second in all rooms together; None for no limit."""
    idle_streams: int
    """The number of streams that send nothing. It is rounded down to whole rooms."""
    load_processes: int
    """The number of processes that play the rooms, 1 to `rooms`. One more holds the idle streams."""
    data: Path | None
    """The folder for another measurement of the server, with its rooms on disk; None for no such measurement."""
    options: RoomOptions
    """The options of each room."""

    @property
    def seats(self) -> int:
        """The number of seats in a room."""
        return game_rules(self.options.game, self.options.review).seats

    @property
    def idle_rooms(self) -> int:
        """The number of rooms whose streams are all idle."""
        return self.idle_streams // self.seats

    @property
    def written_options(self) -> str:
        """The options as JSON, for the load processes."""
        return json_format.MessageToJson(encode.room_options(self.options))


async def measure(plan: Plan, report: Report) -> Result:
    """Record a match, measure the relay with it, and measure the server.

    Raises `BenchFailed` if a process ends early or prints something unexpected, if a server does not serve within 30
    seconds, or if the match cannot be recorded. A room that fails raises nothing here: it is counted in `Figures.failed`.
    """
    with tempfile.TemporaryDirectory(prefix="erqiwang-bench-") as name:
        folder = Path(name)
        script = await _recorded(plan, folder / "recording")
        path = folder / "script.json"
        script.save(path)
        relay = await _measured("relay", plan, "relay", processes.relay(path), report, lambda: "")
        servers = [await _server("server", plan, folder / "memory", report, in_memory=True)]
        if plan.data is not None:
            servers.append(await _server("server, on disk", plan, plan.data, report, in_memory=False))
        return Result(relay, tuple(servers), plan.rooms, plan.seats, plan.rate, script.bytes_per_turn)


async def _recorded(plan: Plan, folder: Path) -> Script:
    """The script of one match on a server that is started for it."""
    async with (
        processes.server(folder, in_memory=True) as subject,
        grpc.aio.insecure_channel(subject.address) as channel,
    ):
        rooms = ServerRooms(subject.address, _key(folder), plan.written_options)
        try:
            return await record(channel, await rooms.open(0))
        except (CallRefused, ValueError, grpc.RpcError) as error:
            raise BenchFailed(f"the match to repeat cannot be recorded: {error}") from error


def _key(folder: Path) -> str:
    return (folder / FIRST_KEY).read_text().strip()


async def _server(name: str, plan: Plan, folder: Path, report: Report, *, in_memory: bool) -> Figures:
    server = processes.server(folder, in_memory=in_memory)
    return await _measured(name, plan, "server", server, report, lambda: _key(folder))


@final
@dataclass(frozen=True, slots=True)
class _Memory:
    """The resident memory of a server or relay before the first turn, in bytes."""

    empty: int
    """Before the first room."""
    seated: int
    """With all rooms, and no stream."""
    attached: int
    """With all rooms and all streams."""

    def kib_per_room(self, rooms: int) -> float:
        return (self.seated - self.empty) / _KIB / rooms

    def kib_per_stream(self, streams: int) -> float:
        return (self.attached - self.seated) / _KIB / streams


async def _measured(
    name: str,
    plan: Plan,
    kind: Kind,
    process: AbstractAsyncContextManager[Subject],
    report: Report,
    key: Callable[[], str],
) -> Figures:
    """Start the process, put the planned load on it, and stop it.

    `key` gives the platform's key. It is called only when the process serves, because a new server first makes the key.
    """
    report(name, 0.0)
    async with process as running:
        orders = [*_playing_orders(plan, kind, running, key()), *_idle_orders(plan, kind, running, key())]
        async with processes.loaders(orders) as loaders:
            playing, idle = loaders[: plan.load_processes], loaders[plan.load_processes :]
            memory = await _attached(running, loaders)
            before = running.cpu_seconds()
            for loader in loaders:
                await loader.go_on()
            played = await _played(plan, name, playing, report)
            cpu = running.cpu_seconds() - before
            stayed = [await _end_idle(loader) for loader in idle]
    return _figures(name, plan, cpu, memory, played, stayed)


def _playing_orders(plan: Plan, kind: Kind, running: Subject, key: str) -> list[Orders]:
    """The orders of the processes that play. They share the rooms and the turns a second evenly."""
    number = plan.load_processes
    return [
        Orders(
            kind=kind,
            addresses=[running.address],
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


def _idle_orders(plan: Plan, kind: Kind, running: Subject, key: str) -> list[Orders]:
    """The orders of the one process that holds the idle streams; none if no idle streams are planned."""
    if not plan.idle_rooms:
        return []
    rooms, options = plan.idle_rooms, plan.written_options
    orders = Orders(
        kind, [running.address], "idle", key, options, plan.seats, rooms, seconds=0.0, deals=None, rate=None
    )
    return [orders]


async def _attached(running: Subject, loaders: Sequence[Loader]) -> _Memory:
    """Wait until all rooms have their seats taken, then let all streams attach. Gives the memory at each step."""
    empty = running.memory()
    await asyncio.gather(*(loader.reach("seated") for loader in loaders))
    seated = running.memory()
    for loader in loaders:
        await loader.go_on()
    await asyncio.gather(*(loader.reach("attached") for loader in loaders))
    return _Memory(empty, seated, running.memory())


async def _played(plan: Plan, name: str, loaders: Sequence[Loader], report: Report) -> list[Played]:
    """Wait until the processes have played; gives what each has measured. The clock alone decides what is reported."""
    ticking = asyncio.create_task(_tick(plan.seconds, lambda done: report(name, done)))
    try:
        return await asyncio.gather(*(loader.played() for loader in loaders))
    finally:
        ticking.cancel()
        report(name, 1.0)


async def _tick(seconds: float, report: Callable[[float], None]) -> None:
    steps = max(1, int(seconds / _TICK_SECONDS))
    for step in range(steps):
        await asyncio.sleep(_TICK_SECONDS)
        report((step + 1) / steps)


async def _end_idle(loader: Loader) -> Played:
    await loader.go_on()
    return await loader.played()


def _figures(
    name: str, plan: Plan, cpu: float, memory: _Memory, played: Sequence[Played], stayed: Sequence[Played]
) -> Figures:
    """The figures of one measurement. `cpu` is the CPU time of all turns in seconds."""
    latencies = sorted(chain.from_iterable(one.latencies for one in played))
    turns = sum(one.turns for one in played)
    rooms = plan.rooms + plan.idle_rooms
    return Figures(
        name=name,
        turns=turns,
        turns_per_second=turns / max(one.seconds for one in played),
        cpu_us_per_turn=1_000_000 * cpu / max(1, turns),
        p50_ms=percentile(latencies, 50) / 1000,
        p95_ms=percentile(latencies, 95) / 1000,
        p99_ms=percentile(latencies, 99) / 1000,
        kib_per_room=memory.kib_per_room(rooms),
        kib_per_stream=memory.kib_per_stream(plan.seats * rooms),
        idle_streams=plan.idle_rooms * plan.seats,
        failed=sum(one.failed for one in (*played, *stayed)),
    )
