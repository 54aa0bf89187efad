"""A table that is moved while its server is stopped: it is played on at the new place, with the same tokens and ids."""

import asyncio
import shutil
from contextlib import AsyncExitStack
from pathlib import Path

import grpc
import pytest

from erqiwang_grpc.__main__ import main
from erqiwang_grpc.auth.files import FIRST_KEY, PLATFORM_KEYS, SIGNING_KEYS
from erqiwang_grpc.client import SeatClient
from erqiwang_grpc.store.postgres import Address
from erqiwang_grpc.testing import Table, in_phase, play_all, seated, served_apart
from erqiwang_grpc.v1 import room_service_pb2 as pb, view_pb2
from tests.durability.test_another_store import refused_as_foreign, told
from tests.service.tables import Served

FAST = ("--commands-per-second", "1000", "--platform-calls-per-second", "1000")


async def play_until(service: Served, table: Table, phase: "view_pb2.Phase.ValueType") -> None:
    async with AsyncExitStack() as stack:
        clients = [
            await stack.enter_async_context(SeatClient([service.address], token, last_version=0))
            for token in table.tokens
        ]
        async with asyncio.timeout(120):
            await play_all(clients, until=in_phase(phase))


async def moved(source: str, target: str) -> None:
    assert await asyncio.to_thread(main, ["move", "--from", source, "--to", target]) == 0


async def exported(place: str, capsys: pytest.CaptureFixture[str]) -> str:
    capsys.readouterr()
    assert await asyncio.to_thread(main, ["export", "--verify", "--store", place]) == 0
    return capsys.readouterr().out


async def test_a_match_goes_on_in_a_database_and_in_a_folder_again(
    database: Address, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    one, other = tmp_path / "one", tmp_path / "other"
    async with served_apart(one, *FAST) as server, grpc.aio.insecure_channel(server.address) as channel:
        service = server.speaking(channel)
        created = await service.platform.create_room("alice", command_id="a room")
        table = await seated(service.platform)
        await play_until(service, table, view_pb2.PHASE_PLAYING)
        heard = await told(service, 2)
        listed = await service.rooms.ListRooms(
            pb.ListRoomsRequest(page_size=1), metadata=(("authorization", f"Bearer {service.key}"),)
        )
        assert await server.stop() == 0
    await moved(str(one), database.url)
    assert await exported(str(one), capsys) == await exported(database.url, capsys)
    async with (
        served_apart(one, "--store", database.url, *FAST) as server,
        grpc.aio.insecure_channel(server.address) as channel,
    ):
        service = server.speaking(channel)
        again = await service.platform.create_room("alice", command_id="a room")
        assert again.room_id == created.room_id
        await refused_as_foreign(service, heard[-1].cursor, listed.next_page_token)
        assert [event.room_id for event in await told(service, 2)] == [event.room_id for event in heard]
        await play_until(service, table, view_pb2.PHASE_SETTLED)
        assert await server.stop() == 0
    before = await exported(database.url, capsys)
    await moved(database.url, str(other))
    assert await exported(str(other), capsys) == before
    for name in (PLATFORM_KEYS, SIGNING_KEYS, FIRST_KEY):
        shutil.copy(one / name, other / name)
    async with served_apart(other, *FAST) as server, grpc.aio.insecure_channel(server.address) as channel:
        service = server.speaking(channel)
        assert (await service.platform.create_room("alice", command_id="a room")).room_id == created.room_id
        await play_until(service, table, view_pb2.PHASE_SETTLED)
        assert await server.stop() == 0
