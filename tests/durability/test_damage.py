"""A damaged, full, foreign or taken log under a real server: clear refusals, nothing overwritten, other rooms go on."""

import asyncio
import resource
import sqlite3
import sys
from collections.abc import Callable
from pathlib import Path

import grpc
import pytest
from erqiwang_core.match import Disband

from erqiwang_grpc.__main__ import main
from erqiwang_grpc.client.calls import CallRefused, refusal_of
from erqiwang_grpc.commands import data_folder, export
from erqiwang_grpc.rooms.command import Accepted
from erqiwang_grpc.rooms.registry import Rooms
from erqiwang_grpc.store.sqlite import STORE_FILE, SqliteStore, open_store
from erqiwang_grpc.tools import replay
from erqiwang_grpc.v1 import seat_service_pb2 as pb
from tests.durability.played import administer, node_on, opened, seated as seated_without_a_port
from tests.service.processes import REPOSITORY, ServerProcess, serving
from tests.service.tables import PATIENCE, Served, Table, act, acting, seated, seen, step

ROOM_GONE = "restore the room from a backup"


async def cannot_serve(folder: Path) -> str:
    """Start a server that is to refuse; what it says."""
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "erqiwang_grpc", "serve", "--port", "0", "--data", str(folder),
        stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.PIPE, cwd=REPOSITORY,
    )  # fmt: skip
    out, err = await asyncio.wait_for(process.communicate(), PATIENCE)
    assert process.returncode == 2
    assert out == b""
    return err.decode().splitlines()[-1]


async def two_tables(folder: Path) -> tuple[Table, Table]:
    """A store with two rooms in play, left by a server that has stopped."""
    async with serving(folder) as server, grpc.aio.insecure_channel(server.address) as channel:
        service = server.speaking(channel)
        tables = await seated(service.platform), await seated(service.platform)
        for table in tables:
            for _ in range(12):
                await step(service, table)
        await server.stop()
    return tables


def edit(folder: Path, statement: str, *values: str) -> None:
    """What a disk, or somebody with a shell, might do."""
    db = sqlite3.connect(folder / STORE_FILE, isolation_level=None)
    db.execute(statement, values)
    db.close()


DAMAGE = [
    pytest.param(
        "UPDATE batches SET bodies = CAST(substr(bodies, 1, 5) || x'77' || substr(bodies, 7) AS BLOB)"
        " WHERE room = ? AND last_version = 9",
        id="a flipped byte",
    ),
    pytest.param(
        "DELETE FROM batches WHERE position = (SELECT max(position) FROM batches WHERE room = ?)",
        id="a missing last event",
    ),
]


@pytest.mark.parametrize("statement", DAMAGE)
async def test_a_damaged_room_is_refused_and_the_others_go_on(
    tmp_path: Path, statement: str, capsys: pytest.CaptureFixture[str]
) -> None:
    damaged, whole = await two_tables(tmp_path)
    edit(tmp_path, statement, damaged.room_id)
    async with serving(tmp_path) as server, grpc.aio.insecure_channel(server.address) as channel:
        service = server.speaking(channel)
        for call in (service.platform.room, service.platform.record):
            with pytest.raises(CallRefused) as refused:
                await call(damaged.room_id)
            assert refused.value.reason == "ROOM_QUARANTINED"
        with pytest.raises(grpc.aio.AioRpcError) as closed:
            await seen(service, damaged, 0)
        assert refusal_of(closed.value).reason == "ROOM_QUARANTINED"
        listed = {room.room_id for room in await service.platform.rooms()}
        assert listed == {damaged.room_id, whole.room_id}, "a list opens no room"
        for _ in range(20):
            await step(service, whole)
        assert (await service.platform.record(whole.room_id)).summary.room_id == whole.room_id
        assert server.said("room damaged") > 0
        assert ROOM_GONE in server.log()
        # Beside the running server.
        assert await asyncio.to_thread(main, ["export", "--verify", "--data", str(tmp_path)]) == export.FAULTY
        assert await asyncio.to_thread(main, ["replay", damaged.room_id, "--data", str(tmp_path)]) == replay.CUT_OFF
    told = capsys.readouterr()
    assert ROOM_GONE in told.err
    assert whole.room_id in told.out
    assert damaged.room_id not in told.out


async def test_a_second_server_on_the_same_log_is_refused_and_the_first_goes_on(tmp_path: Path) -> None:
    async with serving(tmp_path) as server, grpc.aio.insecure_channel(server.address) as channel:
        service = server.speaking(channel)
        table = await seated(service.platform)
        said = await cannot_serve(tmp_path)
        assert f"process {server.process.pid}" in said
        assert "another folder" in said
        await step(service, table)


def newer(folder: Path) -> None:
    edit(folder, "PRAGMA user_version = 99")


def read_only(folder: Path) -> None:
    (folder / STORE_FILE).chmod(0o444)


def foreign(folder: Path) -> None:
    (folder / STORE_FILE).write_bytes(b"somebody's diary" * 1000)


@pytest.mark.parametrize(
    ("spoil", "advice"),
    [
        pytest.param(newer, "use a newer version of erqiwang", id="a newer version"),
        pytest.param(read_only, "give write permission", id="a read-only file"),
        pytest.param(foreign, "move it away", id="a file that is none of ours"),
    ],
)
async def test_a_log_that_cannot_be_served_is_left_as_it_is(
    tmp_path: Path, spoil: Callable[[Path], None], advice: str
) -> None:
    await two_tables(tmp_path)
    spoil(tmp_path)
    before = (tmp_path / STORE_FILE).read_bytes()
    said = await cannot_serve(tmp_path)
    assert str(tmp_path / STORE_FILE) in said
    assert advice in said
    assert (tmp_path / STORE_FILE).read_bytes() == before


def limit_files(server: ServerProcess, size: int) -> None:
    """Let the server's files grow to no more than that: a disk that is full, for this process alone."""
    resource.prlimit(server.process.pid, resource.RLIMIT_FSIZE, (size, resource.RLIM_INFINITY))


SMALL = 20_000
"""Bytes: less than the log has written, more than the server says to standard error."""


async def test_on_a_full_disk_commands_are_refused_and_go_on_once_there_is_room(tmp_path: Path) -> None:
    async with (
        serving(tmp_path, "--commands-per-second", "100000") as server,
        grpc.aio.insecure_channel(server.address) as channel,
    ):
        service = server.speaking(channel)
        table = await seated(service.platform)
        await step(service, table)
        before = await seen(service, table, 0)
        limit_files(server, SMALL)
        turn = await acting(service, table)
        assert turn is not None
        for _ in range(3):
            await is_unavailable(service, table, *turn)
        assert await seen(service, table, 0) == before, "nothing was done, and the room can be read"
        with pytest.raises(CallRefused) as refused:
            await service.platform.create_room("bob")
        assert refused.value.reason == "STORE_UNAVAILABLE"
        assert server.said("store unavailable") > 0
        limit_files(server, resource.RLIM_INFINITY)
        accepted = (await act(service, table, *turn, "once")).accepted
        assert accepted.first_version == before.version + 1
        for _ in range(30):
            await step(service, table)
    async with serving(tmp_path) as server, grpc.aio.insecure_channel(server.address) as channel:
        service = server.speaking(channel)
        assert (await act(service, table, *turn, "once")).accepted.repeated_command
    assert await asyncio.to_thread(main, ["export", "--verify", "--data", str(tmp_path)]) == export.DONE


async def is_unavailable(service: Served, table: Table, seat: int, command: pb.Command) -> None:
    with pytest.raises(grpc.aio.AioRpcError) as refused:
        await act(service, table, seat, command, "once")
    assert refused.value.code() is grpc.StatusCode.UNAVAILABLE
    assert refusal_of(refused.value).reason == "STORE_UNAVAILABLE"


def test_a_folder_without_a_log_is_no_data_folder(tmp_path: Path) -> None:
    with pytest.raises(data_folder.NoStore, match="is not there"):
        asyncio.run(data_folder.reader(tmp_path))
    assert list(tmp_path.iterdir()) == []


async def one_room(folder: Path) -> str:
    """A store with a room whose match nobody began, and one that has begun."""
    store = await open_store(folder / STORE_FILE)
    assert isinstance(store, SqliteStore)
    rooms = Rooms(node_on(store))
    room, begun = await opened(rooms, "waiting"), await seated_without_a_port(rooms, "begun")
    assert isinstance(await administer(begun, Disband()), Accepted)
    await store.close()
    return room.id


UNSEEN = [
    pytest.param("DELETE FROM rooms WHERE room = ?", "restore the room from a backup", id="the head of a room is gone"),
    pytest.param("DELETE FROM batches WHERE room = ?", "restore the room from a backup", id="only its head is there"),
    pytest.param(
        "UPDATE found SET created_ns = created_ns + 1 WHERE room = ?",
        "the table of terms does not fit",
        id="the time of an index entry",
    ),
    pytest.param(
        "DELETE FROM found WHERE key = 'state' AND room = ?",
        "the table of terms does not fit",
        id="an index entry is gone",
    ),
    pytest.param(
        "INSERT INTO found SELECT 'ended', '', created_ns, room, NULL FROM rooms WHERE room = ?",
        "the table of terms does not fit",
        id="an index entry too many",
    ),
    pytest.param(
        "INSERT INTO found SELECT 'state', 'open', created_ns, 'nowhere', NULL FROM rooms WHERE room = ?",
        "the table of terms does not fit",
        id="an index entry of a room that is not there",
    ),
]


@pytest.mark.parametrize(("statement", "found"), UNSEEN)
def test_what_no_list_shows_is_found_by_an_export_that_verifies(
    tmp_path: Path, statement: str, found: str, capsys: pytest.CaptureFixture[str]
) -> None:
    room = asyncio.run(one_room(tmp_path))
    assert main(["export", "--verify", "--data", str(tmp_path)]) == export.DONE
    assert "1 written, 2 verified, 0 faulty" in capsys.readouterr().err
    edit(tmp_path, statement, room)
    assert main(["export", "--verify", "--data", str(tmp_path)]) == export.FAULTY
    assert found in capsys.readouterr().err


def test_a_bit_that_flips_in_an_index_alone_is_found_by_an_export_that_verifies(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The entry itself, on the disk: no statement would write an index otherwise than its table."""
    asyncio.run(one_room(tmp_path))
    db = sqlite3.connect(tmp_path / STORE_FILE)
    ((page,),) = db.execute("SELECT rootpage FROM sqlite_schema WHERE name = 'found_by_end'").fetchall()
    ((time,),) = db.execute("SELECT ended_ns FROM found WHERE ended_ns IS NOT NULL LIMIT 1").fetchall()
    ((size,),) = db.execute("PRAGMA page_size").fetchall()
    db.close()
    raw = bytearray((tmp_path / STORE_FILE).read_bytes())
    raw[raw.index(time.to_bytes(8, "big"), size * (page - 1)) + 6] ^= 0x40
    (tmp_path / STORE_FILE).write_bytes(raw)
    assert main(["export", "--verify", "--data", str(tmp_path)]) == export.FAULTY
    assert "the file: " in capsys.readouterr().err
