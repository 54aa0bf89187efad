"""How SQLite carries out the lists: each by an index that is in the order of the list, so that a page costs what it holds."""

import sqlite3
from pathlib import Path
from typing import Final

import pytest

from erqiwang_grpc.store import Moment
from erqiwang_grpc.store.sqlite import SqliteStore, lists, open_store

STATEMENTS: Final = {
    "old matches": lists._OLD,
    "feed": lists._FEED,
    **{f"{moment.name}, one term": lists._BY_MOMENT[moment] + lists._NEWEST[moment] for moment in Moment},
    **{f"{moment.name}, two terms": lists._BY_MOMENT[moment] + lists._TOO + lists._NEWEST[moment] for moment in Moment},
    **{f"{moment.name}, how many it looked at": lists._LOOKED_AT[moment] for moment in Moment},
    **{f"{moment.name}, how far a page looks": lists._LAST_SCANNED[moment] for moment in Moment},
}


@pytest.mark.parametrize("statement", STATEMENTS.values(), ids=STATEMENTS.keys())
async def test_no_list_sorts_or_reads_a_table_through(tmp_path: Path, statement: str) -> None:
    store = await open_store(tmp_path / "rooms.db")
    assert isinstance(store, SqliteStore)
    db = sqlite3.connect(tmp_path / "rooms.db")
    plan = [step for *_, step in db.execute(f"EXPLAIN QUERY PLAN {statement}", ("",) * statement.count("?"))]
    db.close()
    await store.close()
    assert plan[0].startswith("SEARCH")
    assert not [step for step in plan if "SCAN" in step or "B-TREE" in step]
