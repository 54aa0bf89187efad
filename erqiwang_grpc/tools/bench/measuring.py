"""Measuring: puts load on the relay and the server, one after the other in each round, and computes their figures."""

from __future__ import annotations

import asyncio
import os
import platform
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Final, TypeAlias, final

import grpc
from erqiwang_core.options import RoomOptions
from erqiwang_core.rules import game_rules
from google.protobuf import json_format

from erqiwang_grpc.client.calls import CallRefused
from erqiwang_grpc.commands.version import core_build, service_build
from erqiwang_grpc.rpc.wire import encode
from erqiwang_grpc.testing.folder import guarded_folder
from erqiwang_grpc.tools.bench import processes
from erqiwang_grpc.tools.bench.failure import BenchFailed
from erqiwang_grpc.tools.bench.figures import Case, Figures, Machine, Result, Served, percentile
from erqiwang_grpc.tools.bench.opening import ServerRooms
from erqiwang_grpc.tools.bench.orders import Orders, Played, Way
from erqiwang_grpc.tools.bench.processes import Keys, Loader, Subject
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
    """The most turns a second in all rooms together, for measurements beside those as fast as they can; None for none."""
    rounds: int
    """How often everything is measured."""
    ways: tuple[Way, ...]
    """How seats reach the server. The relay over streams is measured in any case."""
    idle_seats: int
    """The number of seats that send nothing. It is rounded down to whole rooms."""
    load_processes: int
    """The number of processes that play the rooms, 1 to `rooms`. One more holds the idle seats."""
    data: Path | None
    """The folder for measurements of the server with its rooms on disk; None for no such measurements."""
    options: RoomOptions
    """The options of each room."""

    @property
    def seats(self) -> int:
        """The number of seats in a room."""
        return game_rules(self.options.game, self.options.review).seats

    @property
    def idle_rooms(self) -> int:
        """The number of rooms whose seats are all idle."""
        return self.idle_seats // self.seats

    @property
    def written_options(self) -> str:
        """The options as JSON, for the load processes."""
        return json_format.MessageToJson(encode.room_options(self.options))

    def cases(self) -> Iterator[Case]:
        """What each round measures, in order."""
        servers: tuple[Served, ...] = ("in memory",) if self.data is None else ("in memory", "on disk")
        for rate in (None,) if self.rate is None else (None, self.rate):
            yield Case("relay", "streams", rate)
            for way in self.ways:
                if way != "streams":
                    yield Case("relay", way, rate)
                for served in servers:
                    yield Case(served, way, rate)


async def measure(plan: Plan, report: Report) -> Result:
    """Record a match, and measure the relay with it and the server beside it, in rounds.

    Raises `BenchFailed` if a process ends early or prints something unexpected, if a server does not serve within 30
    seconds, or if the match cannot be recorded. A room that fails raises nothing here: it is counted in `Figures.failed`.
    """
    before = os.getloadavg()[0]
    with guarded_folder("erqiwang-bench-") as folder:
        bench = await _Bench.prepared(plan, folder)
        rounds = [await bench.round(_in_round(report, number, plan.rounds)) for number in range(plan.rounds)]
        machine = Machine(
            core_build(), service_build(), platform.python_version(), os.cpu_count() or 1, before, os.getloadavg()[0]
        )
        idle = plan.idle_rooms * plan.seats
        return Result(rounds, machine, plan.rooms, plan.seats, plan.seconds, idle, bench.script.bytes_per_turn)


def _in_round(report: Report, number: int, rounds: int) -> Report:
    return lambda name, done: report(name, (number + done) / rounds)


async def _recorded(plan: Plan, folder: Path, keys: Keys) -> Script:
    """The script of one match on a server that is started for it."""
    async with (
        processes.server(folder, in_memory=True, keys=keys) as subject,
        grpc.aio.insecure_channel(subject.address) as channel,
    ):
        rooms = ServerRooms(subject.address, keys.platform, plan.written_options)
        try:
            return await record(channel, await rooms.open(0))
        except (CallRefused, ValueError, grpc.RpcError) as error:
            raise BenchFailed(f"the match to repeat cannot be recorded: {error}") from error


@final
@dataclass(frozen=True, slots=True)
class _Memory:
    """The resident memory of a server or relay before the first turn, in bytes."""

    empty: int
    """Before the first room."""
    seated: int
    """With all rooms, and no seat attached."""
    attached: int
    """With all rooms, and all seats attached."""

    def kib_per_room(self, rooms: int) -> float:
        return (self.seated - self.empty) / _KIB / rooms

    def kib_per_seat(self, seats: int) -> float:
        return (self.attached - self.seated) / _KIB / seats


@final
@dataclass(frozen=True, slots=True)
class _Bench:
    """What all measurements share."""

    plan: Plan
    folder: Path
    keys: Keys
    script: Script

    @classmethod
    async def prepared(cls, plan: Plan, folder: Path) -> _Bench:
        """Make keys in this folder, and record the match for the relay there."""
        keys = processes.make_keys(folder / "keys")
        script = await _recorded(plan, folder / "memory", keys)
        script.save(folder / "script.json")
        return cls(plan, folder, keys, script)

    async def round(self, report: Report) -> dict[Case, Figures]:
        """Measure every case once. Rounds follow each other, so that what slows the machine for a while slows all cases."""
        return {case: await self.measured(case, report) for case in self.plan.cases()}

    async def measured(self, case: Case, report: Report) -> Figures:
        """Start what is to be measured, put the planned load on it, and stop it."""
        name = f"{case.name}, {case.pace}"
        report(name, 0.0)
        number = self.plan.load_processes
        # All processes start together, which takes less time than one after the other.
        async with (
            processes.loaders(number + bool(self.plan.idle_rooms)) as loaders,
            self._process(case.served) as running,
        ):
            playing, idle = loaders[:number], loaders[number:]
            memory = await _attached(
                running, loaders, [*self._playing_orders(case, running), *self._idle_orders(case, running)]
            )
            if self._lead_in:
                await _led_in(playing)
            before = running.cpu_seconds()
            for loader in loaders:
                await loader.go_on()
            played = await _played(self.plan, name, playing, report)
            cpu = running.cpu_seconds() - before
            stayed = [await _end_idle(loader) for loader in idle]
        return _figures(self.plan, cpu, memory, played, stayed)

    def _process(self, served: Served) -> AbstractAsyncContextManager[Subject]:
        match served:
            case "relay":
                return processes.relay(self.folder / "script.json")
            case "in memory":
                return processes.server(self.folder / "memory", in_memory=True, keys=self.keys)
            case "on disk":
                assert self.plan.data is not None, "it is measured only with a folder"
                return processes.server(self.plan.data, in_memory=False, keys=self.keys)

    @property
    def _lead_in(self) -> int:
        """The turns of one deal: so many parts of it there are to begin at. None where whole deals are played."""
        return 0 if self.plan.deals is not None else len(self.script.turns) // self.plan.options.deals

    def _playing_orders(self, case: Case, running: Subject) -> list[Orders]:
        """The orders of the processes that play. They share the rooms and the turns a second evenly."""
        number, rooms = self.plan.load_processes, self.plan.rooms
        return [
            self._orders(
                case,
                running,
                f"playing-{each}",
                rooms=rooms // number + (each < rooms % number),
                seconds=self.plan.seconds,
                rate=None if case.rate is None else case.rate / number,
                lead_in=self._lead_in,
            )
            for each in range(number)
        ]

    def _idle_orders(self, case: Case, running: Subject) -> list[Orders]:
        """The orders of the one process that holds the idle seats; none if no idle seats are planned."""
        rooms = self.plan.idle_rooms
        return [self._orders(case, running, "idle", rooms=rooms, seconds=0.0, rate=None, lead_in=0)] if rooms else []

    def _orders(
        self, case: Case, running: Subject, name: str, *, rooms: int, seconds: float, rate: float | None, lead_in: int
    ) -> Orders:
        is_relay = case.served == "relay"
        return Orders(
            kind="relay" if is_relay else "server",
            addresses=[running.address],
            name=name,
            key="" if is_relay else self.keys.platform,
            options=self.plan.written_options,
            seats=self.plan.seats,
            rooms=rooms,
            seconds=seconds,
            deals=self.plan.deals,
            rate=rate,
            way=case.way,
            gateway_key="" if is_relay else self.keys.gateway,
            lead_in=lead_in,
        )


async def _attached(running: Subject, loaders: Sequence[Loader], orders: Sequence[Orders]) -> _Memory:
    """Give the orders, wait until all rooms have their seats taken, then let all attach. Gives the memory at each step."""
    empty = running.memory()
    for loader, order in zip(loaders, orders, strict=True):
        await loader.order(order)
    await asyncio.gather(*(loader.reach("seated") for loader in loaders))
    seated = running.memory()
    for loader in loaders:
        await loader.go_on()
    await asyncio.gather(*(loader.reach("attached") for loader in loaders))
    return _Memory(empty, seated, running.memory())


async def _led_in(loaders: Sequence[Loader]) -> None:
    """Let each process play its lead-in, so that rooms are at all parts of a deal."""
    for loader in loaders:
        await loader.go_on()
    await asyncio.gather(*(loader.reach("led in") for loader in loaders))


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


def _figures(plan: Plan, cpu: float, memory: _Memory, played: Sequence[Played], stayed: Sequence[Played]) -> Figures:
    """The figures of one measurement. `cpu` is the CPU time of all turns in seconds."""
    latencies = sorted(chain.from_iterable(one.latencies for one in played))
    turns = sum(one.turns for one in played)
    seconds = max(one.seconds for one in played)
    rooms = plan.rooms + plan.idle_rooms
    return Figures(
        turns=turns,
        turns_per_second=turns / seconds,
        cpu_us_per_turn=1_000_000 * cpu / max(1, turns),
        core_percent=100 * cpu / seconds,
        p50_ms=percentile(latencies, 50) / 1000,
        p95_ms=percentile(latencies, 95) / 1000,
        p99_ms=percentile(latencies, 99) / 1000,
        kib_per_room=memory.kib_per_room(rooms),
        kib_per_seat=memory.kib_per_seat(plan.seats * rooms),
        failed=sum(one.failed for one in (*played, *stayed)),
    )
