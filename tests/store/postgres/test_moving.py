"""`erqiwang move`: a store arrives whole at another engine; an interrupted move is no store; others are left alone."""

import asyncio
import signal
import sqlite3
import subprocess
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, closing
from pathlib import Path
from typing import TypeAlias

import pytest

from erqiwang_grpc.__main__ import main
from erqiwang_grpc.rooms.registry import Rooms
from erqiwang_grpc.store import (
    NOTHING,
    START,
    Appended,
    Cursor,
    Damaged,
    Duplicate,
    Entry,
    Listed,
    RoomId,
    Store,
    StoreReader,
    Version,
)
from erqiwang_grpc.store.postgres import Address, PostgresStore, Taken, UnfinishedMove, advice, open_store
from erqiwang_grpc.store.sqlite import STORE_FILE, SqliteStore, open_store as open_file
from erqiwang_grpc.store.sqlite.moving import UNFINISHED
from erqiwang_grpc.testing.cluster import Cluster
from tests.durability.played import node_on, play, seated
from tests.store.contract import FEED, FINISHED, PLAYED, batch, ended, fed, key, names, summary
from tests.store.files import edit
from tests.store.postgres.test_lost import PATIENCE

Place: TypeAlias = Path | Address

ROOMS = 250
"""More than are compared at once."""
FEEDS = (FEED, "p2")


async def nodes_store(place: Place) -> Store:
    """The store at a place as a server opens it."""
    if isinstance(place, Address):
        async with asyncio.timeout(PATIENCE):
            # The lock of a process that has ended stays until the database sees that its connection is gone.
            while isinstance(node := await open_store(place), Taken):  # noqa: ASYNC110  # the database tells nobody
                await asyncio.sleep(0.1)
        assert isinstance(node, PostgresStore), node
        return node
    place.mkdir(exist_ok=True)
    store = await open_file(place / STORE_FILE)
    assert isinstance(store, SqliteStore), store
    return store


@asynccontextmanager
async def served(place: Place) -> AsyncIterator[Store]:
    store = await nodes_store(place)
    try:
        yield store
    finally:
        await store.close()


def named(place: Place) -> str:
    return place.url if isinstance(place, Address) else str(place)


def move(source: Place, target: Place) -> int:
    return main(["move", "--from", named(source), "--to", named(target)])


async def fill(store: Store, rooms: int = ROOMS, batches: int = 4) -> None:
    """Rooms that grow at the same time, in two feeds and in none, with commands, and matches that were played."""
    here = Rooms(node_on(store))
    played = [await seated(here, f"match {number}") for number in range(2)]

    async def grow(number: int) -> None:
        room, head = RoomId(f"room-\0ж-{number:05}"), NOTHING
        for step in range(batches):
            feed = (FEED, None, "p2")[(number + step) % 3]
            bodies = [b"%d.%d" % (number, step)] * (1 + step % 2)
            written = batch(
                *bodies,
                command=key(f"c{step}", b"%d" % step) if step % 2 else None,
                time=step,
                summary=summary(FINISHED, *((PLAYED,) if step % 2 else ()), created=number, ended=step or None),
                feed=feed,
            )
            answer = await store.append(room, head, written)
            assert isinstance(answer, Appended), answer
            head = answer.version
            if step == 1 and number < len(played):
                await play(played[number], 30)

    for first in range(0, rooms, 500):
        await asyncio.gather(*(grow(number) for number in range(first, min(first + 500, rooms))))


Content: TypeAlias = tuple[
    dict[RoomId, tuple[object, object]], dict[str, list[tuple[Entry, ...]]], list[str], list[str]
]


async def content(store: StoreReader) -> Content:
    """Everything that a store answers: each room with its summary, each feed in its order, and lists."""
    rooms: dict[RoomId, tuple[object, object]] = {}
    last = RoomId("")
    while page := await store.rooms(last, 100):
        assert isinstance(page, tuple)
        rooms |= {room: (await store.read(room), await store.summary(room)) for room in page}
        last = page[-1]
    told: dict[str, list[tuple[Entry, ...]]] = {}
    for feed in (*FEEDS, "local"):
        cursor: Cursor = START
        told[feed] = []
        while some := await store.feed(feed, cursor, 50):
            assert isinstance(some, tuple)
            told[feed] += [each.entries for each in some]
            cursor = some[-1].cursor
    return rooms, told, await names(store, FINISHED), await names(store, PLAYED)


async def content_at(place: Place) -> Content:
    async with served(place) as store:
        return await content(store)


@pytest.fixture
async def second(cluster: Cluster) -> AsyncIterator[Address]:
    """Another empty database."""
    async with cluster.superuser() as db:
        await db.execute("CREATE DATABASE second")
    yield cluster.address("second")
    async with cluster.superuser() as db:
        await db.execute("DROP DATABASE second WITH (FORCE)")


PLACES: list[tuple[str, str]] = [(one, other) for one in ("folder", "database") for other in ("folder", "database")]


@pytest.fixture(params=PLACES, ids=" to ".join)
def places(request: pytest.FixtureRequest, tmp_path: Path, database: Address, second: Address) -> tuple[Place, Place]:
    """Where a store is moved from, and where to."""
    one, other = request.param
    return (tmp_path / "one" if one == "folder" else database), (tmp_path / "other" if other == "folder" else second)


async def test_a_store_arrives_whole_and_goes_on(
    places: tuple[Place, Place], capsys: pytest.CaptureFixture[str]
) -> None:
    source, target = places
    async with served(source) as store:
        await fill(store)
        before, identity = await content(store), store.identity
    assert len(before[0]) == ROOMS + 2
    assert all(isinstance(found, Listed) for _, found in before[0].values())
    assert all(len(told) > 50 for told in (before[1][feed] for feed in FEEDS))
    assert await asyncio.to_thread(move, source, target) == 0
    said = capsys.readouterr()
    assert f"{ROOMS + 2} rooms, " in said.out
    async with served(target) as moved:
        assert await content(moved) == before
        assert moved.identity != identity
        assert moved.identity in said.out
        room = RoomId("room-\0ж-00001")
        repeated = batch(b"again", command=key("c1", b"1"))
        assert await moved.append(room, Version(99), repeated) == Duplicate(Version(2), Version(3), b"1")
        latest = await moved.latest()
        assert isinstance(latest, str)
        assert await moved.append(room, Version(6), batch(b"new", feed=FEED)) == Appended(Version(7))
        assert [each.entries[0].body for each in await fed(moved, latest)] == [b"new"]
        everything = await fed(moved, limit=10_000)
        assert [each.entries for each in everything[:-1]] == before[1][FEED]
        assert everything[-1].entries[0].body == b"new"
    assert await content_at(source) == before, "it is as it was"


async def test_it_may_be_run_again(places: tuple[Place, Place], capsys: pytest.CaptureFixture[str]) -> None:
    source, target = places
    async with served(source) as store:
        await fill(store, rooms=3)
    assert await asyncio.to_thread(move, source, target) == 0
    capsys.readouterr()
    assert await asyncio.to_thread(move, source, target) == 0
    assert "moved already; 5 rooms" in capsys.readouterr().out
    async with served(target) as store:
        assert isinstance(await store.append(RoomId("newer"), NOTHING, batch(b"1")), Appended)
    after = await content_at(target)
    assert await asyncio.to_thread(move, source, target) == 2
    assert "holds rooms already, which are not those of" in capsys.readouterr().err
    assert await content_at(target) == after


async def test_what_others_use_is_left_alone(places: tuple[Place, Place], capsys: pytest.CaptureFixture[str]) -> None:
    source, target = places
    for place, room in ((source, "mine"), (target, "another's")):
        async with served(place) as store:
            if place is target:
                assert await asyncio.to_thread(move, source, target) == 2, "the target is served"
            await store.append(RoomId(room), NOTHING, batch(b"1"))
            if place is source:
                assert await asyncio.to_thread(move, source, target) == 2, "the source is served"
    said = capsys.readouterr().err.splitlines()
    assert len(said) == 2
    assert all("stop th" in line for line in said)
    before = await content_at(target)
    assert await asyncio.to_thread(move, source, target) == 2
    assert "name an empty place" in capsys.readouterr().err
    assert await content_at(target) == before
    assert await asyncio.to_thread(move, source, source) == 2


async def test_an_interrupted_move_is_no_store_and_is_run_again(places: tuple[Place, Place]) -> None:
    source, target = places
    async with served(source) as store:
        await fill(store, rooms=200)
        before = await content(store)
    for _ in range(2):
        command = [sys.executable, "-m", "erqiwang_grpc", "move", "--from", named(source), "--to", named(target)]
        process = await asyncio.create_subprocess_exec(*command)
        try:
            while not await is_begun(target):
                assert process.returncode is None
                await asyncio.sleep(0.01)
        finally:
            process.kill()
            assert await process.wait() == -signal.SIGKILL
        await no_server_opens(target)
    assert await asyncio.to_thread(move, source, target) == 0
    assert await content_at(target) == before
    assert await content_at(source) == before


async def is_begun(target: Place) -> bool:
    if isinstance(target, Path):
        unfinished = target / f"{STORE_FILE}{UNFINISHED}"
        return await asyncio.to_thread(lambda: unfinished.exists() and unfinished.stat().st_size > 0)
    found = await open_store(target, 0, makes=False)
    if isinstance(found, PostgresStore):
        await found.close()
    return isinstance(found, UnfinishedMove)


async def no_server_opens(target: Place) -> None:
    if isinstance(target, Address):
        refused = await open_store(target, 0)
        assert isinstance(refused, UnfinishedMove), refused
        assert "run `erqiwang move` again" in advice(refused)
    else:
        command = [sys.executable, "-m", "erqiwang_grpc", "serve", "--port", "0", "--data", str(target)]
        ran = await asyncio.to_thread(subprocess.run, command, capture_output=True, text=True, check=False, timeout=60)
        assert ran.returncode == 2
        assert "run `erqiwang move` again" in ran.stderr


async def spoil(place: Place, cluster: Cluster, statement: str) -> None:
    """Damage a store. The statement is the same in both engines, but for how bytes and texts are written."""
    if isinstance(place, Path):
        edit(place / STORE_FILE, statement.replace("bytea ", "").replace("{", "'").replace("}", "'"))
        return
    async with cluster.superuser(place.url.rpartition("/")[2]) as db:
        await db.execute("SET search_path TO erqiwang")
        await db.execute(statement.replace("{", "convert_to('").replace("}", "', 'UTF8')").replace("x'", "'\\x"))


DAMAGES = {
    "a": "UPDATE batches SET bodies = bytea x'00000001ff' WHERE room = {a} AND last_version = 2",
    "b": "DELETE FROM rooms WHERE room = {b}",
    "c": "DELETE FROM batches WHERE room = {c} AND last_version = 3",
    "d": "UPDATE rooms SET version = 2 WHERE room = {d}",
    "e": "UPDATE rooms SET body = bytea x'ff' WHERE room = {e}",
    "f": "UPDATE batches SET actor = bytea x'ff' WHERE room = {f} AND last_version = 1",
}
SUMMARY_ONLY = {"e"}


async def test_a_damaged_room_stays_damaged_and_the_others_arrive(
    places: tuple[Place, Place], cluster: Cluster, capsys: pytest.CaptureFixture[str]
) -> None:
    source, target = places
    async with served(source) as store:
        for room in (*DAMAGES, "sound"):
            for version in range(3):
                written = ended(b"1", feed=FEED)
                assert isinstance(await store.append(RoomId(room), Version(version), written), Appended)
    for statement in DAMAGES.values():
        await spoil(source, cluster, statement)
    before = await content_at(source)
    assert await asyncio.to_thread(move, source, target) == 1
    said = capsys.readouterr()
    assert "7 rooms, " in said.out
    assert [line.partition(":")[0] for line in said.err.splitlines()] == [f"room {room}" for room in DAMAGES]
    rooms, told, _, _ = await content_at(target)
    assert told == before[1], "a feed tells the same of damaged rooms too"
    for name, (entries, found) in rooms.items():
        if name == "sound":
            assert (entries, found) == before[0][name]
        elif name in SUMMARY_ONLY:
            assert entries == before[0][name][0]
            assert isinstance(found, Damaged)
        else:
            assert isinstance(entries, Damaged)
    async with served(source) as store, served(target) as moved:
        for room in (*DAMAGES, "sound"):
            for head in (NOTHING, Version(3)):
                answer = await store.append(RoomId(room), head, batch(b"4"))
                assert await moved.append(RoomId(room), head, batch(b"4")) == answer


async def test_rows_that_only_sqlite_can_hold_are_left_out(
    tmp_path: Path, database: Address, capsys: pytest.CaptureFixture[str]
) -> None:
    source = tmp_path / "one"
    async with served(source) as store:
        for room in ("a", "b", "sound"):
            for version in range(3):
                await store.append(RoomId(room), Version(version), ended(b"1", feed=FEED))
    edit(source / STORE_FILE, "UPDATE batches SET time_ns = 'noon' WHERE room = 'a' AND last_version = 2")
    edit(source / STORE_FILE, "UPDATE rooms SET created_ns = 'noon' WHERE room = 'b'")
    before = await content_at(source)
    assert await asyncio.to_thread(move, source, database) == 1
    said = capsys.readouterr().err
    assert "1 damaged rows could not be written anywhere" in said
    assert "room a: from event 2 on" in said
    rooms = (await content_at(database))[0]
    assert isinstance(rooms[RoomId("a")][0], Damaged)
    assert rooms[RoomId("b")][0] == before[0][RoomId("b")][0]
    assert isinstance(rooms[RoomId("b")][1], Damaged)
    assert rooms[RoomId("sound")] == before[0][RoomId("sound")]


async def test_a_folder_whose_store_was_lost_is_no_empty_one(tmp_path: Path, database: Address) -> None:
    async with served(database) as store:
        await store.append(RoomId("a"), NOTHING, batch(b"1"))
    target = tmp_path / "other"
    async with served(target) as store:
        await store.append(RoomId("left in the log"), NOTHING, batch(b"1"))
        log = (target / f"{STORE_FILE}-wal").read_bytes()
    (target / STORE_FILE).unlink()
    (target / f"{STORE_FILE}-wal").write_bytes(log)
    assert await asyncio.to_thread(move, database, target) == 2
    assert not (target / STORE_FILE).exists()


async def test_what_is_moved_into_a_folder_is_for_its_owner_alone(tmp_path: Path, database: Address) -> None:
    async with served(database) as store:
        await store.append(RoomId("a"), NOTHING, batch(b"1"))
    target = tmp_path / "new" / "other"
    assert await asyncio.to_thread(move, database, target) == 0
    assert target.stat().st_mode & 0o077 == 0
    assert (target / STORE_FILE).stat().st_mode & 0o777 == 0o600
    assert [path.name for path in sorted(target.iterdir())] == [STORE_FILE, f"{STORE_FILE}.lock"]
    with closing(sqlite3.connect(target / STORE_FILE)) as db:
        assert db.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
        assert db.execute("PRAGMA journal_mode").fetchall() == [("wal",)]


def test_a_password_in_a_place_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["move", "--from", str(tmp_path), "--to", "postgresql://me:s3cret@db/rooms"]) == 2
    said = capsys.readouterr().err
    assert "a password in --to is seen by everybody" in said
    assert "s3cret" not in said
