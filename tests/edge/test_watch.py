"""`/v1/watch`: a spectator on a WebSocket is told what `Watch` would tell it, and says next to nothing."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from time import monotonic, time_ns

import pytest
from aiohttp import WSServerHandshakeError

from erqiwang_grpc.edge import upstreams
from erqiwang_grpc.store import RoomId, TimeNs
from erqiwang_grpc.v1 import bidding_pb2, seat_service_pb2 as pb, view_pb2
from tests.edge.sockets import JSON, ROOMY, SUBPROTOCOLS, PlayerSocket, ServedEdge, edge_of
from tests.service.spectating import watch_token
from tests.service.tables import (
    ROOMY as MANY_COMMANDS,
    Service,
    attached,
    eventually,
    in_phase,
    is_over,
    play_all,
    seated,
    seen,
    served,
    step,
)
from tests.spectators.scene import store_nonsense


@asynccontextmanager
async def watching(
    edge: ServedEdge, token: str | None, subprotocol: str = JSON, last_version: int | None = None
) -> AsyncIterator[PlayerSocket]:
    """A socket at `/v1/watch`. With a token it attaches."""
    url = f"ws://127.0.0.1:{edge.port}/v1/watch"
    async with edge.session.ws_connect(url, protocols=(subprotocol,)) as socket:
        spectator = PlayerSocket(socket, subprotocol)
        if token is not None:
            await spectator.say(pb.PlayRequest(attach=pb.Attach(seat_token=token, last_version=last_version)))
        yield spectator


@pytest.mark.parametrize("subprotocol", SUBPROTOCOLS)
async def test_a_match_is_told_to_its_end_and_then_the_socket_is_closed(
    service: Service, edge: ServedEdge, subprotocol: str
) -> None:
    table = await seated(service.platform)
    async with watching(edge, await watch_token(service, table.room_id), subprotocol) as spectator:
        await spectator.hear("snapshot")
        async with attached(service, table) as seats:
            playing = asyncio.create_task(play_all(seats))
            assert await spectator.closed() == 1000
            await playing
        own = (await seen(service, table, 0)).view
        assert is_over(spectator.folded.view)
        assert not spectator.folded.view.HasField("seat")
        for number in range(1, 16):
            for field, part in own.parts.ListFields():
                if field.number == number:
                    assert getattr(spectator.folded.view.parts, field.name) == part
        kinds = {message.WhichOneof("message") for message in spectator.heard}
        assert kinds == {"snapshot", "notice"}


async def test_it_goes_on_where_it_was(service: Service, edge: ServedEdge) -> None:
    table = await seated(service.platform)
    token = await watch_token(service, table.room_id)
    bid = await step(service, table)
    async with watching(edge, token, last_version=bid.first_version - 1) as spectator:
        snapshot = (await spectator.hear("snapshot")).snapshot
        assert [missed.WhichOneof("cause") for missed in snapshot.missed] == ["bid_made"]
        await spectator.say(pb.PlayRequest(attach=pb.Attach(last_version=0)))
        again = (await spectator.hear("snapshot")).snapshot
        assert (again.version, again.view) == (snapshot.version, snapshot.view)
        assert len(again.missed) == 2


async def test_it_says_nothing_but_attach_heartbeat_and_detach(service: Service, edge: ServedEdge) -> None:
    table = await seated(service.platform)
    token = await watch_token(service, table.room_id)
    async with watching(edge, token) as spectator:
        await spectator.hear("snapshot")
        await spectator.say(pb.PlayRequest(heartbeat=pb.Heartbeat()))
        await spectator.act(pb.Command(bid=bidding_pb2.Bid(points=70)), "mine")
        refused = (await spectator.hear("refused")).refused
        assert (refused.command_id, refused.request, refused.refusal.WhichOneof("reason")) == ("mine", 3, "no_command")
        await spectator.say(pb.PlayRequest(detach=pb.Detach()))
        assert await spectator.closed() == 1000
    await eventually(lambda: service.server.spectating.streams == 0)
    assert edge.edge.upstreams.streams == 0


async def test_a_bad_token_is_closed_with_its_reason(service: Service, edge: ServedEdge) -> None:
    table = await seated(service.platform)
    for token in ("nonsense", (await watch_token(service, table.room_id))[:-2]):
        async with watching(edge, token) as spectator:
            assert await spectator.closed() == 4016


async def test_a_refused_spectator_is_told_so_and_no_other_loses_its_server(tmp_path: Path) -> None:
    async with served(tmp_path, limits=replace(MANY_COMMANDS, spectators_per_room=1)) as service:
        tables = [await seated(service.platform) for _ in range(2)]
        one, other = [await watch_token(service, table.room_id) for table in tables]
        async with edge_of(service, servers=[service.address, "127.0.0.1:1"]) as edge, watching(edge, one) as spectator:
            await spectator.hear("snapshot")
            async with watching(edge, one) as beyond:
                assert await beyond.closed() == 4008
                assert beyond.reason == "TOO_MANY_STREAMS"
            async with watching(edge, other) as elsewhere:
                await elsewhere.hear("snapshot")
            assert edge.edge.upstreams.take().servers.address == service.address


async def test_a_damaged_room_closes_the_socket_with_that_reason(service: Service, edge: ServedEdge) -> None:
    table = await seated(service.platform)
    token = await watch_token(service, table.room_id)
    async with watching(edge, token) as spectator:
        await spectator.hear("snapshot")
        await store_nonsense(service.store, RoomId(table.room_id), TimeNs(time_ns()))
        assert await spectator.closed() == 4013
        assert spectator.reason == "ROOM_QUARANTINED"
    async with watching(edge, token) as late:
        assert await late.closed() == 4013


async def test_who_asks_for_snapshots_without_end_keeps_nobody_else_out(
    service: Service, edge: ServedEdge, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[RoomId] = []
    wait = service.server._broadcasts.wait  # what is counted

    def counted(room: RoomId) -> float:
        asked.append(room)
        return wait(room)

    monkeypatch.setattr(service.server._broadcasts, "wait", counted)
    table = await seated(service.platform)
    async with watching(edge, await watch_token(service, table.room_id)) as greedy:
        await greedy.hear("snapshot")
        before = monotonic()
        for _ in range(100):
            await greedy.say(pb.PlayRequest(attach=pb.Attach(last_version=0)))
            await asyncio.sleep(0.01)
        assert (await greedy.hear("snapshot")).snapshot.missed
        assert 2 <= len(asked) <= 3 + monotonic() - before, "one a second"


async def test_a_watch_token_opens_no_seat(service: Service, edge: ServedEdge) -> None:
    table = await seated(service.platform)
    async with edge.player(await watch_token(service, table.room_id)) as player:
        assert await player.closed() == 4005


async def test_a_token_that_expires_closes_the_socket(service: Service, edge: ServedEdge) -> None:
    table = await seated(service.platform)
    async with watching(edge, await watch_token(service, table.room_id, 0, 1)) as spectator:
        await spectator.hear("snapshot")
        assert await spectator.closed() == 4016


async def test_who_does_not_attach_is_closed(service: Service) -> None:
    async with edge_of(service, limits=replace(ROOMY, token_seconds=0.2)) as edge, watching(edge, None) as spectator:
        assert await spectator.closed() == 4003


async def test_before_the_token_is_known_to_be_good_a_message_has_few_bytes(edge: ServedEdge) -> None:
    async with watching(edge, None) as spectator:
        await spectator.socket.send_str("二" * 1_500)
        assert await spectator.closed() == 1009


async def test_a_room_younger_than_the_delay_keeps_the_socket_open(service: Service) -> None:
    table = await seated(service.platform)
    token = await watch_token(service, table.room_id, 1.5)
    async with edge_of(service, limits=replace(ROOMY, token_seconds=0.5)) as edge, watching(edge, token) as spectator:
        assert (await spectator.hear("heartbeat")).heartbeat.version == 0
        assert (await spectator.hear("snapshot")).snapshot.version >= 1


async def test_other_origins_are_turned_away(edge: ServedEdge) -> None:
    with pytest.raises(WSServerHandshakeError) as refused:
        await edge.session.ws_connect(
            f"ws://127.0.0.1:{edge.port}/v1/watch", origin="https://elsewhere.example", protocols=(JSON,)
        )
    assert refused.value.status == 403


async def test_many_spectators_take_several_connections(
    service: Service, edge: ServedEdge, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(upstreams, "STREAMS", 2)
    table = await seated(service.platform)
    token = await watch_token(service, table.room_id)
    async with watching(edge, token) as one, watching(edge, token) as two, watching(edge, token) as three:
        for each in (one, two, three):
            await each.hear("snapshot")
        assert len(edge.edge.upstreams) == 2
        version = (await step(service, table)).last_version
        for each in (one, two, three):
            while each.folded.version < version:
                await each.receive()
    await eventually(lambda: len(edge.edge.upstreams) == 1)


async def test_a_socket_that_does_not_read_gets_a_snapshot_in_place_of_what_was_dropped(service: Service) -> None:
    table = await seated(service.platform)
    token = await watch_token(service, table.room_id)
    limits = replace(ROOMY, outbox_messages=4, outbox_bytes=8 * 1024, system_bytes=4 * 1024)
    async with edge_of(service, limits=limits) as edge, watching(edge, token) as slow:
        await slow.hear("snapshot")
        async with attached(service, table) as seats:
            await play_all(seats, until=in_phase(view_pb2.PHASE_SETTLED, deal=4))
        head = service.room(table.room_id).version
        while slow.folded.version < head:
            assert await slow.receive()
        table_view = (await seen(service, table, 0)).view.parts
        assert slow.folded.view.parts.progress == table_view.progress
        assert slow.folded.view.parts.settlement == table_view.settlement


async def test_a_seat_token_is_the_seats_stream_without_commands(service: Service, edge: ServedEdge) -> None:
    table = await seated(service.platform)
    async with edge.player(table.tokens[0]) as player, watching(edge, table.tokens[1]) as other:
        await player.hear("snapshot")
        await other.hear("presence")
        async with watching(edge, table.tokens[0]) as watched:
            assert (await watched.hear("snapshot")).snapshot.view == (await seen(service, table, 0)).view
            assert await player.closed() == 4010
            async with edge.player(table.tokens[0]) as again:
                await again.hear("snapshot")
                assert (await watched.hear("goodbye")).goodbye.reason == pb.Goodbye.REASON_DISPLACED
                assert await watched.closed() == 4010


async def test_an_edge_that_leaves_says_goodbye_to_spectators_too(service: Service) -> None:
    table = await seated(service.platform)
    token = await watch_token(service, table.room_id)
    async with edge_of(service) as edge, watching(edge, token) as spectator:
        await spectator.hear("snapshot")
        leaving = asyncio.create_task(edge.edge.drain(0))
        assert (await spectator.hear("goodbye")).goodbye.reason == pb.Goodbye.REASON_DRAINING
        assert await spectator.closed() == 4014
        await leaving
    await eventually(lambda: service.server.spectating.streams == 0)
