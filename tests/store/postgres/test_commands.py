"""The commands that look at rooms, on a database."""

import asyncio
from pathlib import Path
from random import Random

import pytest
from erqiwang_core.match import Over

from erqiwang_grpc.__main__ import main
from erqiwang_grpc.archive.summaries import Scrub
from erqiwang_grpc.rooms.registry import Rooms
from erqiwang_grpc.store import Damaged, Listed, RoomId, StoreId
from erqiwang_grpc.store.postgres import Address
from erqiwang_grpc.testing.cluster import Cluster
from tests.durability.played import act, next_command, node_on, seated
from tests.store.postgres.conftest import opened


async def played(database: Address) -> tuple[RoomId, StoreId]:
    """A match that was played to its end on the database."""
    node = await opened(database)
    room = await seated(Rooms(node_on(node)))
    luck = Random(4)
    while not isinstance(room.match, Over):
        await act(room, *next_command(room.match, luck))
    await node.close()
    return room.id, node.identity


def test_a_match_in_a_database_is_exported_replayed_and_checked(
    database: Address, capsys: pytest.CaptureFixture[str]
) -> None:
    on = ["--store", database.url]
    assert main(["export", *on]) == 2
    assert "was not served by this version of erqiwang yet" in capsys.readouterr().err
    room, identity = asyncio.run(played(database))
    assert main(["store", "identity", *on]) == 0
    assert capsys.readouterr().out.strip() == identity
    assert main(["export", "--verify", *on]) == 0
    exported = capsys.readouterr()
    assert room in exported.out
    assert "1 written, 1 verified, 0 faulty" in exported.err
    assert main(["store", "rebuild", *on]) == 0
    assert capsys.readouterr().out.startswith("1 sound, 0 ")
    assert main(["replay", room, "--deal", "1", *on]) == 0
    assert capsys.readouterr().out
    assert main(["replay", "another", *on]) == 2
    assert f"there is no room another in {database}" in capsys.readouterr().err
    assert main(["store", "new-identity", *on]) == 0
    assert capsys.readouterr().out.strip() != identity


def test_what_is_for_folders_says_what_to_do_with_a_database(
    database: Address, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ERQIWANG_STORE", database.url)
    assert main(["backup", str(tmp_path / "copy")]) == 2
    assert "back a database up with pg_dump or pg_basebackup" in capsys.readouterr().err
    assert main(["compact", "--keep-days", "3"]) == 2
    assert "VACUUM FULL" in capsys.readouterr().err
    assert not (tmp_path / "copy").exists()


async def test_a_wrong_table_of_terms_is_found_and_rebuilt(
    database: Address, cluster: Cluster, capsys: pytest.CaptureFixture[str]
) -> None:
    room, _ = await played(database)
    on = ["--store", database.url]
    for spoilt in (
        "DELETE FROM erqiwang.found",
        "UPDATE erqiwang.found SET created_ns = created_ns + 1",
        "UPDATE erqiwang.rooms SET body = body || 'x'::bytea",
    ):
        async with cluster.superuser(database.url.rpartition("/")[2]) as db:
            await db.execute(spoilt)
        assert await asyncio.to_thread(main, ["export", "--verify", *on]) == 1
        assert f"room {room}: " in capsys.readouterr().err
        assert await asyncio.to_thread(main, ["store", "rebuild", *on]) == 0
        assert capsys.readouterr().out.startswith("0 sound, 1 rebuilt")
        assert await asyncio.to_thread(main, ["export", "--verify", *on]) == 0
        capsys.readouterr()


async def test_what_lists_hold_of_no_room_is_found(
    database: Address, cluster: Cluster, capsys: pytest.CaptureFixture[str]
) -> None:
    await played(database)
    on = ["--store", database.url]
    async with cluster.superuser(database.url.rpartition("/")[2]) as db:
        await db.execute("INSERT INTO erqiwang.found VALUES ('k', 'v', 1, 'gone', NULL)")
    assert await asyncio.to_thread(main, ["export", "--verify", *on]) == 1
    assert "lists lead to rooms that are not there" in capsys.readouterr().err


async def test_a_scrub_looks_over_a_database(database: Address, cluster: Cluster) -> None:
    room, _ = await played(database)
    async with cluster.superuser(database.url.rpartition("/")[2]) as db:
        await db.execute("DELETE FROM erqiwang.found")
    node = await opened(database)
    assert isinstance(await node.summary(room), Damaged)
    await Scrub(node).step()
    assert isinstance(await node.summary(room), Listed)
    await node.close()
