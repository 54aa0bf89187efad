"""Attaching: how a socket shows its token, and what becomes of one that shows none."""

import asyncio

import pytest

from erqiwang_grpc.edge.settings import Limits
from erqiwang_grpc.v1 import seat_service_pb2 as pb
from tests.edge.sockets import JSON, PROTOBUF, SUBPROTOCOLS, PlayerSocket, ServedEdge, edge_of
from tests.service.tables import Service, seated

SHORT = Limits(token_seconds=0.3)


@pytest.mark.parametrize("subprotocol", SUBPROTOCOLS)
async def test_the_token_may_be_in_the_header(service: Service, edge: ServedEdge, subprotocol: str) -> None:
    table = await seated(service.platform)
    headers = {"Authorization": f"Bearer {table.tokens[0]}"}
    async with edge.session.ws_connect(edge.url, protocols=(subprotocol,), headers=headers) as socket:
        player = PlayerSocket(socket, subprotocol)
        await player.say(pb.PlayRequest(attach=pb.Attach()))
        snapshot = (await player.hear("snapshot")).snapshot
        assert snapshot.view.seat == 0
        assert snapshot.server_time.seconds > 0


async def test_a_client_that_names_no_subprotocol_speaks_json(service: Service, edge: ServedEdge) -> None:
    table = await seated(service.platform)
    async with edge.player(table.tokens[0], None) as player:
        await player.hear("snapshot")
        assert player.socket.protocol is None


async def test_the_first_snapshot_tells_what_was_missed(service: Service, edge: ServedEdge) -> None:
    table = await seated(service.platform)
    async with edge.player(table.tokens[0], last_version=0) as player:
        assert (await player.hear("snapshot")).snapshot.missed
    async with edge.player(table.tokens[0]) as player:
        assert not (await player.hear("snapshot")).snapshot.missed


async def test_a_token_in_the_query_is_not_read(service: Service, edge: ServedEdge) -> None:
    table = await seated(service.platform)
    url = f"{edge.url}?seat_token={table.tokens[0]}&token={table.tokens[0]}"
    async with edge.session.ws_connect(url, protocols=(JSON,)) as socket:
        player = PlayerSocket(socket, JSON)
        await player.say(pb.PlayRequest(attach=pb.Attach()))
        assert await player.closed() == 4016
        assert not player.heard


@pytest.mark.parametrize(
    ("header", "code"),
    [
        pytest.param("Basic abc", 4016, id="another scheme"),
        pytest.param("Bearer ", 4016, id="an empty one"),
        pytest.param("Bearer nonsense", 4005, id="a token of nobody"),
        pytest.param("Bearer n\xfcnsense", 4016, id="letters that no token has"),
    ],
)
async def test_a_bad_token_closes_the_socket(edge: ServedEdge, header: str, code: int) -> None:
    async with edge.session.ws_connect(edge.url, protocols=(JSON,), headers={"Authorization": header}) as socket:
        player = PlayerSocket(socket, JSON)
        await player.say(pb.PlayRequest(attach=pb.Attach()))
        assert await player.closed() == code


async def test_the_platform_of_the_gateway_key_is_the_only_one(service: Service) -> None:
    table = await seated(service.platform)
    service.tenant("other")
    async with (
        edge_of(service, gateway_key=service.gateway_key("other")) as edge,
        edge.player(table.tokens[0]) as player,
    ):
        assert await player.closed() == 4005


async def test_the_first_message_must_attach(edge: ServedEdge) -> None:
    async with edge.player() as player:
        await player.say(pb.PlayRequest(heartbeat=pb.Heartbeat()))
        assert await player.closed() == 4003


@pytest.mark.parametrize("subprotocol", SUBPROTOCOLS)
async def test_a_socket_without_a_token_is_closed_in_time(service: Service, subprotocol: str) -> None:
    async with edge_of(service, limits=SHORT) as edge, edge.player(subprotocol=subprotocol) as player:
        assert await player.closed() == 4003


async def test_a_socket_with_a_seat_stays(service: Service) -> None:
    table = await seated(service.platform)
    async with edge_of(service, limits=SHORT) as edge, edge.player(table.tokens[0]) as player:
        await player.hear("presence")
        await asyncio.sleep(2 * SHORT.token_seconds)
        await player.say(pb.PlayRequest(attach=pb.Attach()))
        await player.hear("snapshot")


async def test_a_stranger_sends_no_large_message_and_a_player_does(service: Service, edge: ServedEdge) -> None:
    large = pb.PlayRequest(attach=pb.Attach(seat_token="x" * 5_000))
    async with edge.player(subprotocol=PROTOBUF) as player:
        await player.say(large)
        assert await player.closed() == 1009
    async with edge.player(subprotocol=JSON) as player:
        await player.socket.send_str("二" * 1_500)  # bytes are counted
        assert await player.closed() == 1009
    table = await seated(service.platform)
    async with edge.player(table.tokens[0], PROTOBUF) as player:
        await player.hear("snapshot")
        await player.say(large)
        await player.hear("snapshot")
