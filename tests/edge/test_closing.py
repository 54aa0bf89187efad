"""How sockets end: the code and the reason say why, after the goodbye that `Play` would have."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence

import pytest

from erqiwang_grpc.edge.closes import FAILED, Close
from erqiwang_grpc.edge.settings import Limits
from erqiwang_grpc.v1 import seat_service_pb2 as pb
from tests.edge.sockets import PROTOBUF, SUBPROTOCOLS, PlayerSocket, ServedEdge, edge_of
from tests.service.tables import Service, eventually, seated


@pytest.mark.parametrize("subprotocol", SUBPROTOCOLS)
async def test_a_displaced_socket_is_told_and_closed(service: Service, edge: ServedEdge, subprotocol: str) -> None:
    table = await seated(service.platform)
    async with edge.player(table.tokens[0], subprotocol) as first:
        await first.hear("snapshot")
        async with edge.player(table.tokens[0], subprotocol) as second:
            await second.hear("snapshot")
            assert await first.closed() == 4010
            assert first.heard[-1].goodbye.reason == pb.Goodbye.REASON_DISPLACED


async def test_an_unseated_player_is_told_and_closed(service: Service, edge: ServedEdge) -> None:
    room = (await service.platform.create_room("alice")).room
    seat = await service.platform.take_seat(room.room_id, "alice")
    async with edge.player(seat.token) as player:
        await player.hear("snapshot")
        await service.platform.leave_seat(room.room_id, seat.seat)
        assert await player.closed() == 4016
        assert player.heard[-1].goodbye.reason == pb.Goodbye.REASON_UNSEATED
    async with edge.player(seat.token) as player:
        assert await player.closed() == 4016


async def test_a_player_who_detaches_is_absent_at_once_and_the_socket_is_closed(
    service: Service, edge: ServedEdge
) -> None:
    table = await seated(service.platform)
    async with edge.player(table.tokens[0]) as player, edge.player(table.tokens[1]) as other:
        await player.hear("snapshot")
        await other.hear("presence")
        await player.say(pb.PlayRequest(detach=pb.Detach()))
        assert await player.closed() == 1000
        while other.folded.present[0]:
            await other.receive()
        assert other.folded.present == (False, True, False)


@pytest.mark.parametrize("is_told", [True, False], ids=["closed", "cut"])
async def test_a_socket_that_goes_leaves_its_seat(service: Service, edge: ServedEdge, is_told: bool) -> None:
    table = await seated(service.platform)
    async with edge.player(table.tokens[0]) as player:
        await player.hear("snapshot")
        if not is_told:
            await cut(player)
        await eventually(lambda: service.server.gateways.seats == int(is_told))
    await eventually(lambda: service.server.gateways.seats == 0 and not edge.edge.sockets)
    assert len(edge.edge.seats) == 0


async def test_a_draining_edge_says_goodbye_to_all_and_takes_nobody(service: Service, edge: ServedEdge) -> None:
    tables = [await seated(service.platform) for _ in range(3)]
    async with asyncio.TaskGroup() as tasks:
        ready = asyncio.Semaphore(0)

        async def serve(token: str) -> None:
            async with edge.player(token, PROTOBUF) as player:
                await player.hear("snapshot")
                ready.release()
                assert await player.closed() == 4014
                goodbye = player.heard[-1].goodbye
                assert goodbye.reason == pb.Goodbye.REASON_DRAINING
                assert 100 <= goodbye.retry_delay.ToMilliseconds() <= 2_000

        for table in tables:
            for token in table.tokens:
                tasks.create_task(serve(token))
        for _ in range(9):
            await ready.acquire()
        await edge.edge.drain(0.2)
        assert not edge.edge.sockets
    refused = await edge.session.get(edge.url.replace("ws:", "http:"))
    assert refused.status == 503


async def test_a_socket_that_is_told_nothing_else_gets_heartbeats(service: Service) -> None:
    table = await seated(service.platform)
    async with edge_of(service, limits=Limits(beat_seconds=0.5)) as edge, edge.player(table.tokens[0]) as player:
        snapshot = (await player.hear("snapshot")).snapshot
        for _ in range(2):
            beat = (await player.hear("heartbeat")).heartbeat
            assert beat.version == snapshot.version
            assert 0 < beat.server_time.ToNanoseconds() - snapshot.server_time.ToNanoseconds() < 60e9


class BrokenEar:
    """An ear that fails."""

    def __init__(self) -> None:
        self.ended: Close | None = None

    def hear(self, messages: Sequence[pb.SeatMessage]) -> None:
        raise RuntimeError(f"{len(messages)} messages are too many")

    def end(self, why: Close) -> None:
        self.ended = why


async def test_an_error_in_one_seat_ends_that_seat_and_no_other(
    service: Service, edge: ServedEdge, caplog: pytest.LogCaptureFixture
) -> None:
    table = await seated(service.platform)
    ear = BrokenEar()
    async with edge.player(table.tokens[0]) as player:
        await player.hear("presence")
        edge.edge.seats.open(table.tokens[1], None, ear)
        await eventually(lambda: ear.ended == FAILED)
        await eventually(lambda: service.server.gateways.seats == 1)
        await player.say(pb.PlayRequest(attach=pb.Attach()))
        await player.hear("snapshot")
    assert edge.edge.stream.connections == 1
    assert [record.getMessage() for record in caplog.records if record.levelname == "ERROR"] == ["seat failed"]


@pytest.mark.parametrize(("token", "version"), [("\ud800", None), ("token", -1), ("token", 2**64)])
async def test_a_seat_that_no_message_can_hold_is_not_kept(edge: ServedEdge, token: str, version: int | None) -> None:
    with pytest.raises(ValueError):  # noqa: PT011  # protobuf says no more
        edge.edge.seats.open(token, version, BrokenEar())
    assert len(edge.edge.seats) == 0


async def test_a_seat_that_cannot_begin_on_a_new_stream_ends_and_no_other(
    service: Service, edge: ServedEdge, caplog: pytest.LogCaptureFixture
) -> None:
    table = await seated(service.platform)
    ear = BrokenEar()
    async with edge.player(table.tokens[0]) as player:
        await player.hear("presence")
        edge.edge.seats.open("nonsense", None, ear).version = -1
        edge.edge.stream.drop()
        await player.hear("snapshot")
        assert ear.ended == FAILED
    assert "seat failed" in caplog.messages


async def test_a_silent_client_is_pinged_and_one_that_does_not_answer_is_cut(service: Service) -> None:
    table = await seated(service.platform)
    async with edge_of(service, limits=Limits(idle_seconds=1.5)) as edge:
        async with edge.player(table.tokens[0]) as answering:
            await answering.hear("presence")
            with pytest.raises(TimeoutError):
                async with asyncio.timeout(4):
                    await answering.receive()  # answers pings by itself
            assert edge.edge.counters.idle == 0
        silent = await edge.session.ws_connect(edge.url, protocols=(PROTOBUF,), autoping=False)
        await silent.send_bytes(pb.PlayRequest(attach=pb.Attach(seat_token=table.tokens[1])).SerializeToString())
        await eventually(lambda: edge.edge.counters.idle == 1)
        await eventually(lambda: not edge.edge.sockets)
        await silent.close()


async def test_a_client_beyond_its_allowance_is_read_slowly_and_one_that_goes_on_is_closed(service: Service) -> None:
    table = await seated(service.platform)
    limits = Limits(messages_per_second=10, too_fast_seconds=1.0)
    async with edge_of(service, limits=limits) as edge, edge.player(table.tokens[0]) as player:
        await player.hear("presence")
        for _ in range(100):
            await player.say(pb.PlayRequest(heartbeat=pb.Heartbeat()))
        assert await player.closed() == 4008


async def cut(player: PlayerSocket) -> None:
    """Leave without a word."""
    player.socket._conn.transport.abort()  # type: ignore[union-attr]  # a client cannot ask for it in any other way


async def hear_out(player: PlayerSocket) -> None:
    """Wait until the edge closes the socket, which is still without a seat."""
    assert await player.closed() == 4003


@pytest.mark.parametrize(("leave", "token_seconds", "code"), [(cut, 60, 1006), (hear_out, 0.3, 4003)])
async def test_a_ping_that_is_read_after_the_socket_was_closed_is_no_error(
    service: Service,
    caplog: pytest.LogCaptureFixture,
    leave: Callable[[PlayerSocket], Awaitable[None]],
    token_seconds: float,
    code: int,
) -> None:
    limits = Limits(messages_per_second=2, token_seconds=token_seconds)
    async with edge_of(service, limits=limits) as edge:
        async with edge.player() as player:
            for _ in range(6):  # the last two wait for a second
                await player.socket.ping()
            await eventually(lambda: edge.edge.counters.frames_in == 5)
            await leave(player)
        await eventually(lambda: not edge.edge.sockets)
        assert edge.edge.counters.closed == {code: 1}
    assert [record.getMessage() for record in caplog.records if record.levelname == "ERROR"] == []


async def test_an_attach_that_is_read_too_late_displaces_nobody(service: Service) -> None:
    """It waits for the allowance of the socket, which is closed meanwhile because it has no seat."""
    table = await seated(service.platform)
    limits = Limits(messages_per_second=2, token_seconds=0.3)
    async with edge_of(service, limits=limits) as edge, edge.player(table.tokens[0]) as playing:
        await playing.hear("presence")
        async with edge.player() as late:
            for _ in range(4):
                await late.socket.ping()
            await late.say(pb.PlayRequest(attach=pb.Attach(seat_token=table.tokens[0])))
            assert await late.closed() == 4003
        await eventually(lambda: len(edge.edge.sockets) == 1)
        await playing.say(pb.PlayRequest(attach=pb.Attach()))
        await playing.hear("snapshot")
