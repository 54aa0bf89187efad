"""docs/clients.md: its service config does what the page says with a real server, and its numbers are those of the code."""

import asyncio
import re
import socket
from ast import literal_eval
from pathlib import Path
from typing import Final

import grpc
import pytest

from erqiwang_grpc.client.calls import bearer
from erqiwang_grpc.client.servers import _OPTIONS as OURS
from erqiwang_grpc.rooms.limits import Limits
from erqiwang_grpc.rpc.server import channel_options
from erqiwang_grpc.v1 import room_service_pb2 as pb, room_service_pb2_grpc as stubs
from tests.service.processes import serving
from tests.service.tables import PATIENCE

PAGE: Final = (Path(__file__).parents[2] / "docs" / "clients.md").read_text("utf-8")
CONFIG: Final = re.findall(r"^```json\n(.*?)^```$", PAGE, re.DOTALL | re.MULTILINE)[0]


def channel(address: str, config: str) -> grpc.aio.Channel:
    return grpc.aio.insecure_channel(address, [("grpc.service_config", config)])


async def test_a_call_waits_for_a_server_that_is_not_there_yet(tmp_path: Path) -> None:
    async with serving(tmp_path) as server:
        key = server.key
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port: int = free.getsockname()[1]
    async with channel(f"127.0.0.1:{port}", CONFIG.replace('"10s"', f'"{PATIENCE}s"')) as early:
        asked = asyncio.ensure_future(
            stubs.RoomServiceStub(early).QuoteRoom(pb.QuoteRoomRequest(), metadata=bearer(key))
        )
        while (state := early.get_state(try_to_connect=True)) is not grpc.ChannelConnectivity.TRANSIENT_FAILURE:
            await early.wait_for_state_change(state)
        assert not asked.done()
        async with serving(tmp_path, port=port):
            assert (await asked).ByteSize() > 0


async def test_a_call_ends_at_its_deadline_and_a_watch_does_not(tmp_path: Path) -> None:
    config = CONFIG.replace('"10s"', '"3s"')
    async with serving(tmp_path) as server, channel(server.address, config) as short:
        rooms, key = stubs.RoomServiceStub(short), bearer(server.key)
        watching = rooms.WatchRooms(pb.WatchRoomsRequest(), metadata=key)
        heard = asyncio.ensure_future(watching.read())
        done, _ = await asyncio.wait([heard], timeout=4)
        assert not done
        room = (await rooms.CreateRoom(pb.CreateRoomRequest(owner="alice", command_id="one"), metadata=key)).room
        told = await asyncio.wait_for(heard, PATIENCE)
        assert isinstance(told, pb.WatchRoomsResponse)
        assert told.events[0].room_id == room.room_id
        watching.cancel()
    async with channel(server.address, config) as nowhere:
        with pytest.raises(grpc.aio.AioRpcError) as error:
            await stubs.RoomServiceStub(nowhere).QuoteRoom(pb.QuoteRoomRequest(), metadata=key)
        assert error.value.code() is grpc.StatusCode.DEADLINE_EXCEEDED


def test_the_options_for_python_are_those_of_our_own_client() -> None:
    (block,) = re.findall(r"^options = (\[.*?\n\])$", PAGE, re.DOTALL | re.MULTILINE)
    shown = literal_eval(re.sub(r'\("grpc\.service_config", \w+\),.*', "", block))
    assert sorted(shown) == sorted(OURS)


def test_what_the_server_sets_is_said() -> None:
    limits = Limits()
    options = dict(channel_options(limits))
    assert (options["grpc.keepalive_time_ms"], options["grpc.keepalive_timeout_ms"]) == (3_000, 3_000)
    assert (options["grpc.http2.max_ping_strikes"], options["grpc.http2.min_ping_interval_without_data_ms"]) == (
        0,
        1_000,
    )
    for number in (limits.streams_per_connection, limits.connections):
        assert f"| {number:,} |" in PAGE
    assert f"| {limits.handshake_seconds} seconds |" in PAGE
    assert limits.message_bytes == 64 * 1024
