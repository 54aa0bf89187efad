"""Every backend passes its port's contract, and the two stores agree on whatever is done to them."""

import shutil
import tempfile
from collections.abc import AsyncIterator
from functools import partial
from pathlib import Path

import pytest
from hypothesis import settings
from hypothesis.stateful import invariant, rule

from erqiwang_grpc.store import START, SideMessages, Store, Wakeup
from erqiwang_grpc.store.memory import MemoryStore
from erqiwang_grpc.store.side_messages import ProcessSideMessages
from erqiwang_grpc.store.sqlite import SqliteStore, open_store
from erqiwang_grpc.store.wakeup import ProcessWakeup
from tests.store.contract import SideMessagesContract, StoreContract, WakeupContract
from tests.store.twins import Twins


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


class TestProcessSideMessages(SideMessagesContract):
    @pytest.fixture
    def nodes(self) -> tuple[SideMessages, SideMessages]:
        both = ProcessSideMessages()
        return both, both


async def whole_feed(store: Store, feed: str) -> object:
    return await store.feed(feed, START, 100)


class SqliteTwins(Twins):
    """A file. Its cursors are those of the memory, too, and it finds no fault in itself."""

    def __init__(self) -> None:
        self.folder = Path(tempfile.mkdtemp())
        super().__init__()

    async def opened(self) -> SqliteStore:
        self.file = await opened(self.folder / "rooms.db")
        return self.file

    @rule()
    def compact(self) -> None:
        self.runner.run(self.file.compact())

    @invariant()
    def cursors_are_equal_and_nothing_is_faulty(self) -> None:
        for feed in ("p1", "p2"):
            self.agree(partial(whole_feed, feed=feed))
        self.agree(lambda store: store.latest())
        assert self.runner.run(self.file.faults()) == ()

    def teardown(self) -> None:
        super().teardown()
        shutil.rmtree(self.folder)


TestTwins = SqliteTwins.TestCase
TestTwins.settings = settings(max_examples=40, stateful_step_count=30)
