"""Servers that go: the sockets stay, and their seats are opened on the next one with what they saw last."""

import asyncio
from contextlib import AsyncExitStack
from pathlib import Path

import pytest

from erqiwang_grpc.store.memory import MemoryStore
from erqiwang_grpc.v1 import seat_service_pb2 as pb, view_pb2
from tests.edge.sockets import SUBPROTOCOLS, ServedEdge, edge_of
from tests.service.tables import Service, eventually, seated, seen, served, suggested


@pytest.mark.parametrize("subprotocol", SUBPROTOCOLS)
async def test_a_match_goes_on_over_lost_connections_to_the_server(
    service: Service, edge: ServedEdge, subprotocol: str
) -> None:
    table = await seated(service.platform)
    async with AsyncExitStack() as stack:
        players = [await stack.enter_async_context(edge.player(token, subprotocol)) for token in table.tokens]
        playing = [asyncio.create_task(player.play()) for player in players]
        for deal in (2, 3, 4):
            await eventually(lambda deal=deal: players[0].folded.view.parts.progress.deal >= deal)  # type: ignore[misc]  # the default binds the loop's value
            edge.edge.stream.drop()
        await asyncio.gather(*playing)
        assert edge.edge.stream.connections == 4
        for number, player in enumerate(players):
            now = await seen(service, table, number)
            assert (player.folded.view, player.folded.version) == (now.view, now.version)


async def test_the_snapshot_after_a_loss_tells_what_was_missed_meanwhile(service: Service, edge: ServedEdge) -> None:
    table = await seated(service.platform)
    async with AsyncExitStack() as stack:
        players = [await stack.enter_async_context(edge.player(token)) for token in table.tokens]
        for player in players:
            await player.hear("presence")
        edge.edge.stream.drop()
        await eventually(lambda: not edge.edge.seats.is_open)
        acting = next(player for player in players if suggested(player.folded.view) is not None)
        command = suggested(acting.folded.view)
        assert command is not None
        version = acting.folded.version
        await acting.act(command, "meanwhile")
        accepted = (await acting.hear("accepted")).accepted
        assert (accepted.command_id, accepted.request, accepted.first_version) == ("meanwhile", 2, version + 1)
        assert count(acting.heard, "snapshot") == 2


def count(heard: list[pb.SeatMessage], kind: str) -> int:
    return sum(message.WhichOneof("message") == kind for message in heard)


async def test_a_leaving_server_is_left_for_the_next_one_and_no_socket_is_closed(tmp_path: Path) -> None:
    store = MemoryStore()
    async with served(tmp_path, store=store) as second, served(tmp_path, store=store) as first:
        table = await seated(second.platform)
        servers, key = [first.address, second.address], first_key(first, second)
        async with (
            edge_of(second, servers=servers, gateway_key=key) as edge,
            edge.player(table.tokens[0]) as player,
        ):
            await player.hear("presence")
            assert first.server.gateways.seats == 1
            await first.server.stop(0.1)
            await player.hear("snapshot")
            assert (edge.edge.stream.address, second.server.gateways.seats) == (second.address, 1)
            assert player.folded.view.parts.progress.phase == view_pb2.PHASE_BIDDING


def first_key(first: Service, second: Service) -> str:
    """A gateway key that both servers take, which read the same file."""
    key = first.gateway_key()
    assert second.keys.reload() is None
    return key


async def test_while_no_server_is_reached_a_newcomer_is_told_so(tmp_path: Path) -> None:
    async with served(tmp_path) as service:
        table = await seated(service.platform)
        async with edge_of(service) as edge:
            await service.server.stop(0.1)
            await eventually(lambda: not edge.edge.is_ready)
            async with edge.player(table.tokens[0]) as player:
                assert await player.closed() == 4014
