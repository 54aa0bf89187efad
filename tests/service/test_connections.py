"""The options of the gRPC server: what each bounds, shown by connections that say nothing, or asserted with the reason."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from time import monotonic
from typing import Final

import pytest
from hyperframe.frame import SettingsFrame

from erqiwang_grpc.rooms.limits import Limits
from erqiwang_grpc.rpc.server import channel_options
from tests.service.tables import PATIENCE, ROOMY, Service, served

BEGINNING: Final = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"
"""What a client says first; its settings must follow."""
SETTINGS: Final = SettingsFrame(0).serialize()


@asynccontextmanager
async def connected(service: Service, said: bytes) -> AsyncIterator[asyncio.StreamReader]:
    """What the server says on a connection of its own on which so much was said."""
    reader, writer = await asyncio.open_connection("127.0.0.1", service.server.port)
    try:
        writer.write(said)
        yield reader
    finally:
        writer.close()


async def closed(reader: asyncio.StreamReader) -> bool:
    """Whether the server closes the connection while a test has patience."""
    try:
        async with asyncio.timeout(PATIENCE / 4):
            await reader.read(-1)
    except ConnectionError:
        return True
    except TimeoutError:
        return False
    return True


@pytest.mark.parametrize("said", [b"", BEGINNING[:5], BEGINNING], ids=["nothing", "half", "no settings"])
async def test_a_connection_that_does_not_begin_is_closed(tmp_path: Path, said: bytes) -> None:
    async with served(tmp_path, limits=replace(ROOMY, handshake_seconds=1)) as service:
        began = monotonic()
        async with connected(service, said) as silent, connected(service, BEGINNING + SETTINGS) as begun:
            assert await closed(silent)
            assert monotonic() - began > 0.5, "it had its second"
            assert await begun.read(9), "the settings of the server"
            with pytest.raises(TimeoutError):
                await asyncio.wait_for(begun.read(-1), 0.5)


async def test_a_connection_beyond_the_most_is_closed(tmp_path: Path) -> None:
    async with (
        served(tmp_path, limits=replace(ROOMY, connections=3)) as service,
        connected(service, BEGINNING + SETTINGS) as first,
        connected(service, BEGINNING + SETTINGS) as second,
    ):
        async with connected(service, BEGINNING + SETTINGS) as third:
            for reader in (first, second, third):
                assert await asyncio.wait_for(reader.readexactly(9), PATIENCE)
            async with connected(service, BEGINNING + SETTINGS) as fourth:
                assert await closed(fourth)
        assert await let_in(service), "a place is free again"


async def let_in(service: Service) -> bool:
    """Connect, once the server has seen that the connection before is gone."""
    async with asyncio.timeout(PATIENCE):
        while True:
            async with connected(service, BEGINNING + SETTINGS) as reader:
                try:
                    if await reader.read(9):
                        return True
                except ConnectionError:
                    pass
            await asyncio.sleep(0.01)


def test_each_option_is_set() -> None:
    """What most of them prevent takes minutes, gigabytes or a proxy to be seen; so each stands here with its reason."""
    limits = Limits(
        backlog=400,
        streams_per_connection=7,
        connections=8,
        handshake_seconds=9,
        frozen_seconds=5.0,
        message_bytes=1234,
    )
    options = channel_options(limits)
    assert dict(options) == {
        # A stranger's calls that wait fill the memory: refused by chance from the one, always from the other.
        "grpc.server.max_pending_requests": 400,
        "grpc.server.max_pending_requests_hard_limit": 500,
        # Seen in `test_places.py`, and above.
        "grpc.max_concurrent_streams": 7,
        "grpc.max_allowed_incoming_connections": 8,
        "grpc.server_handshake_timeout_ms": 9_000,
        # A ping after half of the time, and its answer within the other half; also while no call is open. The stack
        # waits 20 seconds and 1 minute for the answer if it is not told, each by an option of its own.
        "grpc.keepalive_time_ms": 2_500,
        "grpc.keepalive_timeout_ms": 2_500,
        "grpc.http2.ping_timeout_ms": 2_500,
        "grpc.keepalive_permit_without_calls": 1,
        # By default the stack sends no ping for five minutes where no data flows.
        "grpc.http2.min_ping_interval_without_data_ms": 1_000,
        # Clients behind proxies ping often. By default the third such ping ends the connection.
        # Either of the two hides from `test_traps.py` that the other is missing.
        "grpc.http2.min_recv_ping_interval_without_data_ms": 1_000,
        "grpc.http2.max_ping_strikes": 0,
        # Seen in `test_limits.py`.
        "grpc.max_receive_message_length": 1234,
        "grpc.so_reuseport": 0,
        # On by default in some releases of the stack.
        "grpc.enable_channelz": 0,
        # Windows of the usual size take hours of heartbeats before a stream that is not read pushes back.
        "grpc.http2.lookahead_bytes": 16 * 1024,
        "grpc.http2.bdp_probe": 0,
    }
    assert len(options) == len(dict(options)), "each once"
