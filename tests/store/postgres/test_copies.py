"""Copies of a database that PostgreSQL's own tools made: they are stores of their own, and their feeds go on in order."""

import asyncio
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from erqiwang_grpc.__main__ import main
from erqiwang_grpc.store import NOTHING, START, Appended, Fed, RoomId, Version
from erqiwang_grpc.store.postgres import Address, Copied, PostgresStore, Taken, advice, open_store, schema
from erqiwang_grpc.store.postgres.connections import connect
from erqiwang_grpc.testing.cluster import Cluster, running
from tests.store.contract import FEED, batch, fed
from tests.store.postgres.conftest import opened
from tests.store.postgres.programs import needed

ROOM = RoomId("room")


@pytest.fixture
def elsewhere() -> Iterator[Cluster]:
    """Another cluster, which has given few numbers to transactions yet."""
    with running(needed()) as other:
        yield other


def tool(name: str, *arguments: str) -> None:
    subprocess.run([str(needed() / name), *arguments], check=True, capture_output=True)


async def grow(database: Address, number: int, feed: str = FEED) -> tuple[Fed, ...]:
    """Append so many batches; gives the whole feed."""
    node = await opened(database)
    entries = await node.read(ROOM)
    assert isinstance(entries, tuple)
    head = Version(len(entries))
    for _ in range(number):
        assert await node.append(ROOM, head, batch(b"%d" % head, feed=feed)) == Appended(Version(head + 1))
        head = Version(head + 1)
    told = await fed(node, limit=1_000, feed=feed)
    await node.close()
    return told


def bodies(told: tuple[Fed, ...]) -> list[bytes]:
    return [entry.body for each in told for entry in each.entries]


async def restored(database: Address, to: Cluster, name: str, folder: Path) -> Address:
    """The database from a dump, in another cluster or in the same one."""
    dump = str(folder / f"{name}.dump")
    await asyncio.to_thread(tool, "pg_dump", "--format=custom", f"--file={dump}", database.url)
    async with to.superuser() as db:
        await db.execute(f"CREATE DATABASE {name}")
    copy = to.address(name)
    await asyncio.to_thread(tool, "pg_restore", "--no-owner", f"--dbname={copy.url}", dump)
    return copy


async def test_a_dump_in_another_cluster_is_not_served_until_it_is_a_store_of_its_own(
    database: Address, elsewhere: Cluster, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    before = await grow(database, 20)
    copy = await restored(database, elsewhere, "restored", tmp_path)
    assert await open_store(copy, 0) == Copied(copy)
    assert "run `erqiwang store new-identity` on it once" in advice(Copied(copy))
    reader = await open_store(copy, 0, makes=False)
    assert isinstance(reader, PostgresStore), "its rooms may be read all the same"
    assert await reader.read(ROOM) == tuple(entry for each in before for entry in each.entries)
    await reader.close()
    original = await opened(database)
    identity = original.identity
    await original.close()
    assert await asyncio.to_thread(main, ["store", "new-identity", "--store", copy.url]) == 0
    renewed = capsys.readouterr().out.strip()
    assert renewed != identity
    after = await grow(copy, 20)
    assert bodies(after) == [b"%d" % number for number in range(40)]
    assert bodies(after[:20]) == bodies(before)
    node = await opened(copy)
    assert node.identity == renewed
    assert bodies(await fed(node, after[19].cursor)) == bodies(after[20:])
    await node.close()


async def test_without_numbers_of_its_own_the_feed_of_a_copy_would_be_wrong(
    database: Address, cluster: Cluster, elsewhere: Cluster, tmp_path: Path
) -> None:
    """What the command is for: the cluster of the dump was far ahead."""
    async with cluster.superuser() as db:
        for _ in range(2_000):
            await db.execute("SELECT pg_current_xact_id()")
    await grow(database, 5)
    copy = await restored(database, elsewhere, "restored", tmp_path)
    db = await connect(copy)
    await schema.stamp(db)
    await db.close()
    assert bodies(await grow(copy, 5)) != [b"%d" % number for number in range(10)]


async def test_a_copy_of_a_copy_is_numbered_anew_once_more(
    database: Address, cluster: Cluster, elsewhere: Cluster, tmp_path: Path
) -> None:
    await grow(database, 5)
    there = await restored(database, elsewhere, "there", tmp_path)
    assert await asyncio.to_thread(main, ["store", "new-identity", "--store", there.url]) == 0
    await grow(there, 5)
    back = await restored(there, cluster, "back", tmp_path)
    try:
        assert await asyncio.to_thread(main, ["store", "new-identity", "--store", back.url]) == 0
        assert bodies(await grow(back, 5)) == [b"%d" % number for number in range(15)]
    finally:
        async with cluster.superuser() as db:
            await db.execute("DROP DATABASE back WITH (FORCE)")


async def test_a_dump_beside_its_original_is_another_store_too(
    database: Address, cluster: Cluster, tmp_path: Path
) -> None:
    await grow(database, 5)
    copy = await restored(database, cluster, "beside", tmp_path)
    try:
        assert await open_store(copy, 0) == Copied(copy)
        assert await asyncio.to_thread(main, ["store", "new-identity", "--store", copy.url]) == 0
        assert bodies(await grow(copy, 5)) == [b"%d" % number for number in range(10)]
    finally:
        async with cluster.superuser() as db:
            await db.execute("DROP DATABASE beside WITH (FORCE)")


async def test_a_base_backup_goes_on_where_it_was_taken(
    database: Address, cluster: Cluster, elsewhere: Cluster, capsys: pytest.CaptureFixture[str]
) -> None:
    before = await grow(database, 5)
    copied = elsewhere.folder / "copy"
    elsewhere.stop()
    await asyncio.to_thread(
        tool, "pg_basebackup", f"--pgdata={copied}", "--checkpoint=fast", "--dbname", cluster.address("postgres").url
    )
    elsewhere.adopt(copied)
    copy = elsewhere.address(database.url.rpartition("/")[2])
    assert bodies(await grow(copy, 0)) == bodies(before)
    assert await asyncio.to_thread(main, ["store", "new-identity", "--store", copy.url]) == 0
    node = await opened(copy)
    assert node.identity == capsys.readouterr().out.strip()
    await node.close()
    assert bodies(await grow(copy, 5)) == [b"%d" % number for number in range(10)]


async def test_a_store_that_is_served_is_given_no_new_identity(
    database: Address, capsys: pytest.CaptureFixture[str]
) -> None:
    node = await opened(database)
    assert await asyncio.to_thread(main, ["store", "new-identity", "--store", database.url]) == 2
    assert "is open to servers or other commands" in capsys.readouterr().err
    again = await opened(database)
    assert again.identity == node.identity
    await again.close()
    await node.close()


async def test_no_server_starts_while_a_command_has_the_store_to_itself(database: Address) -> None:
    await grow(database, 1)
    db = await connect(database)
    await db.execute("SELECT pg_advisory_lock($1)", schema.ALONE)
    assert await open_store(database, 0) == Taken(database)
    await db.close()
    assert bodies(await grow(database, 1)) == [b"0", b"1"]


async def test_an_ordinary_role_needs_no_privilege_for_it(cluster: Cluster, tmp_path: Path) -> None:
    async with cluster.superuser() as db:
        await db.execute("CREATE ROLE keeper LOGIN")
        await db.execute("CREATE DATABASE kept OWNER keeper")
    try:
        kept = cluster.address("kept", user="keeper")
        await grow(kept, 3)
        assert await asyncio.to_thread(main, ["store", "new-identity", "--store", kept.url]) == 0
        assert await asyncio.to_thread(main, ["move", "--from", kept.url, "--to", str(tmp_path / "folder")]) == 0
        node = await opened(kept)
        assert bodies(await fed(node, START)) == [b"0", b"1", b"2"]
        assert await node.read(RoomId("none"), NOTHING) == ()
        await node.close()
    finally:
        async with cluster.superuser() as db:
            await db.execute("DROP DATABASE kept WITH (FORCE)")
            await db.execute("DROP ROLE keeper")
