"""Who may open a socket."""

import asyncio
import ssl
from contextlib import AsyncExitStack, suppress
from pathlib import Path

import pytest
from aiohttp import ClientConnectionError, ClientSession, WSServerHandshakeError

from erqiwang_grpc.edge.admission import counted_as
from erqiwang_grpc.edge.settings import Limits
from tests.edge.sockets import JSON, ServedEdge, edge_of
from tests.service.certificates import Authority
from tests.service.tables import PATIENCE, Service, eventually


async def status(edge: ServedEdge, headers: dict[str, str], protocol: str = JSON) -> int:
    """The HTTP status of a request for a socket."""
    try:
        async with edge.session.ws_connect(edge.url, protocols=(protocol,), headers=headers):
            return 101
    except WSServerHandshakeError as error:
        return error.status


@pytest.mark.parametrize(
    ("origin", "expected"),
    [
        pytest.param(None, 101, id="a program"),
        pytest.param("here", 101, id="the edge's own page"),
        pytest.param("https://play.example", 101, id="a listed page"),
        pytest.param("https://evil.example", 403, id="another page"),
        pytest.param("null", 403, id="a page without an origin"),
        pytest.param("https://play.example.evil.example", 403, id="a longer name"),
        pytest.param("http://[", 403, id="no address"),
    ],
)
async def test_only_pages_of_allowed_origins_open_sockets(service: Service, origin: str | None, expected: int) -> None:
    async with edge_of(service, origins={"https://play.example"}) as edge:
        own = f"http://127.0.0.1:{edge.port}"
        headers = {} if origin is None else {"Origin": own if origin == "here" else origin}
        assert await status(edge, headers) == expected
        assert edge.edge.counters.turned_away["origin"] == (expected == 403)


async def test_a_star_allows_every_page(service: Service) -> None:
    async with edge_of(service, origins={"*"}) as edge:
        assert await status(edge, {"Origin": "https://evil.example"}) == 101


async def test_an_unknown_subprotocol_is_refused_and_the_known_ones_are_named(edge: ServedEdge) -> None:
    assert await status(edge, {}, "chat") == 400
    async with edge.session.get(
        edge.url.replace("ws:", "http:"), headers={"Sec-WebSocket-Protocol": "chat"}
    ) as response:
        assert "erqiwang.v1.json" in await response.text()


async def test_where_no_subprotocol_is_spoken_that_is_said(edge: ServedEdge) -> None:
    packets = edge.url.replace("ws:", "http:").replace("/v1/play", "/v1/packets")
    async with edge.session.get(packets, headers={"Sec-WebSocket-Protocol": "chat"}) as response:
        assert (response.status, await response.text()) == (400, "No subprotocol is spoken here.")


async def test_a_plain_request_is_told_that_it_is_a_socket(edge: ServedEdge) -> None:
    async with edge.session.get(edge.url.replace("ws:", "http:")) as response:
        assert response.status == 400


async def test_the_sockets_of_one_address_are_counted_and_free_again(service: Service) -> None:
    async with edge_of(service, limits=Limits(connections_per_address=2)) as edge:
        async with edge.player(), edge.player():
            assert await status(edge, {}) == 429
            assert await status(edge, {"X-Forwarded-For": "203.0.113.7"}) == 429, "nobody trusts this proxy"
        await eventually(lambda: not edge.edge.sockets)
        assert await status(edge, {}) == 101


async def test_addresses_behind_a_trusted_proxy_are_counted_apart(service: Service) -> None:
    limits = Limits(connections_per_address=1)
    async with edge_of(service, limits=limits, trusted_proxies=["127.0.0.0/8", "10.0.0.0/8"]) as edge:
        first = {"X-Forwarded-For": "198.51.100.9, 203.0.113.7, 10.1.1.1"}
        async with edge.session.ws_connect(edge.url, headers=first):
            assert await status(edge, {"X-Forwarded-For": "203.0.113.7"}) == 429
            assert await status(edge, {"X-Forwarded-For": "203.0.113.8"}) == 101
            assert await status(edge, {"X-Forwarded-For": "198.51.100.9"}) == 101, (
                "what the client wrote is not believed"
            )


async def test_connections_beyond_the_limit_are_cut(service: Service) -> None:
    async with edge_of(service, limits=Limits(connections=3)) as edge:
        writers = [await asyncio.open_connection("127.0.0.1", edge.port) for _ in range(3)]
        await asyncio.sleep(0.05)
        async with ClientSession() as session:
            with pytest.raises(ClientConnectionError):
                await session.get(f"http://127.0.0.1:{edge.port}/")
        for _, writer in writers:
            writer.close()
        await asyncio.sleep(0.05)
        assert await status(edge, {}) == 101


async def test_connections_whose_handshake_is_not_over_count_too(service: Service, tmp_path: Path) -> None:
    authority = Authority("ours")
    issued = authority.issue("localhost")
    (tmp_path / "cert.pem").write_bytes(issued.certificate)
    (tmp_path / "key.pem").write_bytes(issued.key)
    tls = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    tls.load_cert_chain(tmp_path / "cert.pem", tmp_path / "key.pem")
    trusting = ssl.create_default_context(cadata=authority.certificate.decode())
    async with edge_of(service, limits=Limits(connections=3, request_seconds=0.5), tls=tls) as edge:
        url = f"wss://localhost:{edge.port}/v1/play"

        async def is_served() -> bool:
            try:
                async with edge.session.ws_connect(url, protocols=(JSON,), ssl=trusting):
                    return True
            except ClientConnectionError:
                return False

        silent = [await asyncio.open_connection("127.0.0.1", edge.port) for _ in range(3)]
        await asyncio.sleep(0.05)
        assert not await is_served()
        for number, (reader, writer) in enumerate(silent):
            if number == 0:
                writer.close()
            elif number == 1:
                writer.write(b"GET / HTTP/1.1\r\n\r\n" * 100)  # this is no TLS
            async with asyncio.timeout(PATIENCE):
                with suppress(ConnectionError):
                    await reader.read()  # the last one is too slow
            writer.close()
        await asyncio.sleep(0.05)
        async with AsyncExitStack() as stack:
            for _ in range(3):
                await stack.enter_async_context(edge.session.ws_connect(url, protocols=(JSON,), ssl=trusting))
            assert not await is_served()
        await eventually(lambda: not edge.edge.sockets)
        assert await is_served()


async def test_a_connection_that_asks_for_nothing_is_closed(service: Service) -> None:
    async with edge_of(service, limits=Limits(request_seconds=0.2)) as edge:
        reader, writer = await asyncio.open_connection("127.0.0.1", edge.port)
        async with asyncio.timeout(10):
            assert await reader.read() == b""
        writer.close()


@pytest.mark.parametrize(
    ("address", "counted"),
    [
        ("203.0.113.7", "203.0.113.7"),
        ("2001:db8:1:2:3:4:5:6", "2001:db8:1:2::/64"),
        ("2001:db8:1:2::9", "2001:db8:1:2::/64"),
        ("::ffff:203.0.113.7", "203.0.113.7"),
        ("", ""),
    ],
)
def test_addresses_of_one_network_are_counted_together(address: str, counted: str) -> None:
    assert counted_as(address) == counted
