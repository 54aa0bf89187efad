"""kill -9 at any instant: what was acknowledged is there, nothing is half, and the chain holds."""

import asyncio
import os
import random
import signal
import subprocess
import sys
import time
from collections import defaultdict
from pathlib import Path

from erqiwang_grpc.store import START, Appended, Batch, Damaged, RoomId
from erqiwang_grpc.store.sqlite import SqliteStore, open_store
from tests.store.contract import FEED, FINISHED, batch, fed, head, listed, summary

REPOSITORY = Path(__file__).parents[2]
ROUNDS = 10
LONGEST_ROUND = 0.3  # seconds, from the child's first acknowledgement to its end
ROOMS = 40


def written(room: RoomId, first: int) -> Batch:
    """What the child puts behind version `first - 1`: one to three payloads, enough of them to span pages."""
    count = 1 + first % 3
    bodies = [f"{room}/{first + i}/".encode() * 100 for i in range(count)]
    return batch(*bodies, summary=summary(FINISHED, body=bodies[-1]), feed=FEED)


async def write_until_killed(path: Path) -> None:
    """The child: every room appends as fast as it can, and says so on standard output when it is told."""
    store = await open_store(path)
    assert isinstance(store, SqliteStore), store
    await asyncio.gather(*(_grow(store, RoomId(f"r{number}")) for number in range(ROOMS)))


async def _grow(store: SqliteStore, room: RoomId) -> None:
    at = await head(store, room)
    assert not isinstance(at, Damaged), at
    while True:
        answer = await store.append(room, at, written(room, at + 1))
        assert isinstance(answer, Appended), answer
        at = answer.version
        os.write(1, f"{room} {at}\n".encode())  # one write, so that the line is whole or not there


def killed_at_random(path: Path, chance: random.Random) -> dict[RoomId, int]:
    """Let a child write and kill it; what it acknowledged, by room."""
    child = subprocess.Popen(
        [sys.executable, "-m", "tests.store.test_killed", str(path)], stdout=subprocess.PIPE, cwd=REPOSITORY
    )
    assert child.stdout is not None
    told = child.stdout.readline()
    deadline = time.monotonic() + chance.uniform(0, LONGEST_ROUND)
    while time.monotonic() < deadline:
        told += child.stdout.readline()
    child.send_signal(signal.SIGKILL)
    told += child.stdout.read()
    child.stdout.close()
    assert child.wait() == -signal.SIGKILL
    acknowledged: dict[RoomId, int] = defaultdict(int)
    for line in told.decode().splitlines():
        room, version = line.split()
        acknowledged[RoomId(room)] = int(version)
    return acknowledged


async def check(path: Path, acknowledged: dict[RoomId, int]) -> int:
    """Every room holds what it acknowledged, and whole batches only; how many payloads there are in all."""
    store = await open_store(path)
    assert isinstance(store, SqliteStore), store
    total = 0
    for number in range(ROOMS):
        room = RoomId(f"r{number}")
        entries = await store.read(room)
        assert isinstance(entries, tuple), entries
        assert len(entries) >= acknowledged.get(room, 0)
        expected: list[bytes] = []
        while len(expected) < len(entries):
            expected += written(room, len(expected) + 1).bodies
        assert [entry.body for entry in entries] == expected
        total += len(entries)
    await is_indexed(store)
    await store.close()
    return total


async def is_indexed(store: SqliteStore) -> None:
    """The feed tells every batch, and the list holds every room as of its newest one."""
    told = {each.entries[0].room: each.entries[-1] for each in await fed(store, START, 1_000_000)}
    found = {each.room: (each.version, each.summary.body) for each in (await listed(store, FINISHED)).rooms}
    assert found == {room: (entry.version, entry.body) for room, entry in told.items()}
    assert await store.faults() == ()


def test_what_was_acknowledged_survives_a_kill_at_any_moment(tmp_path: Path) -> None:
    chance = random.Random()
    path = tmp_path / "rooms.db"
    stored = 0
    for _ in range(ROUNDS):
        acknowledged = killed_at_random(path, chance)
        grown = asyncio.run(check(path, acknowledged))
        assert grown > stored
        stored = grown


if __name__ == "__main__":
    asyncio.run(write_until_killed(Path(sys.argv[1])))
