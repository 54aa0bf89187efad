"""Servers that go: the sockets stay, and their seats are opened on the next one with what they saw last."""

import asyncio
import signal
from contextlib import AsyncExitStack
from pathlib import Path

import grpc
import pytest

from erqiwang_grpc.client import Ended, Platform
from erqiwang_grpc.edge.seats import Seats
from erqiwang_grpc.edge.settings import Limits
from erqiwang_grpc.store.memory import MemoryStore
from erqiwang_grpc.v1 import gateway_service_pb2 as gateway_pb, playing_pb2, seat_service_pb2 as pb, view_pb2
from tests.edge.processes import gateway_key, taking
from tests.edge.sockets import PROTOBUF, SUBPROTOCOLS, ServedEdge, edge_of
from tests.service.processes import serving
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


async def test_a_stream_that_a_server_finds_malformed_is_followed_by_another(
    service: Service, edge: ServedEdge, caplog: pytest.LogCaptureFixture
) -> None:
    table = await seated(service.platform)
    deep = b"\xc3\x3e" * 99 + b"\xc4\x3e" * 99  # groups in groups, of a field that no schema knows
    request = gateway_pb.SeatRequest(handle=0, command=pb.Command.FromString(deep))
    async with edge.player(table.tokens[0]) as player:
        await player.hear("presence")
        edge.edge.stream.put(request)
        await player.hear("snapshot")
        assert edge.edge.stream.connections == 2
    (told,) = [record for record in caplog.records if record.levelname == "ERROR"]
    assert told.getMessage() == "gateway refused"
    assert told.__dict__["code"] == "INVALID_ARGUMENT"


async def test_a_server_that_refuses_the_key_alone_is_left_for_the_next_one(tmp_path: Path) -> None:
    (tmp_path / "other").mkdir()
    async with (
        served(tmp_path) as first,
        served(tmp_path / "other") as second,
        edge_of(second, servers=[first.address, second.address]) as edge,
    ):
        assert edge.edge.stream.address == second.address


async def test_the_edge_gives_up_once_every_server_has_refused_its_key_since_one_was_reached() -> None:
    asked: list[gateway_pb.SeatRequest] = []
    seats = Seats(["a", "b"], asked.append)
    refused = Ended(grpc.StatusCode.UNAUTHENTICATED, "as the test says")
    assert not seats.is_for_good("a", refused)
    assert not seats.is_for_good("a", refused)
    assert not seats.is_for_good("b", Ended(grpc.StatusCode.UNAVAILABLE, "as the test says"))
    await seats.hear(gateway_pb.ConnectResponse())
    assert not seats.is_for_good("b", refused), "a may have learned the key since"
    assert not seats.is_for_good("b", Ended(grpc.StatusCode.INVALID_ARGUMENT, "as the test says"))
    assert not seats.is_for_good("a", refused)
    assert seats.is_for_good("b", refused)


async def test_a_newcomer_whom_a_frozen_server_does_not_answer_is_not_told_to_mend_the_client(
    service: Service, tmp_path: Path
) -> None:
    folder = tmp_path / "frozen"
    folder.mkdir()
    async with serving(folder, "--in-memory") as server:
        key = gateway_key(folder)
        await taking(server, key)
        async with edge_of(
            service, servers=[server.address], gateway_key=key, limits=Limits(token_seconds=0.3)
        ) as edge:
            server.process.send_signal(signal.SIGSTOP)
            try:
                async with edge.player("a.token") as player:
                    assert await player.closed() == 4014
                async with edge.session.ws_connect(edge.url.replace("play", "packets")) as old:
                    await old.send_str('{"app":"youle","route":"room","rpc":"enter_room","data":{"seat_token":"t"}}')
                    await old.receive()
                    assert old.close_code == 4014
            finally:
                server.process.send_signal(signal.SIGCONT)


async def test_what_waits_for_a_frozen_server_is_bounded(service: Service, tmp_path: Path) -> None:
    folder = tmp_path / "frozen"
    folder.mkdir()
    async with serving(folder, "--in-memory") as server, Platform([server.address], server.key) as platform:
        key = gateway_key(folder)
        await taking(server, key)
        table = await seated(platform)
        async with (
            edge_of(service, servers=[server.address], gateway_key=key) as edge,
            edge.player(table.tokens[0], PROTOBUF) as player,
        ):
            await player.hear("presence")
            server.process.send_signal(signal.SIGSTOP)
            try:
                large = pb.Command(play_cards=playing_pb2.PlayCards(cards=[1] * 15_000))

                async def flood() -> None:
                    while True:
                        await player.act(large)

                flooding = asyncio.create_task(flood())
                stream = edge.edge.stream
                await eventually(lambda: stream.waiting_bytes >= 1024 * 1024)
                await asyncio.sleep(0.3)
                assert stream.waiting_bytes < 1024 * 1024 + 16 * 1024
                flooding.cancel()
                await asyncio.wait([flooding])
            finally:
                server.process.send_signal(signal.SIGCONT)
            await eventually(lambda: not stream.waiting_bytes)
            await player.hear("refused")


async def test_a_player_gets_signs_of_life_also_while_no_server_is_reached(tmp_path: Path) -> None:
    async with served(tmp_path) as service:
        table = await seated(service.platform)
        async with (
            edge_of(service, limits=Limits(beat_seconds=0.5)) as edge,
            edge.player(table.tokens[0]) as player,
        ):
            await player.hear("presence")
            await service.server.stop(0.1)
            await eventually(lambda: not edge.edge.is_ready)
            for _ in range(3):
                assert (await player.hear("heartbeat")).heartbeat.version == player.folded.version
            assert not edge.edge.is_ready


async def test_while_no_server_is_reached_a_newcomer_is_told_so(tmp_path: Path) -> None:
    async with served(tmp_path) as service:
        table = await seated(service.platform)
        async with edge_of(service) as edge:
            await service.server.stop(0.1)
            await eventually(lambda: not edge.edge.is_ready)
            async with edge.player(table.tokens[0]) as player:
                assert await player.closed() == 4014
