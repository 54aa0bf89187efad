"""How PostgreSQL carries out the lists: each by an index that is in the order of the list, so that a page costs what it holds."""

from typing import Final

import pytest

from erqiwang_grpc.store import Moment
from erqiwang_grpc.store.postgres import Address, PostgresStore, lists
from erqiwang_grpc.store.postgres.connections import connect

_LIMITED: Final = " LIMIT 100"

STATEMENTS: Final = {
    "rooms": lists._ROOMS,
    "old matches": lists._OLD,
    "feed": lists._FEED,
    **{f"{moment.name}, one term": lists._BY_MOMENT[moment] + lists._NEWEST[moment] + _LIMITED for moment in Moment},
    **{f"{moment.name}, how many it looked at": lists._LOOKED_AT[moment] for moment in Moment},
    **{f"{moment.name}, how far a page looks": lists._LAST_SCANNED[moment] for moment in Moment},
}


@pytest.mark.parametrize("statement", STATEMENTS.values(), ids=STATEMENTS.keys())
async def test_no_list_reads_a_table_through(store: PostgresStore, database: Address, statement: str) -> None:
    assert store.outage is None
    db = await connect(database)
    parameters = sum(f"${number}" in statement for number in range(1, 10))
    await db.execute(f"PREPARE listed AS {statement}")
    rows = await db.fetch(f"EXPLAIN EXECUTE listed({', '.join(['NULL'] * parameters)})")
    await db.close()
    plan = [row[0] for row in rows]
    assert any(" using " in step for step in plan)
    assert not [step for step in plan if "Seq Scan" in step]


@pytest.mark.parametrize("name", [name for name in STATEMENTS if name != "rooms" and "looked at" not in name])
async def test_no_list_sorts(store: PostgresStore, database: Address, name: str) -> None:
    assert store.outage is None
    db = await connect(database)
    parameters = sum(f"${number}" in STATEMENTS[name] for number in range(1, 10))
    await db.execute(f"PREPARE listed AS {STATEMENTS[name]}")
    rows = await db.fetch(f"EXPLAIN EXECUTE listed({', '.join(['NULL'] * parameters)})")
    await db.close()
    assert not [row[0] for row in rows if "Sort" in row[0]]
