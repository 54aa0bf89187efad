"""Twins: an engine and the store in memory, to which the same is done at random. Both must answer alike."""

import asyncio
from abc import abstractmethod
from collections.abc import Awaitable, Callable
from functools import partial
from itertools import pairwise
from typing import TypeAlias

from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule

from erqiwang_grpc.store import (
    START,
    Actor,
    Batch,
    CommandId,
    CommandKey,
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

Ask: TypeAlias = Callable[[Store], Awaitable[object]]

ROOMS = st.sampled_from(["a", "b", "ж", "\0"]).map(RoomId)
ACTORS = st.sampled_from(["alice", "bob"]).map(Actor)
COMMANDS = st.sampled_from(["c1", "c2", "c3", ""]).map(CommandId)
TERMS = st.builds(Term, st.sampled_from(["player", "finished"]), st.sampled_from(["x", "y"]))
TIMES = st.integers(-3, 6).map(TimeNs)
SUMMARIES = st.builds(
    Summary,
    terms=st.lists(TERMS, unique=True, max_size=3).map(tuple),
    created=TIMES,
    ended=st.none() | TIMES,
    body=st.binary(max_size=20),
)
FEEDS = st.sampled_from(["p1", "p2"])
VERSIONS = st.integers(0, 9).map(Version)
BATCHES = st.builds(
    Batch,
    time=TIMES,
    actor=ACTORS,
    command=st.none() | st.builds(CommandKey, COMMANDS, st.binary(max_size=3)),
    rules_version=st.integers(0, 2**40),
    bodies=st.lists(st.binary(max_size=20), min_size=1, max_size=3).map(tuple),
    summary=SUMMARIES,
    feed=st.none() | FEEDS,
)
FINISHED = Term("finished", "x")


class Twins(RuleBasedStateMachine):
    """The engine, closed and opened again at will, answers as the memory does."""

    def __init__(self) -> None:
        super().__init__()
        self.runner = asyncio.Runner()
        self.memory = MemoryStore()
        self.engine = self.runner.run(self.opened())

    @abstractmethod
    async def opened(self) -> Store:
        """Open the engine, for the first time or again."""

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
            assert page == self.runner.run(self.engine.summaries(search, limit, after))
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
        self.runner.run(self.engine.close())
        self.engine = self.runner.run(self.opened())

    @invariant()
    def feeds_are_equal(self) -> None:
        for feed in ("p1", "p2"):
            self.agree(partial(told, feed=feed))
        self.agree(lambda store: store.rooms(RoomId(""), 100))

    def teardown(self) -> None:
        self.runner.run(self.engine.close())
        self.runner.close()

    def agree(self, ask: Ask) -> None:
        async def both() -> tuple[object, object]:
            return await ask(self.memory), await ask(self.engine)

        memory, engine = self.runner.run(both())
        assert memory == engine


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
