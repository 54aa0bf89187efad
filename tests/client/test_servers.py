"""A list of addresses: on to the next server where one cannot be reached, does not answer or is leaving."""

import asyncio
import socket
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Sequence
from dataclasses import fields
from typing import Final

import grpc
import pytest

from erqiwang_grpc.client import CallRefused, Platform, SeatClient
from erqiwang_grpc.v1 import bidding_pb2, room_service_pb2, seat_service_pb2 as pb
from tests.client.scripted import Context, answering, attached, goodbye, playing, said, snapshot, watched
from tests.client.test_endings import parting, refusing
from tests.service.tables import PATIENCE, PLAYERS, Service, act, seated

BID: Final = pb.Command(bid=bidding_pb2.Bid(points=70))

Call = Callable[[Platform], Awaitable[object]]
COMMANDS: Final[dict[str, Call]] = {
    "CreateRoom": lambda platform: platform.create_room("alice"),
    "TakeSeat": lambda platform: platform.take_seat("room", "alice"),
    "LeaveSeat": lambda platform: platform.leave_seat("room", 0),
    "DisbandRoom": lambda platform: platform.disband_room("room"),
}


async def _first_record(platform: Platform) -> None:
    await anext(platform.records())


QUESTIONS: Final[dict[str, Call]] = {
    "GetRoom": lambda platform: platform.room("room"),
    "ListRooms": lambda platform: platform.rooms(),
    "GetMatchRecord": lambda platform: platform.record("room"),
    "ListMatchRecords": _first_record,
    "QuoteRoom": lambda platform: platform.quote(room_service_pb2.RoomChoice()),
}


@pytest.fixture
def nowhere() -> Iterator[str]:
    """An address where nobody listens: the port is taken, and stays so."""
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        yield f"127.0.0.1:{taken.getsockname()[1]}"


def test_an_address_alone_is_no_list() -> None:
    alone: tuple[Sequence[str], ...] = ("127.0.0.1:50051", [], ())
    for addresses in alone:
        with pytest.raises(ValueError, match="list"):
            Platform(addresses, "key")
        with pytest.raises(ValueError, match="list"):
            SeatClient(addresses, "token")


@pytest.mark.parametrize("method", COMMANDS | QUESTIONS)
async def test_every_call_has_a_deadline(method: str) -> None:
    asked: list[str] = []

    def never(called: str, _: bytes) -> None:
        asked.append(called)

    async with answering(never) as address, Platform([address], "key", deadline=0.05) as platform:
        with pytest.raises(CallRefused) as refused:
            await asyncio.wait_for((COMMANDS | QUESTIONS)[method](platform), PATIENCE)
    assert (refused.value.code, asked) == (grpc.StatusCode.DEADLINE_EXCEEDED, [method])


COMMAND_IDS: Final[dict[str, Callable[[bytes], str]]] = {
    "CreateRoom": lambda request: room_service_pb2.CreateRoomRequest.FromString(request).command_id,
    "TakeSeat": lambda request: room_service_pb2.TakeSeatRequest.FromString(request).command_id,
    "LeaveSeat": lambda request: room_service_pb2.LeaveSeatRequest.FromString(request).command_id,
    "DisbandRoom": lambda request: room_service_pb2.DisbandRoomRequest.FromString(request).command_id,
}


@pytest.mark.parametrize("method", COMMANDS)
async def test_a_command_that_nobody_carried_out_was_sent_to_every_server_under_one_id_and_that_is_told(
    method: str,
) -> None:
    ids: list[str] = []

    def unavailable(called: str, request: bytes) -> grpc.StatusCode:
        ids.append(COMMAND_IDS[called](request))
        return grpc.StatusCode.UNAVAILABLE

    async with (
        answering(unavailable) as one,
        answering(unavailable) as other,
        Platform([one, other], "key") as platform,
    ):
        with pytest.raises(CallRefused) as refused:
            await COMMANDS[method](platform)
    assert len(ids) == 2
    assert ids == [refused.value.command_id] * 2
    assert refused.value.command_id


async def test_what_is_refused_is_not_asked_of_another_server() -> None:
    asked: list[str] = []

    def refuse(called: str, _: bytes) -> grpc.StatusCode:
        asked.append(called)
        return grpc.StatusCode.NOT_FOUND

    async with answering(refuse) as one, answering(refuse) as other, Platform([one, other], "key") as platform:
        with pytest.raises(CallRefused):
            await platform.room("room")
    assert asked == ["GetRoom"]


async def test_a_platform_and_a_seat_pass_over_an_address_where_nobody_listens(service: Service, nowhere: str) -> None:
    async with Platform([nowhere, service.address], service.key) as platform:
        table = await seated(platform)
        async with SeatClient([nowhere, service.address], table.tokens[0]) as client:
            assert isinstance(await client.act(BID), pb.Accepted)


async def test_a_server_that_cannot_be_reached_at_all_is_said(nowhere: str) -> None:
    async with Platform([nowhere], "key") as platform:
        with pytest.raises(CallRefused) as refused:
            await platform.rooms()
    assert refused.value.code is grpc.StatusCode.UNAVAILABLE


@pytest.mark.parametrize(
    "script",
    [
        parting(pb.Goodbye.REASON_DRAINING, grpc.StatusCode.UNAVAILABLE),
        refusing(grpc.StatusCode.UNAVAILABLE),
        refusing(grpc.StatusCode.RESOURCE_EXHAUSTED),
    ],
    ids=["leaving", "unavailable", "full"],
)
async def test_a_seat_goes_on_to_the_next_server(script: Callable[..., Awaitable[None]]) -> None:
    async with (
        playing(script) as (one, first),
        playing(attached) as (other, second),
        SeatClient([one, other], "token") as client,
        asyncio.timeout(PATIENCE),
    ):
        await client.until(lambda: second.streams == 1 and client.version == 1)
        assert (first.streams, client.ended) == (1, None)


async def test_a_seat_whose_stream_was_lost_comes_back_to_the_same_server() -> None:
    async def lost(requests: AsyncIterator[pb.PlayRequest], context: Context) -> None:
        await anext(requests)
        await context.write(said(snapshot(1)))
        await context.abort(grpc.StatusCode.UNAVAILABLE, "lost")

    async with (
        playing(lost, attached) as (one, first),
        playing(attached) as (other, second),
        SeatClient([one, other], "token") as client,
        asyncio.timeout(PATIENCE),
    ):
        await client.until(lambda: client.connections == 2)
    assert (first.streams, second.streams) == (2, 0)


def attaching(attaches: list[pb.Attach], *messages: pb.SeatMessage) -> Callable[..., Awaitable[None]]:
    """Keep what the client attaches with, say this, and lose the stream."""

    async def script(requests: AsyncIterator[pb.PlayRequest], context: Context) -> None:
        attaches.append((await anext(requests)).attach)
        await context.write(said(*messages))
        await context.abort(grpc.StatusCode.UNAVAILABLE, "lost")

    return script


@pytest.mark.parametrize("given", [None, 0, 3])
async def test_a_client_attaches_with_the_last_version_it_has_seen(given: int | None) -> None:
    attaches: list[pb.Attach] = []
    eighth = pb.SeatMessage(notice=pb.Notice(version=8))
    scripts = (attaching(attaches), attaching(attaches, snapshot(7), eighth), attaching(attaches, snapshot(9)))
    draining = goodbye(pb.Goodbye.REASON_DISPLACED)
    async with (
        playing(*scripts, attaching(attaches, draining)) as (address, _),
        SeatClient([address], "token", last_version=given) as client,
        asyncio.timeout(PATIENCE),
    ):
        await client.until(lambda: False)
    versions = [attach.last_version if attach.HasField("last_version") else None for attach in attaches]
    assert versions == [given, given, 8, 9]


async def test_a_command_may_be_asked_again_under_its_id(service: Service) -> None:
    table = await seated(service.platform)
    async with service.client(table.tokens[0]) as client:
        first = asyncio.create_task(client.act(BID, command_id="mine"))
        await asyncio.sleep(0)
        first.cancel()
        answer = await client.act(BID, command_id="mine")
        assert isinstance(answer, pb.Accepted)
        assert answer.command_id == "mine"
        again = await client.act(BID, command_id="mine")
        assert isinstance(again, pb.Accepted)
        assert (again.first_version, again.repeated_command) == (answer.first_version, True)


async def test_what_a_platform_is_answered_is_told_whole(service: Service) -> None:
    async with service.platform as platform:
        created = await platform.create_room("alice")
        assert (created.room_id, created.cost.owner) == (created.room.room_id, 2)
        assert await platform.create_room("alice", command_id=created.command_id) == created
        seated_first = await platform.take_seat(created.room_id, "alice")
        assert [seat.player for seat in seated_first.room.seats] == ["alice", "", ""]
        assert seated_first.token_expires.seconds > created.room.create_time.seconds
        again = await platform.take_seat(created.room_id, "alice", command_id=seated_first.command_id)
        assert again.token == seated_first.token


async def test_the_seat_that_fills_the_room_hears_the_deal_begin(service: Service) -> None:
    """By the README's steps: the client attaches with what `take_seat` gave. Every other seat is told the same, once."""
    async with service.platform as platform:
        room = await platform.create_room("alice")
        *_, taken = [await platform.take_seat(room.room_id, player) for player in PLAYERS[:3]]
    client = SeatClient([service.address], taken.token, last_version=taken.last_version)
    async with client:
        first = await anext(client.messages())
    begun = [told for told in first.snapshot.missed if told.HasField("deal_started")]
    assert [(told.deal_started.deal, told.version) for told in begun] == [(1, taken.room.version)]


async def test_what_a_seat_is_given_is_told_whole(service: Service) -> None:
    """A field that `TakeSeat` or `CreateRoom` is given some day and the client does not pass on is noticed here."""
    async with service.platform as platform:
        created = await platform.create_room("alice")
        seat = await platform.take_seat(created.room_id, "alice")
    names = {"seat_token": "token", "token_expire_time": "token_expires"}
    for told, message in ((created, room_service_pb2.CreateRoomResponse), (seat, room_service_pb2.TakeSeatResponse)):
        passed_on = {each.name for each in fields(told)} - {"command_id"}
        assert {names.get(field.name, field.name) for field in message.DESCRIPTOR.fields} == passed_on


async def test_a_watch_goes_on_after_the_last_event_that_was_given() -> None:
    async with watched(["1", "2"], [], ["3"], ["4", "5"]) as (address, server), Platform([address], "key") as platform:
        events = platform.watch("0")
        async with asyncio.timeout(PATIENCE):
            assert [(await anext(events)).cursor for _ in range(5)] == ["1", "2", "3", "4", "5"]
        assert server.asked == ["0", "2", "2", "3"]
        await events.aclose()


async def test_a_watch_goes_on_at_the_next_server() -> None:
    async with (
        watched(["1"], []) as (one, first),
        watched(["2"]) as (other, second),
        Platform([one, other], "key") as platform,
        asyncio.timeout(PATIENCE),
    ):
        events = platform.watch()
        assert [(await anext(events)).cursor for _ in range(2)] == ["1", "2"]
        assert (first.asked, second.asked) == (["", "1"], ["1"])
        await events.aclose()


@pytest.mark.parametrize("code", [grpc.StatusCode.UNAUTHENTICATED, grpc.StatusCode.INVALID_ARGUMENT])
async def test_a_watch_that_is_refused_says_so(code: grpc.StatusCode) -> None:
    async with watched([], code=code) as (address, server), Platform([address], "key") as platform:
        with pytest.raises(CallRefused) as refused:
            await anext(platform.watch())
    assert (refused.value.code, server.asked) == (code, [""])


async def test_a_watch_of_a_real_platform_is_cancelled_as_any_wait(service: Service) -> None:
    async with service.platform as platform:
        table = await seated(platform)
        events = platform.watch()
        seen = [await anext(events) for _ in range(5)]
        waiting = asyncio.create_task(_next(events))
        await asyncio.sleep(0)
        waiting.cancel()
        await asyncio.wait([waiting])
        assert waiting.cancelled()
        # A generator that was cancelled has ended; the cursor goes on.
        await act(service, table, 0, BID)
        await platform.disband_room(table.room_id)
        rest = platform.watch(seen[-1].cursor)
        async with asyncio.timeout(PATIENCE):
            assert (await anext(rest)).version > seen[-1].version
        await rest.aclose()


async def _next(events: AsyncIterator[room_service_pb2.RoomEvent]) -> room_service_pb2.RoomEvent:
    return await anext(events)
