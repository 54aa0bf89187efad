"""Durable appends a second by number of concurrent appenders: the file against memory, in one run.

python -m bench.store_bench [--seconds S] [--folder DIR]    (DIR on the disk that is to be measured)
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
BODY = b"x" * 60  # about what a played card takes
SUMMARY = Summary(tuple(Term(f"key {i}", "a value of a usual length") for i in range(6)), TimeNs(1), None, bytes(250))


async def appends_per_second(store: Store, appenders: int, seconds: float) -> float:
    """Each appender has a room of its own and waits for each answer, as a seat does."""
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
        await asyncio.sleep(0)  # memory would answer without ever letting another appender run
    return count


def flushes_per_second(folder: Path, seconds: float) -> float:
    """What the disk itself can do: append 4 KiB and flush, again and again."""
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
    print(f"{'appenders':>9} {'file/s':>9} {'memory/s':>9} {'file/memory':>11} {'file/flushes':>12}")
    file = await open_store(folder / "rooms.db")
    assert isinstance(file, SqliteStore), file
    for appenders in APPENDERS:
        stored = await appends_per_second(file, appenders, seconds)
        kept = await appends_per_second(MemoryStore(), appenders, seconds)
        print(f"{appenders:>9} {stored:>9,.0f} {kept:>9,.0f} {stored / kept:>11.3f} {stored / flushes:>12.2f}")
    await file.close()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=3.0, help="for each figure")
    parser.add_argument("--folder", type=Path, default=None, help="where to write; a temporary folder by default")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(dir=options.folder) as folder:
        asyncio.run(measure(Path(folder), options.seconds))


if __name__ == "__main__":
    main()
