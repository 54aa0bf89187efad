"""A field that is refused is named, with its bounds and what was given (texts: `test_texts.py`)."""

from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Final

import grpc
import pytest
from google.protobuf.timestamp_pb2 import Timestamp
from google.rpc.error_details_pb2 import ErrorInfo
from google.rpc.status_pb2 import Status

from erqiwang_grpc.client import CallRefused, refusal_of
from erqiwang_grpc.client.calls import bearer
from erqiwang_grpc.store.sqlite import STORE_FILE, SqliteStore, open_store
from erqiwang_grpc.v1 import bidding_pb2, refusal_pb2, room_pb2, room_service_pb2 as pb, seat_service_pb2 as seat_pb
from tests.service.tables import PLAYERS, RawSeat, Service, seated, served

Refusal = refusal_pb2.Refusal
LONGEST_ID: Final = 64


def of_bytes(length: int, character: str) -> str:
    """A text of that many bytes, of as many of those characters as fit."""
    size = len(character.encode())
    return character * (length // size) + "x" * (length % size)


async def test_the_id_of_a_command_on_a_stream_is_taken_up_to_its_bound_in_bytes(service: Service) -> None:
    table = await seated(service.platform)
    stream = RawSeat(service, table.tokens[0])
    await stream.attach()
    for length, reason in ((LONGEST_ID, "no_command"), (LONGEST_ID + 1, "invalid_field")):
        await stream.say(seat_pb.PlayRequest(command_id=of_bytes(length, "王"), command=seat_pb.Command()))
        refusal = (await stream.hear("refused")).refused.refusal
        assert refusal.WhichOneof("reason") == reason
        assert refusal.invalid_field.given == (length if length > LONGEST_ID else 0)


async def refused(call: Awaitable[object]) -> tuple[refusal_pb2.Refusal, dict[str, str]]:
    """The refusal of a call, and the metadata of its `ErrorInfo`."""
    with pytest.raises(grpc.aio.AioRpcError) as error:
        await call
    assert error.value.code() is grpc.StatusCode.INVALID_ARGUMENT
    refusal = refusal_of(error.value).refusal
    assert refusal is not None
    status, info = Status(), ErrorInfo()
    trailing = dict(error.value.trailing_metadata() or ())
    status.MergeFromString(bytes(trailing["grpc-status-details-bin"]))
    assert status.details[0].Unpack(info)
    assert status.message == refusal.message
    return refusal, dict(info.metadata)


def options(**chosen: object) -> Callable[[Service], Awaitable[object]]:
    """A quote for those options."""
    message = room_pb2.RoomOptions()
    for name, value in chosen.items():
        if isinstance(value, int):
            setattr(message, name, value)
        else:
            getattr(message, name).CopyFrom(value)
    request = pb.QuoteRoomRequest(choice=pb.RoomChoice(options=message))
    return lambda service: service.rooms.QuoteRoom(request, metadata=bearer(service.key))


def list_rooms(**said: object) -> Callable[[Service], Awaitable[object]]:
    request = pb.ListRoomsRequest()
    for name, value in said.items():
        setattr(request, name, value)
    return lambda service: service.rooms.ListRooms(request, metadata=bearer(service.key))


NUMBERS: Final = [
    pytest.param(
        options(deals=7), "choice.options.deals", 7, (0, 12), [0, 6, 12],
        "`choice.options.deals` must have 0, 6 or 12, and has 7.", id="deals",
    ),
    pytest.param(
        options(payer=9), "choice.options.payer", 9, (0, 2), [0, 1, 2],
        "`choice.options.payer` must have 0, 1 or 2, and has 9.", id="payer",
    ),
    pytest.param(
        options(four_player=room_pb2.FourPlayerGame(deck=room_pb2.Deck.ValueType(3))),
        "choice.options.four_player.deck", 3, (0, 2), [0, 1, 2],
        "`choice.options.four_player.deck` must have 0, 1 or 2, and has 3.", id="deck",
    ),
    pytest.param(
        options(countdowns=room_pb2.Countdowns(bury=3601)), "choice.options.countdowns.bury", 3601, (0, 3600), [],
        "`choice.options.countdowns.bury` must have 0 to 3600 seconds, and has 3601.", id="countdown",
    ),
    pytest.param(
        options(start=3), "choice.options.start", 3, (0, 2), [0, 1, 2],
        "`choice.options.start` must have 0, 1 or 2, and has 3.", id="start",
    ),
    pytest.param(
        list_rooms(state=77), "state", 77, (0, 5), [0, 1, 2, 3, 4, 5],
        "`state` must have 0, 1, 2, 3, 4 or 5, and has 77.", id="state",
    ),
]  # fmt: skip


@pytest.mark.parametrize(("call", "path", "given", "bounds", "allowed", "said"), NUMBERS)
async def test_a_number_that_is_none_of_those_taken(
    service: Service,
    call: Callable[[Service], Awaitable[object]],
    path: str,
    given: int,
    bounds: tuple[int, int],
    allowed: list[int],
    said: str,
) -> None:
    refusal, info = await refused(call(service))
    told = refusal.invalid_field
    assert (told.field, told.given, (told.least, told.most), list(told.allowed)) == (path, given, bounds, allowed)
    assert refusal.message == said
    assert (info["field"], info["given"]) == (path, str(given))


@pytest.mark.parametrize("number", [0, 6, 12])
async def test_a_number_that_is_one_of_those_taken(service: Service, number: int) -> None:
    await options(deals=number, countdowns=room_pb2.Countdowns(bid=3600, trump=3600, bury=3600, play=3600))(service)


async def test_a_page_token_or_a_cursor_that_was_not_given_here(service: Service) -> None:
    metadata = bearer(service.key)
    for call, path in (
        (list_rooms(page_token="no page")(service), "page_token"),
        (
            service.rooms.ListMatchRecords(pb.ListMatchRecordsRequest(page_token="ä"), metadata=metadata),
            "page_token",
        ),
        (service.rooms.WatchRooms(pb.WatchRoomsRequest(cursor="no cursor"), metadata=metadata).read(), "cursor"),
    ):
        refusal, info = await refused(call)
        assert refusal.invalid_cursor.field == path
        assert info == {"field": path}


async def test_a_page_of_more_than_the_most_is_one_of_the_most(service: Service) -> None:
    platform = service.platform
    opened = [await platform.create_room("alice", command_id=f"{number}") for number in range(201)]
    for size in (200, 201, 2**32 - 1):
        page: pb.ListRoomsResponse = await service.rooms.ListRooms(
            pb.ListRoomsRequest(page_size=size), metadata=bearer(service.key)
        )
        assert (len(page.rooms), page.rooms[0].room_id) == (200, opened[-1].room_id)
        assert page.next_page_token
        await service.rooms.ListMatchRecords(pb.ListMatchRecordsRequest(page_size=size), metadata=bearer(service.key))


async def test_any_moment_bounds_a_list_of_matches(service: Service) -> None:
    await is_bounded_by_any_moment(service)


async def test_any_moment_bounds_a_list_of_matches_in_a_file(tmp_path: Path) -> None:
    store = await open_store(tmp_path / STORE_FILE)
    assert isinstance(store, SqliteStore), store
    async with served(tmp_path, store=store) as service:
        await is_bounded_by_any_moment(service)
    await store.close()


async def is_bounded_by_any_moment(service: Service) -> None:
    """The first and the last that a timestamp can name are beyond what a store can count."""
    table = await seated(service.platform)
    await service.platform.disband_room(table.room_id)
    year_1, year_9999 = Timestamp(seconds=-62_135_596_800), Timestamp(seconds=253_402_300_799, nanos=999_999_999)
    before_1970 = Timestamp(seconds=-1, nanos=999_999_999)

    async def found(since: Timestamp | None = None, until: Timestamp | None = None) -> list[str]:
        return [summary.room_id async for summary in service.platform.records(since=since, until=until)]

    assert await found(since=year_1, until=year_9999) == [table.room_id]
    assert await found(since=before_1970) == [table.room_id]
    assert await found(until=year_1) == await found(until=before_1970) == await found(since=year_9999) == []


async def test_a_full_room_says_so(service: Service) -> None:
    table = await seated(service.platform)
    with pytest.raises(CallRefused) as error:
        await service.platform.take_seat(table.room_id, "dora")
    assert (error.value.reason, error.value.code) == ("ROOM_FULL", grpc.StatusCode.FAILED_PRECONDITION)
    assert error.value.refusal is not None
    assert error.value.refusal.room_full.seats == 3
    with pytest.raises(CallRefused) as error:
        await service.platform.take_seat(table.room_id, "dora", 1)
    assert error.value.refusal is not None
    assert error.value.refusal.seat_occupied.seat == 1
    assert error.value.refusal.HasField("seat_occupied")


@pytest.mark.parametrize(("has", "asks"), [(2, 0), (0, 2), (1, 0)])
async def test_a_player_who_sits_on_one_seat_takes_no_other(service: Service, has: int, asks: int) -> None:
    room = await service.platform.create_room("alice")
    await service.platform.take_seat(room.room_id, "alice", has)
    with pytest.raises(CallRefused) as error:
        await service.platform.take_seat(room.room_id, "alice", asks)
    assert error.value.refusal is not None
    assert (error.value.reason, error.value.refusal.seated_elsewhere.seat) == ("SEATED_ELSEWHERE", has)
    assert (await service.platform.take_seat(room.room_id, "alice")).seat == has


async def test_the_requests_of_a_stream_are_numbered_from_1(service: Service) -> None:
    """So that a client without ids of commands can tell which of its requests is answered."""
    table = await seated(service.platform)
    stream = RawSeat(service, table.tokens[0])
    await stream.attach()
    nothing = seat_pb.PlayRequest(command=seat_pb.Command())
    bid = seat_pb.PlayRequest(command=seat_pb.Command(bid=bidding_pb2.Bid(points=70)))
    beat = seat_pb.PlayRequest(heartbeat=seat_pb.Heartbeat())
    again = seat_pb.PlayRequest(attach=seat_pb.Attach())
    too_long = seat_pb.PlayRequest(command_id="x" * 65, command=seat_pb.Command())
    for request in (nothing, beat, bid, again, seat_pb.PlayRequest(), too_long, nothing):
        await stream.say(request)
    await stream.say(seat_pb.PlayRequest(detach=seat_pb.Detach()))
    answered = [
        (kind, message.accepted.request or message.refused.request)
        for message in await stream.rest()
        if (kind := message.WhichOneof("message")) in ("accepted", "refused")
    ]
    assert answered == [("refused", 2), ("accepted", 4), ("refused", 7), ("refused", 8)]


@pytest.mark.parametrize("game", [room_pb2.RoomOptions(), room_pb2.RoomOptions(four_player=room_pb2.FourPlayerGame())])
async def test_every_seat_hears_that_the_deal_has_started(service: Service, game: room_pb2.RoomOptions) -> None:
    """The one that fills the room too, whose stream can only come later: it attaches with the version it was given."""
    room = await service.platform.create_room("alice", game)
    players = PLAYERS[: len(room.room.seats)]
    for player_, request in (
        (name, pb.TakeSeatRequest(room_id=room.room_id, player=name, command_id=name)) for name in players
    ):
        taken: pb.TakeSeatResponse = await service.rooms.TakeSeat(request, metadata=bearer(service.key))
        repeated: pb.TakeSeatResponse = await service.rooms.TakeSeat(request, metadata=bearer(service.key))
        assert repeated.last_version == taken.last_version, "the same command, the same answer"
        brought = 2 if player_ == players[-1] else 1
        assert taken.last_version == taken.room.version - brought, "before the seat was taken"
        stream = RawSeat(service, taken.seat_token)
        missed = (await stream.attach(taken.last_version)).missed
        started = [notice for notice in missed if notice.HasField("deal_started")]
        if player_ == players[-1]:
            (notice,) = started
            assert (notice.deal_started.deal, notice.version) == (1, taken.room.version)
            assert notice.deal_started.commitment
        else:
            assert started == []
