"""The database answers as memory does, whatever is done to both."""

import asyncio
from collections.abc import Awaitable, Callable
from functools import partial
from itertools import pairwise
from typing import TypeAlias

from hypothesis import settings, strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule, run_state_machine_as_test

from erqiwang_grpc.store import (
    START,
    Batch,
    Cursor,
    Fed,
    Moment,
    Page,
    Period,
    RoomId,
    Search,
    Store,
    Summary,
    Term,
    TimeNs,
    Version,
)
from erqiwang_grpc.store.memory import MemoryStore
from erqiwang_grpc.store.postgres import Address, PostgresStore
from tests.store.postgres.cluster import Cluster
from tests.store.postgres.conftest import opened
from tests.store.test_backends import BATCHES, FINISHED, ROOMS, SUMMARIES, TERMS, VERSIONS

TIMES = st.integers(0, 6).map(TimeNs)
Ask: TypeAlias = Callable[[Store], Awaitable[object]]


async def emptied(cluster: Cluster, database: Address) -> PostgresStore:
    """The database with no room in it."""
    node = await opened(database)
    async with cluster.superuser(database.url.rpartition("/")[2]) as db:
        await db.execute("TRUNCATE erqiwang.rooms, erqiwang.batches, erqiwang.found")
    return node


class Twins(RuleBasedStateMachine):
    """The database, opened again by another node at will."""

    def __init__(self, cluster: Cluster, database: Address) -> None:
        super().__init__()
        self.database = database
        self.runner = asyncio.Runner()
        self.memory = MemoryStore(shared=True)
        self.node = self.runner.run(emptied(cluster, database))

    @rule(room=ROOMS, expected=VERSIONS, batch=BATCHES)
    def append(self, room: RoomId, expected: Version, batch: Batch) -> None:
        self.agree(lambda store: store.append(room, expected, batch))

    @rule(room=ROOMS, batches=st.lists(BATCHES, min_size=1, max_size=5))
    def append_at_the_head(self, room: RoomId, batches: list[Batch]) -> None:
        for batch in batches:
            self.append(room, Version(len(self.runner.run(self.memory.read(room)))), batch)

    @rule(appends=st.lists(st.tuples(ROOMS, VERSIONS, BATCHES), max_size=6, unique_by=lambda each: each[0]))
    def append_together(self, appends: list[tuple[RoomId, Version, Batch]]) -> None:
        async def together(store: Store) -> list[object]:
            return list(await asyncio.gather(*(store.append(*each) for each in appends)))

        self.agree(together)

    @rule(room=ROOMS, after=VERSIONS)
    def read(self, room: RoomId, after: Version) -> None:
        self.agree(lambda store: store.read(room, after))
        self.agree(lambda store: store.first(room))
        self.agree(lambda store: store.summary(room))

    @rule(room=ROOMS, expected=VERSIONS, summary=SUMMARIES)
    def summarise(self, room: RoomId, expected: Version, summary: Summary) -> None:
        self.agree(lambda store: store.summarise(room, expected, summary))

    @rule(
        terms=st.lists(TERMS, min_size=1, max_size=3).map(tuple),
        moment=st.sampled_from(Moment),
        since=TIMES,
        until=TIMES,
        limit=st.integers(1, 4),
    )
    def lists(self, terms: tuple[Term, ...], moment: Moment, since: TimeNs, until: TimeNs, limit: int) -> None:
        search = Search(terms, moment, Period(since, until))
        after: Cursor | None = START
        while after is not None:
            page = self.runner.run(self.memory.summaries(search, limit, after))
            assert isinstance(page, Page)
            assert page == self.runner.run(self.node.summaries(search, limit, after))
            after = page.next

    @rule(before=TIMES)
    def delete(self, before: TimeNs) -> None:
        async def deleted(store: Store) -> set[RoomId]:
            gone = await store.delete_rooms(FINISHED, before, 100)
            assert isinstance(gone, tuple)
            return set(gone)

        self.agree(deleted)

    @rule()
    def reopen(self) -> None:
        self.runner.run(self.node.close())
        self.node = self.runner.run(opened(self.database))

    @invariant()
    def feeds_are_equal(self) -> None:
        for feed in ("p1", "p2"):
            self.agree(partial(told, feed=feed))
        self.agree(lambda store: store.rooms(RoomId(""), 100))

    def teardown(self) -> None:
        self.runner.run(self.node.close())
        self.runner.close()

    def agree(self, ask: Ask) -> None:
        async def both() -> tuple[object, object]:
            return await ask(self.memory), await ask(self.node)

        memory, database = self.runner.run(both())
        assert memory == database


async def told(store: Store, feed: str) -> list[object]:
    """What a feed tells, page by page. The cursors are each engine's own."""
    seen: list[Fed] = []
    while True:
        page = await store.feed(feed, seen[-1].cursor if seen else START, 3)
        assert isinstance(page, tuple)
        seen += page
        if len(page) < 3:
            break
    assert all(before.cursor != after.cursor for before, after in pairwise(seen))
    return [each.entries for each in seen]


def test_the_database_answers_as_memory_does(cluster: Cluster, database: Address) -> None:
    class Bound(Twins):
        def __init__(self) -> None:
            super().__init__(cluster, database)

    run_state_machine_as_test(Bound, settings=settings(max_examples=30, stateful_step_count=25))
