"""Durable appends a second, by number of appenders at the same time: the store on disk beside the store in memory.

python -m bench.store_bench [--seconds S] [--folder DIR]    (DIR on the disk to measure)
"""

import argparse
import asyncio
import os
import tempfile
import time
from pathlib import Path

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
from erqiwang_grpc.store.sqlite import SqliteStore, open_store

APPENDERS = (1, 10, 100)
BODY = b"x" * 60  # about the size of a stored play
SUMMARY = Summary(tuple(Term(f"key {i}", "a value of a usual length") for i in range(6)), TimeNs(1), None, bytes(250))


async def appends_per_second(store: Store, appenders: int, seconds: float) -> float:
    """Appends a second of all appenders together. Each has its own room, and waits for each answer as a seat does."""
    deadline = time.perf_counter() + seconds
    counts = await asyncio.gather(*(_append(store, f"{appenders}-{i}", deadline) for i in range(appenders)))
    return sum(counts) / seconds


async def _append(store: Store, name: str, deadline: float) -> int:
    room, head, count = RoomId(name), NOTHING, 0
    while time.perf_counter() < deadline:
        command = CommandKey(CommandId(f"c{count}"), BODY[:32])
        batch = Batch(TimeNs(time.time_ns()), Actor("seat-0"), command, 1, (BODY,), SUMMARY)
        answer = await store.append(room, head, batch)
        assert isinstance(answer, Appended), answer
        head, count = answer.version, count + 1
        await asyncio.sleep(0)  # The memory store never waits, so without this the other appenders would not run.
    return count


def flushes_per_second(folder: Path, seconds: float) -> float:
    """How often a second the disk can append 4 KiB and flush them, without a store."""
    with (folder / "flushes").open("wb", buffering=0) as file:
        start, count = time.perf_counter(), 0
        while time.perf_counter() - start < seconds:
            file.write(bytes(4096))
            os.fdatasync(file.fileno())
            count += 1
    return count / seconds


async def measure(folder: Path, seconds: float) -> None:
    flushes = flushes_per_second(folder, seconds)
    print(f"disk: {flushes:,.0f} flushes of 4 KiB a second")
    print("appends a second:")
    print(f"{'appenders':>9} {'on disk':>9} {'in memory':>9} {'disk/memory':>11} {'disk/flushes':>12}")
    store = await open_store(folder / "rooms.db")
    assert isinstance(store, SqliteStore), store
    for appenders in APPENDERS:
        disk = await appends_per_second(store, appenders, seconds)
        memory = await appends_per_second(MemoryStore(), appenders, seconds)
        print(f"{appenders:>9} {disk:>9,.0f} {memory:>9,.0f} {disk / memory:>11.3f} {disk / flushes:>12.2f}")
    await store.close()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=3.0, help="how long each figure is measured (default: 3)")
    parser.add_argument("--folder", type=Path, default=None, help="folder to write to (default: a temporary one)")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(dir=options.folder) as folder:
        asyncio.run(measure(Path(folder), options.seconds))


if __name__ == "__main__":
    main()
