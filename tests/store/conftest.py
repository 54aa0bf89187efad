"""A file of the SQLite engine, for each test."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from erqiwang_grpc.store.sqlite import SqliteStore
from tests.store.files import opened


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "rooms.db"


@pytest.fixture
async def store(path: Path) -> AsyncIterator[SqliteStore]:
    store = await opened(path)
    yield store
    await store.close()
