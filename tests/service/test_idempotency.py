"""Commands sent again, out of order, or too late: each takes effect at most once, and its sender always learns what became of it."""

import asyncio
from random import Random

import grpc
import pytest

from erqiwang_grpc.client import CallRefused, Platform, refusal_of
from erqiwang_grpc.v1 import (
    bidding_pb2,
    naming_pb2,
    refusal_pb2,
    room_service_pb2,
    seat_service_pb2 as pb,
    settlement_pb2,
)
from tests.service.gateways import SeatOf
from tests.service.tables import RawSeat, Service, Table, acting, eventually, seated, seen

PASS = pb.Command(pass_bid=bidding_pb2.PassBid())


def bid(points: int) -> pb.Command:
    return pb.Command(bid=bidding_pb2.Bid(points=points))


async def sent(
    service: Service, table: Table, seat: int, command: pb.Command, command_id: str, expected: int | None = None
) -> pb.Accepted | refusal_pb2.Refusal:
    """What a single call is answered."""
    request = pb.ActRequest(command_id=command_id, expected_version=expected, command=command)
    try:
        response: pb.ActResponse = await service.seats.Act(request, metadata=table.metadata(seat))
    except grpc.aio.AioRpcError as error:
        return refusal_of(error).refusal or refusal_pb2.Refusal(message=f"no refusal, but {error}")
    return response.accepted


def accepted(command_id: str, version: int, *, repeated: bool = False, request: int = 0) -> pb.Accepted:
    return pb.Accepted(
        command_id=command_id,
        request=request,
        first_version=version,
        last_version=version,
        repeated_command=repeated,
    )


async def test_a_command_sent_again_is_answered_again_and_changes_nothing(service: Service) -> None:
    table = await seated(service.platform)
    before = (await seen(service, table, 0)).version
    assert await sent(service, table, 0, bid(70), "one") == accepted("one", before + 1)
    assert await sent(service, table, 1, PASS, "one") == accepted("one", before + 2), "each seat has its own ids"
    after = await seen(service, table, 0)
    for _ in range(3):
        assert await sent(service, table, 0, bid(70), "one") == accepted("one", before + 1, repeated=True)
    assert await seen(service, table, 0) == after


async def test_a_command_sent_again_on_another_stream_or_by_a_single_call_is_the_same(
    service: Service, seat_of: SeatOf
) -> None:
    table = await seated(service.platform)
    stream = seat_of(table.tokens[0])
    version = (await stream.attach()).version
    await stream.say(pb.PlayRequest(command_id="one", command=bid(70)))
    await stream.say(pb.PlayRequest(command_id="one", command=bid(70)))
    assert (await stream.hear("accepted")).accepted == accepted("one", version + 1, request=2)
    assert (await stream.hear("accepted")).accepted == accepted("one", version + 1, repeated=True, request=3)
    again = seat_of(table.tokens[0])
    assert (await again.attach()).version == version + 1
    await again.say(pb.PlayRequest(command_id="one", command=bid(70)))
    assert (await again.hear("accepted")).accepted == accepted("one", version + 1, repeated=True, request=2)
    own = RawSeat(service, table.tokens[0])
    await own.attach()
    await own.say(pb.PlayRequest(command_id="one", command=bid(70)))
    assert (await own.hear("accepted")).accepted == accepted("one", version + 1, repeated=True, request=2)
    assert await sent(service, table, 0, bid(70), "one") == accepted("one", version + 1, repeated=True)


async def test_many_at_once_take_effect_once(service: Service) -> None:
    table = await seated(service.platform)
    version = (await seen(service, table, 0)).version
    answers = await asyncio.gather(*(sent(service, table, 0, bid(70), "one") for _ in range(50)))
    assert sorted(answers, key=lambda answer: isinstance(answer, pb.Accepted) and answer.repeated_command) == [
        accepted("one", version + 1),
        *[accepted("one", version + 1, repeated=True)] * 49,
    ]
    assert (await seen(service, table, 0)).version == version + 1


async def test_an_id_with_another_payload_is_refused(service: Service) -> None:
    table = await seated(service.platform)
    await sent(service, table, 0, bid(70), "one")
    before = await seen(service, table, 0)
    for other in (bid(65), PASS):
        refusal = await sent(service, table, 0, other, "one")
        assert isinstance(refusal, refusal_pb2.Refusal)
        assert refusal.HasField("command_id_reused")
    assert await seen(service, table, 0) == before


async def test_a_refused_command_is_decided_anew(service: Service) -> None:
    table = await seated(service.platform)
    refusal = await sent(service, table, 1, PASS, "early")
    assert isinstance(refusal, refusal_pb2.Refusal)
    assert refusal.not_your_turn.turn == 0
    await sent(service, table, 0, bid(70), "one")
    version = (await seen(service, table, 0)).version
    assert await sent(service, table, 1, PASS, "early") == accepted("early", version + 1)


async def test_a_refused_id_is_free_for_another_command(service: Service) -> None:
    table = await seated(service.platform)
    await sent(service, table, 0, PASS, "one")
    version = (await seen(service, table, 0)).version
    assert await sent(service, table, 0, bid(70), "one") == accepted("one", version + 1)


async def test_a_stale_command_is_refused_with_the_version_it_missed(service: Service) -> None:
    table = await seated(service.platform)
    version = (await seen(service, table, 0)).version
    for expected in (0, version - 1, version + 1, 2**63):
        refusal = await sent(service, table, 0, bid(70), "one", expected)
        assert isinstance(refusal, refusal_pb2.Refusal)
        assert refusal.stale_version.version == version
    assert await sent(service, table, 0, bid(70), "one", version) == accepted("one", version + 1)


async def test_the_id_is_looked_at_before_the_expected_version(service: Service) -> None:
    table = await seated(service.platform)
    version = (await seen(service, table, 0)).version
    await sent(service, table, 0, bid(70), "one", version)
    assert await sent(service, table, 0, bid(70), "one", version) == accepted("one", version + 1, repeated=True)
    refusal = await sent(service, table, 0, bid(65), "one", version)
    assert isinstance(refusal, refusal_pb2.Refusal)
    assert refusal.HasField("command_id_reused")


async def test_a_second_ready_stands_and_nothing_comes_of_it(service: Service) -> None:
    table = await seated(service.platform)
    for seat, command in enumerate((bid(70), PASS, PASS)):
        await sent(service, table, seat, command, "")
    await sent(service, table, 0, pb.Command(surrender=naming_pb2.Surrender()), "")
    ready = pb.Command(ready=settlement_pb2.Ready())
    assert isinstance(await sent(service, table, 1, ready, "one"), pb.Accepted)
    before = await seen(service, table, 0)
    for command_id in ("two", "two", ""):
        assert await sent(service, table, 1, ready, command_id) == accepted(command_id, 0)
    assert await seen(service, table, 0) == before


async def test_ids_are_scoped_to_the_room(service: Service) -> None:
    here, there = await seated(service.platform), await seated(service.platform)
    assert here.room_id != there.room_id
    first = await sent(service, here, 0, bid(70), "one")
    assert await sent(service, there, 0, bid(70), "one") == first, "not repeated, though the same in every number"


async def test_an_id_outlives_the_server_that_took_it(service: Service) -> None:
    table = await seated(service.platform)
    first = await sent(service, table, 0, bid(70), "one")
    assert isinstance(first, pb.Accepted)
    service.room(table.room_id).touched = float("-inf")
    assert service.kept.put_away() == 1
    again = await sent(service, table, 0, bid(70), "one")
    assert again == accepted("one", first.first_version, repeated=True)


async def test_a_deal_of_commands_that_are_doubled_and_shuffled(service: Service) -> None:
    """As a bad network brings them: each several times, and later ones before earlier ones."""
    table = await seated(service.platform)
    chance = Random(1)
    every: list[tuple[int, pb.Command, str]] = []
    for number in range(60):
        turn = await acting(service, table)
        assert turn is not None
        seat, command = turn
        every.append((seat, command, f"c{number}"))
        version = (await seen(service, table, 0)).version
        late = chance.sample(every, min(4, len(every)))
        burst = [*late, every[-1], every[-1]]
        chance.shuffle(burst)
        answers = await asyncio.gather(*(sent(service, table, *each) for each in burst))
        assert all(isinstance(answer, pb.Accepted) for answer in answers)
        fresh = [answer for answer in answers if isinstance(answer, pb.Accepted) and not answer.repeated_command]
        assert [answer.first_version for answer in fresh] == [version + 1]


async def test_create_room_again_gives_the_same_room(service: Service) -> None:
    platform = service.platform
    first = await platform.create_room("alice", roomtype="10000", command_id="mine")
    rooms = await asyncio.gather(
        *(platform.create_room("alice", roomtype="10000", command_id="mine") for _ in range(10))
    )
    assert all(room == first for room in rooms)
    assert len(await platform.rooms()) == 1
    for owner, roomtype in (("bob", "10000"), ("alice", "00000")):
        with pytest.raises(CallRefused) as refused:
            await platform.create_room(owner, roomtype=roomtype, command_id="mine")
        assert refused.value.code == grpc.StatusCode.ALREADY_EXISTS
        assert refused.value.reason == "COMMAND_ID_REUSED"


async def test_another_platform_may_use_the_same_id_for_its_own_room(service: Service) -> None:
    stub, key = service.rooms, service.tenant("rival")
    request = room_service_pb2.CreateRoomRequest(command_id="mine", owner="alice")
    here = await stub.CreateRoom(request, metadata=(("authorization", f"Bearer {service.key}"),))
    there = await stub.CreateRoom(request, metadata=(("authorization", f"Bearer {key}"),))
    assert here.room.room_id != there.room.room_id


async def test_take_seat_again_by_id_keeps_the_epoch_and_without_id_raises_it(service: Service) -> None:
    platform = service.platform
    room = await platform.create_room("alice")
    first = await platform.take_seat(room.room_id, "alice", command_id="sit")
    again = await platform.take_seat(room.room_id, "alice", command_id="sit")
    for seat in (first, again):
        await seen(service, Table(room.room_id, (seat.token,)), 0)
    anew = await platform.take_seat(room.room_id, "alice")
    await seen(service, Table(room.room_id, (anew.token,)), 0)
    for seat in (first, again):
        with pytest.raises(grpc.aio.AioRpcError):
            await seen(service, Table(room.room_id, (seat.token,)), 0)


async def test_take_seat_again_by_id_gives_nobody_elses_token(service: Service) -> None:
    """The seat was left meanwhile and taken by another: an answer that comes late must not open that player's seat."""
    platform = service.platform
    room = await platform.create_room("alice")
    await platform.take_seat(room.room_id, "alice", 0, command_id="sit")
    await platform.leave_seat(room.room_id, 0)
    assert await refusal_to_sit(platform, room.room_id) == "SEAT_FREE"
    await platform.take_seat(room.room_id, "bob", 0)
    assert await refusal_to_sit(platform, room.room_id) == "SEAT_OCCUPIED"


async def refusal_to_sit(platform: Platform, room_id: str) -> str:
    with pytest.raises(CallRefused) as refused:
        await platform.take_seat(room_id, "alice", 0, command_id="sit")
    assert refused.value.code == grpc.StatusCode.FAILED_PRECONDITION
    return refused.value.reason


async def test_disband_again_by_id_gives_the_account_again(service: Service) -> None:
    platform = service.platform
    table = await seated(platform)
    first = await platform.disband_room(table.room_id, command_id="end")
    assert await platform.disband_room(table.room_id, command_id="end") == first
    with pytest.raises(CallRefused) as refused:
        await platform.disband_room(table.room_id, command_id="end it")
    assert refused.value.reason == "WRONG_PHASE"


async def test_a_command_whose_caller_gives_up_is_carried_out_whole(service: Service) -> None:
    table = await seated(service.platform)
    version = (await seen(service, table, 0)).version
    request = pb.ActRequest(command_id="one", command=bid(70))
    for _ in range(20):
        call = service.seats.Act(request, metadata=table.metadata(0))
        await asyncio.sleep(0)
        call.cancel()
    answer = await sent(service, table, 0, bid(70), "one")
    assert isinstance(answer, pb.Accepted)
    assert answer.first_version == version + 1
    await eventually(lambda: service.room(table.room_id).version == version + 1)
