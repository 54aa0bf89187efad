"""A store that was restored or copied is another store: an old cursor is refused there, and says what to do."""

import asyncio
import shutil
from pathlib import Path

import grpc
import pytest

from erqiwang_grpc.__main__ import main
from erqiwang_grpc.client import CallRefused
from erqiwang_grpc.client.calls import bearer
from erqiwang_grpc.commands import store
from erqiwang_grpc.store.sqlite import STORE_FILE
from erqiwang_grpc.v1 import room_service_pb2 as pb
from tests.service.processes import serving
from tests.service.tables import PATIENCE, Served


async def told(service: Served, number: int, cursor: str = "") -> list[pb.RoomEvent]:
    async with asyncio.timeout(PATIENCE):
        watching = service.platform.watch(cursor)
        return [await anext(watching) for _ in range(number)]


async def refused_as_foreign(service: Served, cursor: str, page_token: str) -> None:
    with pytest.raises(CallRefused) as watching:
        await told(service, 1, cursor)
    assert (watching.value.reason, watching.value.code) == ("FOREIGN_CURSOR", grpc.StatusCode.FAILED_PRECONDITION)
    assert "watch again with an empty cursor" in str(watching.value)
    with pytest.raises(grpc.aio.AioRpcError) as listing:
        await service.rooms.ListRooms(pb.ListRoomsRequest(page_token=page_token), metadata=bearer(service.key))
    assert listing.value.code() is grpc.StatusCode.FAILED_PRECONDITION


async def test_a_cursor_from_before_a_restored_backup_is_refused_and_nothing_is_missed(tmp_path: Path) -> None:
    original, copy = tmp_path / "original", tmp_path / "copy"
    original.mkdir()
    async with serving(original) as server, grpc.aio.insecure_channel(server.address) as channel:
        service = server.speaking(channel)
        for number in range(3):
            await service.platform.create_room("alice", command_id=f"before {number}")
        assert await asyncio.to_thread(main, ["backup", str(copy), "--data", str(original)]) == 0
        for number in range(3):
            await service.platform.create_room("alice", command_id=f"lost {number}")
        heard = await told(service, 6)
        page = await service.rooms.ListRooms(pb.ListRoomsRequest(page_size=1), metadata=bearer(service.key))
    shutil.copy(original / "platform-key.txt", copy)
    async with serving(copy) as server, grpc.aio.insecure_channel(server.address) as channel:
        service = server.speaking(channel)
        after = await service.platform.create_room("alice", command_id="after")
        await refused_as_foreign(service, heard[-1].cursor, page.next_page_token)
        # What the refusal says to do tells of everything that stands, also in the place of what is lost.
        again = await told(service, 4)
        assert [event.room_id for event in again] == [*(event.room_id for event in heard[:3]), after.room_id]
        assert [event.version for event in again[:3]] == [event.version for event in heard[:3]]
        assert {event.room_id for event in heard} - {event.room_id for event in again} == {
            event.room_id for event in heard[3:]
        }
    async with serving(original) as server, grpc.aio.insecure_channel(server.address) as channel:
        service = server.speaking(channel)
        assert await told(service, 3, heard[2].cursor) == heard[3:], "the original is the store that it was"


async def test_a_copy_made_by_other_means_is_made_another_store(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    original, copy = tmp_path / "original", tmp_path / "copy"
    original.mkdir()
    async with serving(original) as server, grpc.aio.insecure_channel(server.address) as channel:
        service = server.speaking(channel)
        for number in range(2):
            await service.platform.create_room("alice", command_id=f"{number}")
        heard = await told(service, 2)
        page = await service.rooms.ListRooms(pb.ListRoomsRequest(page_size=1), metadata=bearer(service.key))
        assert await server.stop() == 0
    shutil.copytree(original, copy)
    capsys.readouterr()
    for arguments in (["identity"], ["new-identity"], ["identity"], ["identity", "--data", str(original)]):
        where = [] if "--data" in arguments else ["--data", str(copy)]
        assert await asyncio.to_thread(main, ["store", *arguments, *where]) == store.DONE
    before, made, after, of_original = capsys.readouterr().out.split()
    assert before == of_original != made == after
    async with serving(copy) as server, grpc.aio.insecure_channel(server.address) as channel:
        assert [line.get("store") for line in server.lines() if line["message"] == "store opened"][-1] == made
        await refused_as_foreign(server.speaking(channel), heard[0].cursor, page.next_page_token)


def test_where_there_is_no_store_none_is_made(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for command in (["store", "new-identity"], ["store", "identity"], ["compact"]):
        assert main([*command, "--data", str(tmp_path)]) == store.NOT_DONE
        assert f"{tmp_path / STORE_FILE} is not there" in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == []
