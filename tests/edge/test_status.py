"""Health and metrics on a port of their own."""

from pathlib import Path

import pytest
from aiohttp import ClientSession

from erqiwang_grpc.edge.serving import CannotListen, running
from erqiwang_grpc.edge.settings import Settings
from erqiwang_grpc.v1 import seat_service_pb2 as pb
from tests.edge.sockets import ServedEdge
from tests.service.tables import Service, eventually, seated, served


async def page(session: ClientSession, port: int, path: str) -> tuple[int, str]:
    async with session.get(f"http://127.0.0.1:{port}{path}") as response:
        return response.status, await response.text()


async def test_an_edge_is_ready_while_it_reaches_a_server(tmp_path: Path) -> None:
    async with ClientSession() as session:
        async with served(tmp_path) as service:
            settings = Settings([service.address], service.gateway_key())
            edge = running(settings)
            serving = await edge.__aenter__()
            port = serving.status_port
            assert port is not None
            await eventually(lambda: serving.edge.is_ready)
            assert await page(session, port, "/readyz") == (200, "ready\n")
        await eventually(lambda: not serving.edge.is_ready)
        assert await page(session, port, "/readyz") == (503, "no server is reached\n")
        assert (await page(session, port, "/healthz"))[0] == 200
        await edge.__aexit__(None, None, None)


async def test_the_port_for_players_shows_none_of_it(edge: ServedEdge) -> None:
    for path in ("/healthz", "/readyz", "/metrics"):
        assert (await page(edge.session, edge.port, path))[0] == 404


async def test_metrics_count_what_happens(service: Service, edge: ServedEdge) -> None:
    table = await seated(service.platform)
    async with edge.player(table.tokens[0]) as player:
        await player.hear("presence")
        _, text = await page(edge.session, edge.status_port, "/metrics")
        lines = dict(line.rsplit(" ", 1) for line in text.splitlines() if not line.startswith("#"))
        assert lines["erqiwang_edge_ready"] == "1.0"
        assert lines["erqiwang_edge_sockets"] == lines["erqiwang_edge_seats"] == "1.0"
        assert lines["erqiwang_edge_frames_received_total"] == "1.0"
        assert lines['erqiwang_edge_opened_total{subprotocol="erqiwang.v1.json"}'] == "1.0"
        await player.say(pb.PlayRequest(detach=pb.Detach()))
        await player.closed()
    await eventually(lambda: not edge.edge.sockets)
    _, text = await page(edge.session, edge.status_port, "/metrics")
    assert 'erqiwang_edge_closed_total{code="1000"} 1.0' in text
    assert table.tokens[0] not in text


async def test_a_port_that_is_taken_is_named(edge: ServedEdge) -> None:
    settings = Settings(["127.0.0.1:1"], "erqg_", port=edge.port)
    with pytest.raises(CannotListen, match=f"127.0.0.1:{edge.port}"):
        async with running(settings):
            pass
