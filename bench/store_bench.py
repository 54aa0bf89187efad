"""Durable appends a second, by number of appenders at the same time: the stores on disk beside the store in memory.

python -m bench.store_bench [--seconds S] [--folder DIR] [--store URL] [--rate N]    (DIR on the disk to measure)

Each append is one batch of one event. After the throughput, the time of an append is measured at a pace. With a database,
this program, its appenders and the database share the machine. `--store own` starts a server of its own for it.
"""

import argparse
import asyncio
import os
import tempfile
import time
from contextlib import AsyncExitStack
from pathlib import Path

import psutil

from bench.database import database
from erqiwang_grpc.store import (
    NOTHING,
    Actor,
    Appended,
    Batch,
    CommandId,
    CommandKey,
    RoomId,
    Store,
    Summary,
    Term,
    TimeNs,
)
from erqiwang_grpc.store.memory import MemoryStore
from erqiwang_grpc.store.postgres import PostgresStore, open_store as open_database
from erqiwang_grpc.store.sqlite import SqliteStore, open_store

APPENDERS = (1, 10, 100)
MANY = 400  # more than the engine for PostgreSQL writes in one statement: the next statement is full when one ends
BODY = b"x" * 60  # about the size of a stored play
SUMMARY = Summary(tuple(Term(f"key {i}", "a value of a usual length") for i in range(6)), TimeNs(1), None, bytes(250))
AIM = 15_000  # durable events a second on two cores
PACE = AIM // 2
AIM_MS = 20  # of the 99th percentile at that pace


async def appends_per_second(store: Store, appenders: int, seconds: float) -> float:
    """Appends a second of all appenders together. Each has its own room, and waits for each answer as a seat does."""
    deadline = time.perf_counter() + seconds
    counts = await asyncio.gather(*(_append(store, f"{appenders}-{i}", deadline) for i in range(appenders)))
    return sum(counts) / seconds


async def _append(store: Store, name: str, deadline: float) -> int:
    room, head, count = RoomId(name), NOTHING, 0
    while time.perf_counter() < deadline:
        answer = await store.append(room, head, batch(count))
        assert isinstance(answer, Appended), answer
        head, count = answer.version, count + 1
        await asyncio.sleep(0)  # The memory store never waits, so without this the other appenders would not run.
    return count


def batch(count: int) -> Batch:
    command = CommandKey(CommandId(f"c{count}"), BODY[:32])
    return Batch(TimeNs(time.time_ns()), Actor("seat-0"), command, 1, (BODY,), SUMMARY)


async def paced(store: Store, rate: int, seconds: float) -> list[float]:
    """The seconds of each append, in order of length, at no more than `rate` a second, spread over MANY rooms."""
    start = time.perf_counter()
    took: list[float] = []
    await asyncio.gather(*(_append_paced(store, i, rate / MANY, start, start + seconds, took) for i in range(MANY)))
    return sorted(took)


async def _append_paced(
    store: Store, number: int, rate: float, start: float, deadline: float, took: list[float]
) -> None:
    room, head, count = RoomId(f"paced-{rate}-{number}"), NOTHING, 0
    while True:
        due = start + (count + number / MANY) / rate
        if due > deadline:
            return
        await asyncio.sleep(max(0.0, due - time.perf_counter()))
        begun = time.perf_counter()
        if begun > deadline:
            return
        answer = await store.append(room, head, batch(count))
        took.append(time.perf_counter() - begun)
        assert isinstance(answer, Appended), answer
        head, count = answer.version, count + 1


def flushes_per_second(folder: Path, seconds: float) -> float:
    """How often a second the disk can append 4 KiB and flush them, without a store."""
    with (folder / "flushes").open("wb", buffering=0) as file:
        start, count = time.perf_counter(), 0
        while time.perf_counter() - start < seconds:
            file.write(bytes(4096))
            os.fdatasync(file.fileno())
            count += 1
    return count / seconds


async def measure(folder: Path, seconds: float, named: str | None, rate: int) -> None:
    flushes = flushes_per_second(folder, seconds)
    print(f"disk: {flushes:,.0f} flushes of 4 KiB a second; {_load()}")
    async with AsyncExitStack() as opened:
        stores: dict[str, Store] = {}
        store = await open_store(folder / "rooms.db")
        assert isinstance(store, SqliteStore), store
        opened.push_async_callback(store.close)
        stores["SQLite"] = store
        if named is not None:
            in_database = await open_database(await opened.enter_async_context(database(named)))
            assert isinstance(in_database, PostgresStore), in_database
            opened.push_async_callback(in_database.close)
            stores["PostgreSQL"] = in_database
        await _throughput(stores, seconds, flushes)
        await _latency(stores, rate, seconds)


async def _throughput(stores: dict[str, Store], seconds: float, flushes: float) -> None:
    print(f"appends a second, one event each (aim with two cores: {AIM:,}):")
    print(f"{'appenders':>9} {'in memory':>10}", *(f"{name:>11} {'/memory':>7} {'/flushes':>8}" for name in stores))
    for appenders in (*APPENDERS, MANY):
        memory = await appends_per_second(MemoryStore(), appenders, seconds)
        print(f"{appenders:>9} {memory:>10,.0f}", end=" ")
        for store in stores.values():
            disk = await appends_per_second(store, appenders, seconds)
            print(f"{disk:>11,.0f} {disk / memory:>7.3f} {disk / flushes:>8.2f}", end=" ")
        print(flush=True)


async def _latency(stores: dict[str, Store], rate: int, seconds: float) -> None:
    print(f"the time of an append, at {rate:,} a second in {MANY} rooms (aim: 99 of 100 in {AIM_MS} ms); {_load()}")
    print(f"{'store':>11} {'a second':>9} {'p50, ms':>8} {'p99, ms':>8} {'this program, µs of CPU each':>29}")
    for name, store in stores.items():
        cpu = time.process_time()
        took = await paced(store, rate, seconds)
        spent = 1_000_000 * (time.process_time() - cpu) / len(took)
        p50, p99 = (1000 * took[int(len(took) * part)] for part in (0.5, 0.99))
        print(f"{name:>11} {len(took) / seconds:>9,.0f} {p50:>8.1f} {p99:>8.1f} {spent:>29,.0f}", flush=True)


def _load() -> str:
    return f"load of the machine: {os.getloadavg()[0]:.1f} on {psutil.cpu_count()} cores"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=3.0, help="how long each figure is measured (default: 3)")
    parser.add_argument("--folder", type=Path, default=None, help="folder to write to (default: a temporary one)")
    parser.add_argument("--store", help="also measure this database: a URL, or `own` for a server of its own")
    parser.add_argument("--rate", type=int, default=PACE, help=f"appends a second of the second part (default: {PACE})")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(dir=options.folder) as folder:
        asyncio.run(measure(Path(folder), options.seconds, options.store, options.rate))


if __name__ == "__main__":
    main()
