"""`erqiwang edge` as an operator starts it."""

import asyncio
import signal
import ssl
from pathlib import Path

import pytest
from aiohttp import ClientSession

from erqiwang_grpc.client import Platform
from erqiwang_grpc.v1 import seat_service_pb2 as pb
from tests.edge.processes import edge_apart, gateway_key, started, taking
from tests.edge.sockets import JSON, PlayerSocket
from tests.service.certificates import Authority
from tests.service.processes import serving
from tests.service.tables import eventually, seated


@pytest.mark.parametrize(("how", "status"), [(signal.SIGTERM, 0), (signal.SIGINT, 130)])
async def test_a_stop_says_goodbye_to_the_players(tmp_path: Path, how: signal.Signals, status: int) -> None:
    async with serving(tmp_path, "--in-memory") as server, Platform([server.address], server.key) as platform:
        key = gateway_key(tmp_path)
        await taking(server, key)
        table = await seated(platform)
        flags = ("--drain-seconds", "0.5")
        async with (
            edge_apart([server.address], *flags, key=key, log=tmp_path / "edge.log") as edge,
            ClientSession() as session,
            session.ws_connect(f"ws://127.0.0.1:{edge.port}/v1/play", protocols=(JSON,)) as socket,
        ):
            player = PlayerSocket(socket, JSON)
            await player.say(pb.PlayRequest(attach=pb.Attach(seat_token=table.tokens[0])))
            await player.hear("presence")
            stopping = asyncio.create_task(edge.stop(how))
            assert await player.closed() == 4014
            assert player.heard[-1].goodbye.reason == pb.Goodbye.REASON_DRAINING
            assert await stopping == status
            log = (tmp_path / "edge.log").read_text()
            assert {line["message"] for line in edge.lines()} == {"metrics", "serving", "draining", "stopped"}
            assert key not in log
            assert table.tokens[0] not in log


async def test_tls_on_both_sides(tmp_path: Path) -> None:
    authority = Authority("ours")
    issued = authority.issue("localhost")
    (tmp_path / "cert.pem").write_bytes(issued.certificate)
    (tmp_path / "key.pem").write_bytes(issued.key)
    (tmp_path / "ca.pem").write_bytes(authority.certificate)
    tls = ("--tls-cert", str(tmp_path / "cert.pem"), "--tls-key", str(tmp_path / "key.pem"))
    (tmp_path / "data").mkdir()
    async with serving(tmp_path / "data", "--in-memory", *tls) as server:
        key = gateway_key(server.folder)
        await taking(server, key)
        servers = [f"localhost:{server.port}"]
        async with (
            edge_apart(servers, *tls, "--ca", str(tmp_path / "ca.pem"), key=key, log=tmp_path / "edge.log") as edge,
            ClientSession() as session,
        ):
            trusting = ssl.create_default_context(cadata=authority.certificate.decode())
            url = f"wss://localhost:{edge.port}/v1/play"
            async with session.ws_connect(url, protocols=(JSON,), ssl=trusting) as socket:
                player = PlayerSocket(socket, JSON)
                await player.say(pb.PlayRequest(attach=pb.Attach(seat_token="nonsense")))
                assert await player.closed() == 4005


async def test_a_server_that_needs_a_certificate_of_its_clients_gets_one_and_open_files_are_warned_of(
    tmp_path: Path,
) -> None:
    authority, clients = Authority("ours"), Authority("clients")
    issued, ours = authority.issue("localhost"), clients.issue("edge")
    files = {
        "cert": issued.certificate, "key": issued.key, "ca": authority.certificate,
        "clients": clients.certificate, "edge-cert": ours.certificate, "edge-key": ours.key,
    }  # fmt: skip
    for name, text in files.items():
        (tmp_path / f"{name}.pem").write_bytes(text)
        (tmp_path / f"{name}.pem").chmod(0o600)
    at = {name: str(tmp_path / f"{name}.pem") for name in files}
    tls = ("--tls-cert", at["cert"], "--tls-key", at["key"])
    (tmp_path / "data").mkdir(mode=0o700)
    async with serving(tmp_path / "data", "--in-memory", *tls, "--client-ca", at["clients"]) as server:
        key = gateway_key(server.folder)
        server.process.send_signal(signal.SIGHUP)
        await eventually(lambda: server.said("key files reloaded") > 0)
        (tmp_path / "gateway-key").write_text(key)
        (tmp_path / "gateway-key").chmod(0o644)
        (tmp_path / "edge-key.pem").chmod(0o640)
        shown = ("--ca", at["ca"], "--client-cert", at["edge-cert"], "--client-key", at["edge-key"])
        flags = (*shown, "--key-file", str(tmp_path / "gateway-key"))
        async with (
            edge_apart([f"localhost:{server.port}"], *flags, key="", log=tmp_path / "edge.log") as edge,
            ClientSession() as session,
            session.ws_connect(f"ws://127.0.0.1:{edge.port}/v1/play", protocols=(JSON,)) as socket,
        ):
            player = PlayerSocket(socket, JSON)
            await player.say(pb.PlayRequest(attach=pb.Attach(seat_token="nonsense")))
            assert await player.closed() == 4005, "the server has answered"
            opened = [line["path"] for line in edge.lines() if line["message"] == "open to others"]
            assert opened == [str(tmp_path / "gateway-key"), at["edge-key"]]


async def test_a_new_certificate_is_taken_without_a_stop_and_a_broken_one_is_not(tmp_path: Path) -> None:
    authority = Authority("ours")
    certificate, key = tmp_path / "cert.pem", tmp_path / "key.pem"

    def put() -> bytes:
        issued = authority.issue("localhost")
        certificate.write_bytes(issued.certificate)
        key.write_bytes(issued.key)
        return ssl.PEM_cert_to_DER_cert(issued.certificate.decode())

    async def served() -> bytes | None:
        trusting = ssl.create_default_context(cadata=authority.certificate.decode())
        _, writer = await asyncio.open_connection("localhost", edge.port, ssl=trusting)
        found: bytes | None = writer.get_extra_info("ssl_object").getpeercert(binary_form=True)
        writer.close()
        return found

    first = put()
    flags = ("--tls-cert", str(certificate), "--tls-key", str(key))
    async with edge_apart(["127.0.0.1:1"], *flags, key="erqg_key", log=tmp_path / "edge.log") as edge:
        assert await served() == first
        second = put()
        edge.process.send_signal(signal.SIGHUP)
        await eventually(lambda: edge.lines()[-1]["message"] == "certificate reloaded")
        assert await served() == second
        put()
        certificate.write_bytes(b"nothing")
        edge.process.send_signal(signal.SIGHUP)
        await eventually(lambda: edge.lines()[-1]["message"] == "certificate refused")
        assert await served() == second


@pytest.mark.parametrize("is_secure", [False, True], ids=["plain", "TLS"])
async def test_connections_beyond_the_limit_are_cut(tmp_path: Path, is_secure: bool) -> None:
    flags = ["--connections", "2"]
    if is_secure:
        issued = Authority("ours").issue("localhost")
        (tmp_path / "cert.pem").write_bytes(issued.certificate)
        (tmp_path / "key.pem").write_bytes(issued.key)
        flags += ["--tls-cert", str(tmp_path / "cert.pem"), "--tls-key", str(tmp_path / "key.pem")]
    async with edge_apart(["127.0.0.1:1"], *flags, key="erqg_key", log=tmp_path / "edge.log") as edge:
        opened = [await asyncio.open_connection("127.0.0.1", edge.port) for _ in range(4)]
        cut = 0
        for reader, writer in opened:
            try:
                async with asyncio.timeout(0.3):
                    cut += await reader.read() == b""
            except TimeoutError:
                pass
            except ConnectionError:
                cut += 1
            writer.close()
        assert cut == 2
        assert "ERROR" not in (tmp_path / "edge.log").read_text()


async def test_servers_that_refuse_the_key_end_the_edge(tmp_path: Path) -> None:
    async with serving(tmp_path, "--in-memory") as server:
        process = await started("--server", server.address, key="erqg_" + "A" * 43, log=tmp_path / "edge.log")
        assert await asyncio.wait_for(process.wait(), 30) == 1
        said = (tmp_path / "edge.log").read_text()
        assert "erqiwang edge: the servers refuse its gateway key: UNAUTHENTICATED CREDENTIAL_WRONG: " in said


@pytest.mark.parametrize(
    ("flags", "key", "said"),
    [
        ((), "", "a gateway key is needed"),
        ((), "schl\xfcssel", "holds no key"),
        (("--key-file", "nowhere"), "", "nowhere: No such file"),
        (("--tls-cert", "a.pem"), "erqg_", "--tls-cert and --tls-key go together"),
        (("--tls-cert", "a.pem", "--tls-key", "a.pem"), "erqg_", "--tls-cert or --tls-key: No such file"),
        (("--tls-cert", __file__, "--tls-key", __file__), "erqg_", "give the chain and its own key as PEM"),
        (("--ca", "nowhere"), "erqg_", "nowhere: No such file"),
        (("--host", "192.0.2.1"), "erqg_", "choose another --port"),
        (("--trusted-proxy", "10.0.0.1/8"), "erqg_", "has host bits set"),
        (("--packet-players", "nowhere"), "erqg_", "--packet-players: nowhere: No such file"),
        (("--packet-players", __file__), "erqg_", "not JSON"),
        (("--packet-players", "http://:80/seat"), "erqg_", "without a host"),
        (("--message-bytes", "100000"), "erqg_", "is no whole number from 4096 to 24576"),
    ],
)
async def test_an_edge_that_cannot_start_says_what_to_do(
    tmp_path: Path, flags: tuple[str, ...], key: str, said: str
) -> None:
    process = await started(*flags, key=key, log=tmp_path / "edge.log")
    assert await asyncio.wait_for(process.wait(), 30) == 2
    text = (tmp_path / "edge.log").read_text()
    assert said in text
    assert "Traceback" not in text
