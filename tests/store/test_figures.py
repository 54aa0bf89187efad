"""The figures of a file for metrics."""

import asyncio
from pathlib import Path

from erqiwang_grpc.monitoring.histogram import Histogram
from erqiwang_grpc.store import NOTHING, RoomId
from erqiwang_grpc.store.figures import FileFigures, Measured
from erqiwang_grpc.store.memory import MemoryStore
from erqiwang_grpc.store.sqlite import SqliteStore
from tests.store.contract import batch


async def test_commits_are_timed_and_their_appends_counted(store: SqliteStore, path: Path) -> None:
    assert isinstance(store, Measured)
    await asyncio.gather(*(store.append(RoomId(f"room {number}"), NOTHING, batch(b"1")) for number in range(5)))
    commits = sum(store.commits.sizes.classes)
    assert store.commits.sizes.sum == 5
    assert 1 <= commits < 5, "they came together"
    assert sum(store.commits.seconds.classes) == commits
    assert store.commits.seconds.sum > 0
    found = store.figures()
    assert found == sizes(path)
    assert found.log_bytes > 0


def sizes(path: Path) -> FileFigures:
    return FileFigures(path.stat().st_size, path.with_name(f"{path.name}-wal").stat().st_size)


def test_memory_has_no_figures() -> None:
    assert not isinstance(MemoryStore(), Measured)


def test_a_number_on_a_bound_belongs_below_it() -> None:
    histogram = Histogram((1.0, 2.0))
    for number in (0.5, 1.0, 1.5, 2.0, 2.5):
        histogram.observe(number)
    assert histogram.classes == [2, 2, 1]
    assert histogram.sum == 7.5
