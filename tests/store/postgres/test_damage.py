"""A row that says something else than was written is noticed, stays in its room, and is never told as the truth."""

from typing import Final

import pytest

from erqiwang_grpc.store import (
    NOTHING,
    Appended,
    Damaged,
    Entry,
    Listed,
    Moment,
    Page,
    Rewritten,
    RoomId,
    Search,
    Term,
    Version,
)
from erqiwang_grpc.store.postgres import Address, PostgresStore
from erqiwang_grpc.testing.cluster import Cluster
from tests.store.contract import EVER, FEED, FINISHED, OTHER, ROOM, batch, bodies, fed, key, listed, names, summary

TERM: Final = Term("other", "term")
OF_ROOM: Final = summary(FINISHED, TERM, ended=5)
UNDER_THE_CHECKSUM: Final = [
    "room",
    "first_version",
    "last_version",
    "time_ns",
    "actor",
    "command",
    "fingerprint",
    "rules_version",
    "bodies",
    "feed",
    "chain",
]
ORDER_ALONE: Final = {"xid", "place"}
"""What says where in a feed a batch stands, and nothing of what happened."""
SEALED: Final = ["version", "chain", "terms", "created_ns", "ended_ns", "body", "seal"]
NO_PART_OF: Final = {Moment.CREATED: "ended_ns", Moment.ENDED: "created_ns"}
"""The moment that a list does not look at."""
INDEX: Final = ["key", "value", "created_ns", "room", "ended_ns"]


@pytest.fixture
async def filled(store: PostgresStore) -> PostgresStore:
    for room in (ROOM, OTHER):
        for version in range(5):
            written = batch(b"body", b"more", command=key(f"c{version}"), summary=OF_ROOM, feed=FEED)
            assert isinstance(await store.append(room, Version(2 * version), written), Appended)
    return store


async def spoil(cluster: Cluster, database: Address, table: str, column: str, where: str) -> None:
    """Let the column of a row say something else."""
    async with cluster.superuser(database.url.rpartition("/")[2]) as db:
        kind = await db.fetchval(
            "SELECT data_type FROM information_schema.columns"
            " WHERE table_schema = 'erqiwang' AND table_name = $1 AND column_name = $2",
            table,
            column,
        )
        otherwise = f"{column} + 1000" if kind == "bigint" else f"{column} || '\\x07'::bytea"
        changed = await db.execute(f"UPDATE erqiwang.{table} SET {column} = {otherwise} WHERE {where}")
        assert changed.startswith("UPDATE ")
        assert changed != "UPDATE 0"


async def delete(cluster: Cluster, database: Address, table: str, where: str) -> None:
    async with cluster.superuser(database.url.rpartition("/")[2]) as db:
        assert await db.execute(f"DELETE FROM erqiwang.{table} WHERE {where}") != "DELETE 0"


async def test_the_lists_above_leave_no_column_out(cluster: Cluster, filled: PostgresStore, database: Address) -> None:
    assert isinstance(filled, PostgresStore)
    async with cluster.superuser(database.url.rpartition("/")[2]) as db:
        rows = await db.fetch(
            "SELECT table_name, column_name FROM information_schema.columns WHERE table_schema = 'erqiwang'"
        )
    columns: dict[str, set[str]] = {}
    for table, column in rows:
        columns.setdefault(table, set()).add(column)
    assert columns == {
        "batches": {*UNDER_THE_CHECKSUM, *ORDER_ALONE},
        "rooms": {"room", *SEALED},
        "found": set(INDEX),
        "store": {"schema_version", "identity", "home"},
    }


@pytest.mark.parametrize("column", UNDER_THE_CHECKSUM)
async def test_a_batch_that_says_something_else(
    cluster: Cluster, filled: PostgresStore, database: Address, column: str
) -> None:
    await spoil(cluster, database, "batches", column, "room = 'room-1' AND last_version = 4")
    damaged = await filled.read(ROOM)
    assert isinstance(damaged, Damaged)
    assert (damaged.room, damaged.version) == (ROOM, 3)
    assert isinstance(await filled.first(ROOM), Entry), "its own batch is sound"
    told = [entry.version for each in await fed(filled) for entry in each.entries if entry.room == ROOM]
    assert not {3, 4} & set(told)
    assert await bodies(filled, OTHER) == [b"body", b"more"] * 5
    assert await filled.append(OTHER, Version(10), batch(b"x")) == Appended(Version(11))


@pytest.mark.parametrize("column", ["room", *SEALED])
async def test_a_head_or_a_summary_that_says_something_else(
    cluster: Cluster, filled: PostgresStore, database: Address, column: str
) -> None:
    await spoil(cluster, database, "rooms", column, "room = 'room-1'")
    assert isinstance(await filled.summary(ROOM), Damaged)
    page = await listed(filled, FINISHED)
    assert [each.room for each in page.rooms] == [OTHER]
    assert page.doubtful == (ROOM,)
    if column in ("room", "version", "chain"):
        assert isinstance(await filled.read(ROOM), Damaged)
        assert isinstance(await filled.append(ROOM, Version(10), batch(b"x")), Damaged)
        assert isinstance(await filled.append(ROOM, NOTHING, batch(b"x")), Damaged)
        assert isinstance(await filled.summarise(ROOM, Version(10), OF_ROOM), Damaged)
        stored = await filled.rooms(RoomId(""), 10)
        assert isinstance(stored, tuple)
        assert ROOM in stored
    else:
        assert len(await bodies(filled, ROOM)) == 10, "the events say all of it"
        assert await filled.summarise(ROOM, Version(10), OF_ROOM) == Rewritten()
        assert await filled.summary(ROOM) == Listed(ROOM, Version(10), OF_ROOM)
        assert await names(filled, FINISHED) == await names(filled, TERM) == [OTHER, ROOM]


@pytest.mark.parametrize("column", INDEX)
async def test_an_index_that_leads_to_something_else(
    cluster: Cluster, filled: PostgresStore, database: Address, column: str
) -> None:
    await spoil(cluster, database, "found", column, "room = 'room-1' AND key = 'finished'")
    assert isinstance(await filled.summary(ROOM), Damaged)
    for moment in Moment:
        page = await filled.summaries(Search((FINISHED,), moment, EVER), 10)
        assert isinstance(page, Page)
        assert len(page.rooms) == (2 if column == NO_PART_OF[moment] else 1)
    assert await filled.summarise(ROOM, Version(10), OF_ROOM) == Rewritten()
    assert await filled.summary(ROOM) == Listed(ROOM, Version(10), OF_ROOM)
    assert (await names(filled, FINISHED))[:2] == [OTHER, ROOM]


async def test_a_batch_that_is_gone(cluster: Cluster, filled: PostgresStore, database: Address) -> None:
    await delete(cluster, database, "batches", "room = 'room-1' AND last_version = 10")
    damaged = await filled.read(ROOM)
    assert isinstance(damaged, Damaged)
    assert damaged.version == 9
    assert isinstance(await filled.append(ROOM, Version(10), batch(b"x")), Damaged)
    assert isinstance(await filled.append(ROOM, Version(8), batch(b"x")), Damaged)
    await delete(cluster, database, "batches", "room = 'room-2' AND last_version = 2")
    assert isinstance(await filled.first(OTHER), Damaged)


async def test_a_room_whose_summary_is_damaged_is_not_deleted(
    cluster: Cluster, filled: PostgresStore, database: Address
) -> None:
    await spoil(cluster, database, "rooms", "body", "room = 'room-1'")
    for limit in (1, 10):
        gone = await filled.delete_rooms(FINISHED, batch(b"x", time=9).time, limit)
        assert gone == ((OTHER,) if limit == 1 else ())
    assert len(await bodies(filled, ROOM)) == 10
