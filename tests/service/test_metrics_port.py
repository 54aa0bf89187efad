"""The port for metrics and health: what it answers, and what strangers on it cannot do."""

import asyncio
import gzip
import threading
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, suppress
from pathlib import Path

import pytest

from erqiwang_grpc.monitoring import port as ports
from tests.edge.sockets import edge_of
from tests.service.tables import Service, eventually, served
from tests.service.test_metrics import port_of
from tests.service.test_store_away import AWAY, DistantStore


async def said(port: int, request: bytes) -> tuple[int, dict[str, str], bytes]:
    """The status, the headers and the body that answer the bytes of a request."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    writer.write(request)
    head, _, body = (await asyncio.wait_for(reader.read(), 20)).partition(b"\r\n\r\n")
    writer.close()
    first, *lines = head.decode().split("\r\n")
    protocol, status, _ = first.split(" ", 2)
    assert protocol == "HTTP/1.1"
    return int(status), dict(line.split(": ", 1) for line in lines), body


async def asked(port: int, path: str, method: str = "GET", headers: str = "") -> tuple[int, dict[str, str], bytes]:
    return await said(port, f"{method} {path} HTTP/1.1\r\nHost: x\r\n{headers}\r\n".encode())


@pytest.fixture(params=["server", "edge"])
async def port(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[int]:
    """The port of a server, and that of an edge."""
    async with served(tmp_path, metrics_port=0) as service:
        if request.param == "server":
            yield port_of(service)
        else:
            async with edge_of(service) as edge:
                yield edge.status_port


async def test_only_three_paths_are_answered(port: int) -> None:
    assert (await asked(port, "/metrics"))[0] == 200
    assert (await asked(port, "/metrics?name=x"))[0] == 200
    assert (await asked(port, "/healthz"))[::2] == (200, b"alive\n")
    assert (await asked(port, "/readyz"))[::2] == (200, b"ready\n")
    for path in ("/", "/metrics/", "/metric", "//metrics", "/healthz/x", "/../metrics", "/favicon.ico"):
        assert (await asked(port, path))[0] == 404


async def test_only_reading_is_allowed(port: int) -> None:
    for method in ("POST", "PUT", "DELETE", "PATCH", "OPTIONS", "TRACE", "CONNECT", "get", "NONSENSE"):
        for path in ("/metrics", "/healthz", "/readyz"):
            status, headers, _ = await asked(port, path, method)
            assert (status, headers["Allow"]) == (405, "GET, HEAD")
        assert (await asked(port, "/elsewhere", method))[0] == 404
    status, headers, body = await said(port, b"POST /metrics HTTP/1.1\r\nContent-Length: 5000\r\n\r\n" + b"x" * 5000)
    assert status == 405
    assert len(body) == int(headers["Content-Length"])


async def test_head_is_answered_without_the_body(port: int) -> None:
    for path in ("/metrics", "/healthz", "/readyz", "/nothing"):
        status, headers, body = await asked(port, path, "HEAD")
        assert status == (404 if path == "/nothing" else 200)
        assert int(headers["Content-Length"]) > 0
        assert not body


async def test_the_format_is_the_one_that_is_asked_for(port: int) -> None:
    _, headers, body = await asked(port, "/metrics")
    assert headers["Content-Type"].startswith("text/plain; version=0.0.4")
    assert len(body) == int(headers["Content-Length"])
    _, headers, body = await asked(port, "/metrics", headers="Accept-Encoding: br, gzip;q=0.5\r\n")
    assert headers["Content-Encoding"] == "gzip"
    assert gzip.decompress(body).startswith(b"# HELP ")
    _, headers, _ = await asked(port, "/metrics", headers="Accept-Encoding: gzip;q=0\r\n")
    assert "Content-Encoding" not in headers
    _, headers, body = await asked(port, "/metrics", headers="Accept: application/openmetrics-text; version=1.0.0\r\n")
    assert headers["Content-Type"].startswith("application/openmetrics-text")
    assert body.endswith(b"# EOF\n")


@pytest.mark.parametrize(
    ("request_", "status"),
    [
        pytest.param(b"\r\n\r\n", 400, id="nothing"),
        pytest.param(b"GET /metrics\r\n\r\n", 400, id="HTTP/0.9"),
        pytest.param(b"PRI * HTTP/2.0\r\n\r\n", 400, id="HTTP/2"),
        pytest.param(b"GET /metrics HTTP/1.1\r\nno colon\r\n\r\n", 400, id="a field without a colon"),
        pytest.param(b"\x16\x03\x01\xff\xfe\r\n\r\n", 400, id="TLS"),
        pytest.param(b"GET /metrics HTTP/1.1\r\nx: " + b"y" * 20_000 + b"\r\n\r\n", 431, id="a long head"),
        pytest.param(b"GET /metrics HTTP/1.0\r\n\r\n", 200, id="HTTP/1.0"),
    ],
)
async def test_what_is_no_request_is_refused(port: int, request_: bytes, status: int) -> None:
    assert (await said(port, request_))[0] == status


async def test_a_slow_connection_is_cut(port: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ports, "REQUEST_SECONDS", 0.2)
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    writer.write(b"GET /metrics HTTP/1.1\r\n")
    with suppress(ConnectionError):
        assert not await asyncio.wait_for(reader.read(), 20)
    writer.close()


async def test_idle_connections_cost_no_thread_and_keep_nobody_away(port: int) -> None:
    before = threading.active_count()
    async with AsyncExitStack() as stack:
        for _ in range(3 * ports.CONNECTIONS):
            _, writer = await asyncio.open_connection("127.0.0.1", port)
            stack.callback(writer.close)
            writer.write(b"GET /metrics HTTP/1.1\r\n")
        assert (await asked(port, "/healthz"))[0] == 200
        assert threading.active_count() <= before
        statuses = [(await asked(port, "/metrics"))[0] for _ in range(5)]
        assert statuses == [200] * 5


async def test_connections_are_limited_in_number(tmp_path: Path) -> None:
    async with served(tmp_path, metrics_port=0) as service, AsyncExitStack() as stack:
        assert service.metrics is not None
        kept = service.metrics._serving  # what is limited
        for _ in range(3 * ports.CONNECTIONS):
            _, writer = await asyncio.open_connection("127.0.0.1", port_of(service))
            stack.callback(writer.close)
            assert len(kept) <= ports.CONNECTIONS + 1
        await eventually(lambda: len(kept) == ports.CONNECTIONS)


async def readiness(service: Service) -> tuple[int, bytes]:
    status, _, body = await asked(port_of(service), "/readyz")
    assert (await asked(port_of(service), "/healthz"))[0] == 200
    return status, body


async def test_a_server_whose_store_is_away_is_not_ready(tmp_path: Path) -> None:
    store = DistantStore()
    async with served(tmp_path, store=store, metrics_port=0) as service:
        assert (await readiness(service))[0] == 200
        store.is_away = True
        assert store.outage == AWAY
        assert await readiness(service) == (503, b"the store is away\n")
        store.is_away = False
        assert (await readiness(service))[0] == 200


async def test_a_server_that_leaves_is_not_ready_from_the_beginning_of_its_pause(tmp_path: Path) -> None:
    async with served(tmp_path, metrics_port=0) as service:
        leaving = asyncio.create_task(service.server.stop(0.2, lame_duck=1.0))
        await asyncio.sleep(0)
        assert await readiness(service) == (503, b"the server is leaving\n")
        await leaving
        with pytest.raises(OSError, match="Connect call failed"):
            await asked(port_of(service), "/readyz")
