"""Look for deadlocks: `python -m tests.store.postgres.soak --minutes N [--nodes N] [--seed S]`.

Nodes append batches to the same rooms in any order, make summaries anew and delete rooms, all at once. At the end every
room must have as many events as were answered, each of them once in the feed, and the server must have seen no deadlock.
Ends with 1 if anything is wrong.
"""

import argparse
import asyncio
import sys
from collections import Counter
from collections.abc import Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from random import Random
from time import monotonic
from typing import Final, final

from erqiwang_grpc.store import (
    NOTHING,
    START,
    Appended,
    Conflict,
    Cursor,
    Damaged,
    Duplicate,
    Rewritten,
    RoomId,
    TimeNs,
    Unavailable,
    Unsure,
    Version,
)
from erqiwang_grpc.store.postgres import PostgresStore
from erqiwang_grpc.testing.cluster import programs, running
from tests.store.contract import FEED, FINISHED, batch, ended, key, summary
from tests.store.postgres.conftest import opened

ROOMS: Final = 64
WRITERS: Final = 4
"""The tasks of each node that write at the same time."""
PAGE: Final = 1_000
_COUNTED_SECONDS: Final = 2.0
"""Within that time the server counts what the connections that have ended had seen."""
DATABASE: Final = "soak"


@final
@dataclass(slots=True)
class Count:
    """What was answered."""

    appended: Counter[RoomId] = field(default_factory=Counter)
    conflicts: int = 0
    duplicates: int = 0
    busy: int = 0
    """Appends that were given up because other nodes came first again and again."""
    rewritten: int = 0
    deleted: list[RoomId] = field(default_factory=list)
    faults: list[str] = field(default_factory=list)


@final
class Writer:
    """Writes for one node until it is time to stop."""

    def __init__(self, node: PostgresStore, number: int, luck: Random, count: Count) -> None:
        self._node = node
        self._number = number
        self._luck = luck
        self._count = count
        self._heads: Counter[RoomId] = Counter()
        self._sent = 0

    async def write(self, deadline: float) -> None:
        """Do one thing after another."""
        while monotonic() < deadline:
            match self._luck.random():
                case chance if chance < 0.9:
                    await self._append()
                case chance if chance < 0.95:
                    await self._summarise()
                case _:
                    await self._open_and_delete()

    async def _append(self) -> None:
        rooms = [RoomId(f"room {number}") for number in self._luck.sample(range(ROOMS), self._luck.randrange(1, ROOMS))]
        await asyncio.gather(*(self._append_to(room) for room in rooms))

    async def _append_to(self, room: RoomId) -> None:
        self._sent += 1
        terms = (FINISHED,) if self._luck.random() < 0.3 else ()
        sent = batch(b"x", command=key(f"{self._number}.{self._sent}"), summary=summary(*terms), feed=FEED)
        answer = await self._node.append(room, Version(self._heads[room]), sent)
        match answer:
            case Appended(version):
                self._heads[room] = version
                self._count.appended[room] += 1
            case Conflict(head):
                self._heads[room] = head
                self._count.conflicts += 1
            case Duplicate(_, last, _):
                self._heads[room] = last
                self._count.duplicates += 1
            case Unavailable(why) if "all the time" in why:
                self._count.busy += 1
            case Unavailable() | Unsure() | Damaged():
                self._count.faults.append(f"{room}: {answer}")

    async def _summarise(self) -> None:
        room = RoomId(f"room {self._luck.randrange(ROOMS)}")
        answer = await self._node.summarise(room, Version(self._heads[room]), summary(FINISHED))
        self._count.rewritten += isinstance(answer, Rewritten)
        if isinstance(answer, Damaged):
            self._count.faults.append(f"{room}: {answer}")

    async def _open_and_delete(self) -> None:
        self._sent += 1
        room = RoomId(f"short {self._number}.{self._sent}")
        answer = await self._node.append(room, NOTHING, ended(b"1", time=1))
        if not isinstance(answer, Appended):
            self._count.faults.append(f"{room}: {answer}")
        gone = await self._node.delete_rooms(FINISHED, TimeNs(ended(b"1", time=2).time), 10)
        if isinstance(gone, tuple):
            self._count.deleted += gone
        else:
            self._count.faults.append(f"deleting: {gone}")


async def soak(seconds: float, nodes: int, seed: int) -> Count:
    """Write for so many seconds, then look at what is stored."""
    found = programs()
    if found is None:
        raise SystemExit("PostgreSQL is not installed: apt-get install postgresql")
    count, luck = Count(), Random(seed)
    with running(found) as cluster:
        async with cluster.superuser() as db:
            await db.execute(f"CREATE DATABASE {DATABASE}")
        async with AsyncExitStack() as stack:
            stores = []
            for _ in range(nodes):
                stores.append(await opened(cluster.address(DATABASE)))
                stack.push_async_callback(stores[-1].close)
            writers = [Writer(store, at, Random(luck.random()), count) for at, store in enumerate(stores * WRITERS)]
            deadline = monotonic() + seconds
            await asyncio.gather(*(writer.write(deadline) for writer in writers))
            await _check(stores[0], count)
        await asyncio.sleep(_COUNTED_SECONDS)
        async with cluster.superuser(DATABASE) as db:
            deadlocks = await db.fetchval("SELECT deadlocks FROM pg_stat_database WHERE datname = current_database()")
        if deadlocks:
            count.faults.append(f"{deadlocks} deadlocks")
    return count


async def _check(store: PostgresStore, count: Count) -> None:
    for room, stored in count.appended.items():
        entries = await store.read(room)
        if not isinstance(entries, tuple) or len(entries) != stored:
            count.faults.append(f"{room}: not as it was answered")
    told, after = Counter[RoomId](), START
    while True:
        page = await store.feed(FEED, Cursor(after), PAGE)
        assert isinstance(page, tuple), page
        told.update(each.entries[0].room for each in page)
        if len(page) < PAGE:
            break
        after = page[-1].cursor
    if told != count.appended:
        count.faults.append("the feed is not what was answered")
    if len(count.deleted) != len(set(count.deleted)):
        count.faults.append("a room was deleted twice")


def main(arguments: Sequence[str] | None = None) -> int:
    """Soak, and print what was counted."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--minutes", type=float, default=10.0, help="how long (default: 10)")
    parser.add_argument("--nodes", type=int, default=3, help="nodes that write (default: 3)")
    parser.add_argument("--seed", type=int, help="of what is written (default: another one each time)")
    parsed = parser.parse_args(arguments)
    seed = Random().getrandbits(32) if parsed.seed is None else parsed.seed
    count = asyncio.run(soak(60 * parsed.minutes, parsed.nodes, seed))
    print(*count.faults, sep="\n", end="\n" if count.faults else "", file=sys.stderr)
    print(
        f"seed {seed}, {parsed.nodes} nodes, {parsed.minutes:g} minutes: {count.appended.total():,} appends, "
        f"{count.conflicts:,} conflicts, {count.duplicates:,} duplicates, {count.busy:,} given up, "
        f"{count.rewritten:,} summaries made anew, {len(count.deleted):,} rooms deleted; {len(count.faults)} faults"
    )
    return int(bool(count.faults))


if __name__ == "__main__":
    sys.exit(main())
