"""The torture of several nodes on one database that has a synchronous standby."""

from __future__ import annotations

import asyncio
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from typing import final

from erqiwang_grpc.auth.files import FIRST_PLATFORM
from erqiwang_grpc.client import Platform
from erqiwang_grpc.store.postgres import PostgresStore, open_store
from erqiwang_grpc.testing.cluster import programs
from erqiwang_grpc.testing.pair import Pair, paired
from erqiwang_grpc.tools.torture import feeds
from erqiwang_grpc.tools.torture.chaos import Chaos, Fault
from erqiwang_grpc.tools.torture.comparing import Compared, compare
from erqiwang_grpc.tools.torture.nodes import DATABASE, Node, key_of, nodes_on
from erqiwang_grpc.tools.torture.tables import RECONNECTING, Load, keep_playing
from erqiwang_grpc.tools.torture.transcript import RoomTranscript
from erqiwang_grpc.tools.torture.victim import VictimFailed


@final
@dataclass(slots=True)
class Report:
    """What was survived, and how much was compared."""

    seed: int
    nodes: int
    survived: Counter[Fault] = field(default_factory=Counter)
    longest_pause: float = 0.0
    """Seconds in which no command of any seat was accepted, at worst."""
    told: int = 0
    """The events of the feed."""
    compared: Compared = field(default_factory=Compared)

    def __str__(self) -> str:
        survived = "\n".join(f"{self.survived[fault]:>7,} {fault.value}" for fault in Fault)
        return (
            f"seed {self.seed}, {self.nodes} nodes; survived were\n{survived}\n"
            f"longest time without an accepted command {self.longest_pause:.1f} s\n"
            f"{self.told:,} events of the feed compared\n{self.compared}"
        )


async def torture(nodes: int, seconds: float, tables: int, seed: int, logs: Path | None) -> Report:
    """Play on nodes for `seconds` and torment them meanwhile, then check every room and the feed.

    Faults go to standard error. The nodes' logs are written into `logs`. Raises `VictimFailed` if something does not
    start.
    """
    found = programs()
    if found is None:
        raise VictimFailed("PostgreSQL is not installed: apt-get install postgresql")
    report = Report(seed, nodes)
    async with paired(found) as pair, nodes_on(pair, nodes, logs) as running:
        addresses = tuple(node.address for node in running)
        async with (
            Platform(addresses, key_of(running), options=RECONNECTING) as platform,
            feeds.watching(platform) as watcher,
        ):
            rooms = await _tormented(pair, running, seconds, tables, report)
            await _check(pair, rooms, watcher, report)
        for node in running:
            if await node.stop() != 0:
                report.compared.blame("a node did not end well when it was told to")
    return report


async def _tormented(
    pair: Pair, nodes: list[Node], seconds: float, tables: int, report: Report
) -> list[RoomTranscript]:
    """Play for `seconds` in the midst of chaos; gives what the clients of every room were told."""
    luck, rooms = Random(report.seed), list[RoomTranscript]()
    addresses = tuple(node.address for node in nodes)
    load = Load(addresses, RECONNECTING, key_of(nodes), asyncio.Event(), rooms)
    chaos = Chaos(pair, nodes, Random(luck.random()))
    async with asyncio.TaskGroup() as playing:
        for _ in range(tables):
            playing.create_task(keep_playing(load, Random(luck.random())))
        await chaos.run(seconds)
        load.stopping.set()
    report.survived = chaos.survived
    report.longest_pause = load.pulse.longest_pause
    return rooms


async def _check(pair: Pair, rooms: list[RoomTranscript], watcher: feeds.Watcher, report: Report) -> None:
    store = await open_store(pair.address(DATABASE), makes=False)
    assert isinstance(store, PostgresStore), store
    try:
        await compare(store, rooms, report.compared)
        told = await feeds.public_events(store, FIRST_PLATFORM)
        report.told = len(told)
        await watcher.heard_so_many(len(told))
        known = [transcript.room for transcript in rooms]
        for fault in await feeds.faults(store, known, told, watcher.heard):
            report.compared.blame(fault)
    finally:
        await store.close()
