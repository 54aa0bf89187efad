"""Old clients on real sockets, at a real edge beside a real server."""

import asyncio
from collections.abc import Awaitable, Callable
from random import Random

import pytest
from aiohttp import ClientWebSocketResponse

from erqiwang_grpc.edge.packets.players import Asked, Place
from erqiwang_grpc.edge.settings import Limits
from erqiwang_grpc.testing import seeded
from erqiwang_grpc.v1 import gateway_service_pb2 as gateway_pb, room_pb2, seat_service_pb2 as pb, view_pb2
from tests.edge.packets.old_client import Manner, OldPlayer, OldTable, group
from tests.edge.packets.old_socket import OldSocket, enter, failure, hear, say, url
from tests.edge.packets.stage import packet
from tests.edge.sockets import ServedEdge, edge_of
from tests.service.tables import PATIENCE, Service, Table, eventually, seated, seen, served

MATCHES = [
    pytest.param("00000", Manner(opening=70, lowest=50), 31, id="review"),
    pytest.param("00111", Manner(opening=70, lowest=70, throws=0.6), 32, id="every rule, no review"),
    pytest.param("11000", Manner(surrenders=True), 33, id="twelve deals of surrenders"),
]


@pytest.mark.parametrize(("roomtype", "manner", "seed"), MATCHES)
async def test_old_clients_play_a_match_and_come_back_in_every_step(roomtype: str, manner: Manner, seed: int) -> None:
    async with served(shuffle=seeded(seed)) as service, edge_of(service) as edge:
        table = await seated(service.platform, roomtype=roomtype)
        clients = [
            OldSocket(edge, OldPlayer(OldTable(seat), manner, Random(seed + seat)), enter(seat, seat_token=token))
            for seat, token in enumerate(table.tokens)
        ]
        async with asyncio.timeout(6 * PATIENCE):
            await asyncio.gather(*(client.play() for client in clients))
        record = await service.platform.record(table.room_id)
        totals = list(record.summary.totals)
        for client in clients:
            assert isinstance(client.table.account, list)
            assert [row[0] for row in client.table.account] == totals == client.table.scores
            steps = {moment[0] for moment in client.came_back}
            assert steps >= ({"1", "2", "6"} if manner.surrenders else {"1", "2", "3", "5", "6"})
        assert (await service.platform.room(table.room_id)).state == room_pb2.ROOM_STATE_FINISHED


async def entered(socket: ClientWebSocketResponse, table: Table, seat: int = 0) -> dict[str, object]:
    """Enter a seat with its token; gives the packet that says so."""
    await say(socket, enter(seat, seat_token=table.tokens[seat]))
    told = await hear(socket)
    assert told is not None, socket.close_code
    return told


async def test_a_token_in_the_header_enters_at_once(edge: ServedEdge, service: Service) -> None:
    table = await seated(service.platform)
    headers = {"Authorization": f"Bearer {table.tokens[1]}"}
    async with edge.session.ws_connect(url(edge), headers=headers) as socket:
        told = await hear(socket)
        assert told is not None
        assert (told["app"], told["route"], told["rpc"]) == ("youle", "room", "enter_room")
        desk = group(group(told["data"])["deskinfo"])
        assert group(desk["CallRun"])["seat"] == 0
        # The first packet says who it is; the next must say the same.
        await say(socket, packet(1, "jiaofen", call=70))
        assert await hear(socket) == failure("jiaofen", 4)
        await say(socket, packet(1, "jiaofen", call=70, playerid=1))
        assert await hear(socket) == failure("jiaofen", 1)


async def test_bad_packets_are_answered_and_the_socket_stays(edge: ServedEdge, service: Service) -> None:
    table = await seated(service.platform)
    async with edge.session.ws_connect(url(edge)) as socket:
        await entered(socket, table)
        for whole, told in [
            (packet(0, "jiaofen", call="70"), failure("jiaofen", 5)),
            (packet(0, "jiaofen", call=70, roomcode=7), failure("jiaofen", 1)),
            (packet(0, "jiaofen", call=70, seat=2), failure("jiaofen", 4)),
            (packet(0, "chupai", cards=[1]), failure("chupai", 3)),
            (packet(0, "tishi", tip=1), failure("tishi", 3)),
            (
                {**packet(0, "jiaofen", call=0), "fromid": 7, "conmode": "a"},
                failure("jiaofen", 6, conmode="a", fromid=7),
            ),
            (packet(0, "nothing"), failure("nothing", 5)),
            ({"app": "youle", "route": "erqiwang", "rpc": "jiaofen"}, failure("jiaofen", 5)),
            ({"app": "youle", "route": "erqiwang", "rpc": "jiaofen", "data": []}, failure("jiaofen", 5)),
            ({"app": "other", "route": "erqiwang", "rpc": "x", "data": {}}, {**failure("x", 5), "app": "other"}),
        ]:
            await say(socket, whole)
            assert await hear(socket) == told
        await say(socket, packet(0, "jiaofen", call=70))
        told_all = await hear(socket)
        assert told_all is not None
        assert group(told_all["data"])["currcall"] == 70


@pytest.mark.parametrize(
    ("frame", "code"),
    [
        ("not JSON", 1007),
        ("[]", 1007),
        ("{}", 1007),
        ('{"app":1,"route":"erqiwang","rpc":"jiaofen","data":{}}', 1007),
        ('{"app":"youle","app":"youle","route":"erqiwang","rpc":"jiaofen","data":{}}', 1007),
        ('{"app":"youle","route":"erqiwang","rpc":"jiaofen","data":{"call":NaN}}', 1007),
        ("[" * 3000, 1007),
        (b"{}", 1003),
    ],
    ids=["text", "list", "empty", "a number", "twice", "NaN", "deep", "binary"],
)
async def test_garbage_closes_the_socket_with_a_reason(
    edge: ServedEdge, service: Service, frame: str | bytes, code: int
) -> None:
    table = await seated(service.platform)
    async with edge.session.ws_connect(url(edge)) as socket:
        await entered(socket, table)
        await (socket.send_str(frame) if isinstance(frame, str) else socket.send_bytes(frame))
        assert await hear(socket) is None
        assert socket.close_code == code


async def test_who_has_not_entered_may_do_nothing_else(edge: ServedEdge) -> None:
    async with edge.session.ws_connect(url(edge)) as socket:
        await say(socket, packet(0, "jiaofen", call=70))
        assert await hear(socket) == failure("jiaofen", 1)
        await say(socket, enter(0))
        assert await hear(socket) == failure("enter_room", 1, "room")
        await say(socket, enter(0, playerid="100001", seat_token="nonsense"))
        assert await hear(socket) == failure("enter_room", 1, "room")
        await say(socket, enter(0, seat_token="nonsense"))
        assert await hear(socket) == failure("enter_room", 1, "room")
        assert await hear(socket) is None
        assert socket.close_code == 4005


@pytest.mark.parametrize("token", ["\ud800", "a\u0000b", "\u7ed9"])
async def test_a_text_that_no_token_could_be_is_refused(edge: ServedEdge, token: str) -> None:
    async with edge.session.ws_connect(url(edge)) as socket:
        await say(socket, enter(0, seat_token=token))
        assert await hear(socket) == failure("enter_room", 1, "room")
    assert len(edge.edge.seats) == 0


@pytest.mark.parametrize("version", [-1, 2**64, 2**70])
async def test_a_last_version_that_none_could_be_is_not_looked_at(
    edge: ServedEdge, service: Service, version: int
) -> None:
    table = await seated(service.platform)
    async with edge.session.ws_connect(url(edge)) as socket:
        await say(socket, enter(0, seat_token=table.tokens[0], last_version=version))
        told = await hear(socket)
        assert told is not None
        assert "deskinfo" in group(told["data"])


@pytest.mark.parametrize("large", [" " * 5000, "牌" * 1500], ids=["characters", "bytes"])
async def test_a_stranger_is_closed_in_time_and_may_not_say_much(service: Service, large: str) -> None:
    limits = Limits(token_seconds=0.3, messages_per_second=1000)
    async with edge_of(service, limits=limits) as edge:
        async with edge.session.ws_connect(url(edge)) as socket:
            assert await hear(socket) is None
            assert socket.close_code == 4003
        async with edge.session.ws_connect(url(edge)) as socket:
            await socket.send_str(large)
            assert await hear(socket) is None
            assert socket.close_code == 1009


async def test_the_four_player_game_is_refused(edge: ServedEdge, service: Service) -> None:
    table = await seated(service.platform, room_pb2.RoomOptions(four_player=room_pb2.FourPlayerGame()))
    async with edge.session.ws_connect(url(edge)) as socket:
        assert await entered(socket, table, 3) == failure("enter_room", 6, "room")
        assert await hear(socket) is None
        assert socket.close_code == 4009


async def test_a_second_socket_displaces_the_first(edge: ServedEdge, service: Service) -> None:
    table = await seated(service.platform)
    async with edge.session.ws_connect(url(edge)) as old, edge.session.ws_connect(url(edge)) as new:
        await entered(old, table)
        await entered(new, table)
        assert await hear(old) is None
        assert old.close_code == 4010


async def test_entering_again_tells_the_table_again(edge: ServedEdge, service: Service) -> None:
    table = await seated(service.platform)
    async with edge.session.ws_connect(url(edge)) as socket:
        first = await entered(socket, table)
        assert await entered(socket, table) == first
        await say(socket, {**enter(0), "fromid": 5})
        assert await hear(socket) == {**first, "fromid": 5}
        await say(socket, enter(0, playerid=1))
        assert await hear(socket) == failure("enter_room", 1, "room")


async def test_what_has_no_room_in_the_outbox_is_told_as_the_table() -> None:
    """With room for one packet, the last ready seat and the next deal do not fit: the table follows in their place."""
    limits = Limits(messages_per_second=100_000, outbox_messages=1)
    async with served(shuffle=seeded(34)) as service, edge_of(service, limits=limits) as edge:
        table = await seated(service.platform, roomtype="00000")
        manner = Manner(surrenders=True)
        clients = [
            OldSocket(edge, OldPlayer(OldTable(seat), manner, Random(seat)), enter(seat, seat_token=token))
            for seat, token in enumerate(table.tokens)
        ]
        async with asyncio.timeout(PATIENCE):
            await asyncio.gather(*(client.play(cuts=False) for client in clients))
        assert edge.edge.counters.resyncs >= 5, "one for each deal but the first"
        record = await service.platform.record(table.room_id)
        assert all(client.table.scores == list(record.summary.totals) for client in clients)


async def test_the_table_is_told_again_after_the_server_was_lost(edge: ServedEdge, service: Service) -> None:
    table = await seated(service.platform)
    async with edge.session.ws_connect(url(edge)) as socket:
        first = await entered(socket, table)
        edge.edge.stream.drop()
        # A packet that is sent meanwhile waits for the server.
        await say(socket, packet(0, "jiaofen", call=70))
        again = [await hear(socket), await hear(socket)]
        assert again[0] == first
        assert again[1] is not None
        assert group(again[1]["data"])["currcall"] == 70


async def test_nobody_enters_after_it_was_too_late(service: Service) -> None:
    """A callback that answers when the socket is closed already does not displace another socket of the player."""
    table = await seated(service.platform)

    asking, answering = asyncio.Event(), asyncio.Event()

    class Slow:
        async def place(self, asked: Asked) -> Place | None:
            asking.set()
            await answering.wait()
            return Place(table.tokens[asked.playerid - 100_001])

    limits = Limits(token_seconds=0.2, messages_per_second=1000)
    async with (
        edge_of(service, limits=limits, players=Slow()) as edge,
        edge.session.ws_connect(url(edge)) as playing,
        edge.session.ws_connect(url(edge)) as late,
    ):
        await entered(playing, table)
        await say(late, enter(0))
        await asking.wait()
        assert await hear(late) is None
        assert late.close_code == 4003
        answering.set()
        await eventually(lambda: len(edge.edge.sockets) == 1)
        await say(playing, packet(0, "nothing"))
        assert await hear(playing) == failure("nothing", 5)


async def close(socket: ClientWebSocketResponse) -> None:
    """Leave with a close."""
    await socket.close()


async def cut(socket: ClientWebSocketResponse) -> None:
    """Leave without a word, after a packet that nobody reads any more."""
    await say(socket, enter(0))
    connection = socket._conn  # a client cannot ask for it in any other way
    assert connection is not None
    assert isinstance(connection.transport, asyncio.Transport)
    connection.transport.abort()


@pytest.mark.parametrize("leave", [close, cut])
async def test_who_has_left_displaces_nobody(
    service: Service, leave: Callable[[ClientWebSocketResponse], Awaitable[None]]
) -> None:
    """A client asks, leaves, and comes back on another socket. The answer to the first question comes last."""
    table = await seated(service.platform)
    asking, answering, was_asked = asyncio.Event(), asyncio.Event(), 0

    class SlowAtFirst:
        async def place(self, asked: Asked) -> Place | None:
            nonlocal was_asked
            was_asked += 1
            if was_asked == 1:
                asking.set()
                await answering.wait()
            return Place(table.tokens[asked.playerid - 100_001])

    async with edge_of(service, players=SlowAtFirst()) as edge, edge.session.ws_connect(url(edge)) as playing:
        async with edge.session.ws_connect(url(edge)) as left:
            await say(left, enter(0))
            await asking.wait()
            await leave(left)
        await say(playing, enter(0))
        told = await hear(playing)
        assert told is not None
        assert "deskinfo" in group(told["data"])
        answering.set()
        await eventually(lambda: len(edge.edge.sockets) == 1)
        await say(playing, packet(0, "nothing"))
        assert await hear(playing) == failure("nothing", 5)


async def test_an_error_in_one_conversation_closes_its_socket_alone(
    edge: ServedEdge, service: Service, caplog: pytest.LogCaptureFixture
) -> None:
    table = await seated(service.platform)
    async with edge.session.ws_connect(url(edge)) as broken, edge.session.ws_connect(url(edge)) as whole:
        await entered(broken, table, 0)
        await entered(whole, table, 1)
        first, _ = edge.edge.seats._seats.values()
        snapshot = await seen(service, table, 0)
        snapshot.view.parts.progress.phase = view_pb2.PHASE_UNSPECIFIED
        response = gateway_pb.ConnectResponse(
            seats=[gateway_pb.SeatMessages(handle=first.handle, messages=[pb.SeatMessage(snapshot=snapshot)])]
        )
        await edge.edge.seats.hear(response)
        assert await hear(broken) is None
        assert broken.close_code == 4013
        assert "seat failed" in caplog.messages
        await say(whole, packet(1, "nothing"))
        assert await hear(whole) == failure("nothing", 5)
