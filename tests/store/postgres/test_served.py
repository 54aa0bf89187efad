"""`erqiwang serve --store postgresql://…`: two processes, one table."""

import asyncio
import os
import shutil
from contextlib import AsyncExitStack
from pathlib import Path

import grpc
import pytest
from grpc_health.v1 import health_pb2

from erqiwang_grpc.auth.files import PLATFORM_KEYS, SIGNING_KEYS
from erqiwang_grpc.client import SeatClient
from erqiwang_grpc.store.postgres import Address
from erqiwang_grpc.testing import in_phase, play_all, seated, served_apart
from erqiwang_grpc.testing.cluster import Cluster
from erqiwang_grpc.v1 import view_pb2
from tests.service.test_places import status, watch

FAST = ("--commands-per-second", "1000", "--platform-calls-per-second", "1000")


async def test_the_seats_of_a_table_play_on_two_nodes(database: Address, tmp_path: Path) -> None:
    folders = (tmp_path / "one", tmp_path / "two")
    flags = ("--store", database.url, *FAST)
    async with served_apart(folders[0], *flags, log=tmp_path / "log") as one:
        folders[1].mkdir(mode=0o700)
        for name in (PLATFORM_KEYS, SIGNING_KEYS):
            shutil.copy(folders[0] / name, folders[1] / name)
        async with (
            served_apart(folders[1], *flags) as two,
            grpc.aio.insecure_channel(one.address) as channel,
            AsyncExitStack() as stack,
        ):
            platform = await stack.enter_async_context(one.speaking(channel).platform)
            table = await seated(platform)
            clients = [
                await stack.enter_async_context(SeatClient([(one, two)[seat % 2].address], token))
                for seat, token in enumerate(table.tokens)
            ]
            async with asyncio.timeout(120):
                await play_all(clients, until=in_phase(view_pb2.PHASE_SETTLED))
            assert len({client.view.parts.progress.SerializeToString() for client in clients}) == 1
            assert not (folders[0] / "rooms.sqlite").exists()
            assert await two.stop() == 0
    assert one.said("database reached") == 1


async def test_health_says_that_the_database_is_away_until_it_is_back(
    cluster: Cluster, database: Address, tmp_path: Path
) -> None:
    file = tmp_path / "store"
    file.write_text(database.url)
    async with (
        served_apart(tmp_path / "data", "--store", str(file), log=tmp_path / "log") as server,
        grpc.aio.insecure_channel(server.address) as channel,
    ):
        watching = watch(channel)
        assert status(await watching.read()) == health_pb2.HealthCheckResponse.SERVING
        await asyncio.to_thread(cluster.stop)
        try:
            assert status(await watching.read()) == health_pb2.HealthCheckResponse.NOT_SERVING
        finally:
            await asyncio.to_thread(cluster.start)
        assert status(await watching.read()) == health_pb2.HealthCheckResponse.SERVING
        assert server.said("database away") >= 1
        assert server.said("database back") == 1
        assert server.said("open to others") == 1, "the file that may hold the password"


async def test_the_environment_names_the_database(
    database: Address, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(os.environ, "ERQIWANG_STORE", database.url.replace("postgres@", "postgres:s3cret@"))
    async with served_apart(tmp_path / "data", log=tmp_path / "log") as server:
        assert server.said("database reached") == 1
        assert "s3cret" not in server.log()
