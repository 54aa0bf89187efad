"""Every backend passes its port's contract, and the two stores agree on whatever is done to them."""

import asyncio
import shutil
import tempfile
from collections.abc import AsyncIterator, Coroutine
from pathlib import Path

import pytest
from hypothesis import settings, strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule

from erqiwang_grpc.store import (
    START,
    Actor,
    Batch,
    CommandId,
    CommandKey,
    Cursor,
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
    Wakeup,
)
from erqiwang_grpc.store.memory import MemoryStore
from erqiwang_grpc.store.sqlite import SqliteStore, open_store
from erqiwang_grpc.store.wakeup import ProcessWakeup
from tests.store.contract import StoreContract, WakeupContract


async def opened(path: Path) -> SqliteStore:
    store = await open_store(path)
    assert isinstance(store, SqliteStore), store
    return store


class TestMemoryStore(StoreContract):
    @pytest.fixture
    def store(self) -> Store:
        return MemoryStore()


class TestSqliteStore(StoreContract):
    @pytest.fixture
    async def store(self, tmp_path: Path) -> AsyncIterator[Store]:
        store = await opened(tmp_path / "rooms.db")
        yield store
        await store.close()


class TestProcessWakeup(WakeupContract):
    @pytest.fixture
    def wakeup(self) -> Wakeup:
        return ProcessWakeup()


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
    """The file, closed and opened again at will, answers as the memory does."""

    def __init__(self) -> None:
        super().__init__()
        self.folder = Path(tempfile.mkdtemp())
        self.runner = asyncio.Runner()
        self.memory = MemoryStore()
        self.file = self.runner.run(opened(self.folder / "rooms.db"))

    @rule(room=ROOMS, expected=VERSIONS, batch=BATCHES)
    def append(self, room: RoomId, expected: Version, batch: Batch) -> None:
        self._agree(self.memory.append(room, expected, batch), self.file.append(room, expected, batch))

    @rule(room=ROOMS, batches=st.lists(BATCHES, min_size=1, max_size=5))
    def append_at_the_head(self, room: RoomId, batches: list[Batch]) -> None:
        for batch in batches:
            self.append(room, Version(len(self.runner.run(self.memory.read(room)))), batch)

    @rule(room=ROOMS, after=VERSIONS)
    def read(self, room: RoomId, after: Version) -> None:
        self._agree(self.memory.read(room, after), self.file.read(room, after))
        self._agree(self.memory.summary(room), self.file.summary(room))

    @rule(room=ROOMS, expected=VERSIONS, summary=SUMMARIES)
    def summarise(self, room: RoomId, expected: Version, summary: Summary) -> None:
        self._agree(self.memory.summarise(room, expected, summary), self.file.summarise(room, expected, summary))

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
            assert page == self.runner.run(self.file.summaries(search, limit, after))
            after = page.next

    @rule(before=TIMES)
    def delete(self, before: TimeNs) -> None:
        gone = self.runner.run(self.memory.delete_rooms(FINISHED, before, 100))
        deleted = self.runner.run(self.file.delete_rooms(FINISHED, before, 100))
        assert isinstance(deleted, tuple)
        assert set(gone) == set(deleted)

    @rule()
    def compact(self) -> None:
        self.runner.run(self.file.compact())

    @rule()
    def reopen(self) -> None:
        self.runner.run(self.file.close())
        self.file = self.runner.run(opened(self.folder / "rooms.db"))

    @invariant()
    def feeds_are_equal(self) -> None:
        for feed in ("p1", "p2"):
            self._agree(self.memory.feed(feed, START, 100), self.file.feed(feed, START, 100))
        self._agree(self.memory.latest(), self.file.latest())
        assert self.runner.run(self.file.faults()) == ()
        self._agree(self.memory.rooms(RoomId(""), 100), self.file.rooms(RoomId(""), 100))

    def teardown(self) -> None:
        self.runner.run(self.file.close())
        self.runner.close()
        shutil.rmtree(self.folder)

    def _agree(self, memory: Coroutine[object, object, object], file: Coroutine[object, object, object]) -> None:
        assert self.runner.run(memory) == self.runner.run(file)


TestTwins = Twins.TestCase
TestTwins.settings = settings(max_examples=40, stateful_step_count=30)
