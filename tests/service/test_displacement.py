"""One stream a seat: a newer one takes over, and a fresh token ends what was opened with an older one."""

from collections.abc import Awaitable, Callable

import grpc
import pytest

from erqiwang_grpc.client import Platform
from erqiwang_grpc.v1 import seat_service_pb2 as pb
from tests.service.gateways import SeatOf, by_gateway
from tests.service.tables import RawSeat, Service, Table, eventually, seated, seen, step


async def test_a_newer_stream_displaces_the_older_which_is_told_so(service: Service, seat_of: SeatOf) -> None:
    table = await seated(service.platform)
    first, second = seat_of(table.tokens[0]), seat_of(table.tokens[0])
    await first.attach()
    await second.attach()
    assert (await first.rest())[-1].goodbye.reason == pb.Goodbye.REASON_DISPLACED
    assert first.refused is not None
    assert (first.refused.code, first.refused.reason) == (grpc.StatusCode.ABORTED, "DISPLACED")
    accepted = await step(service, table)
    assert (await second.hear("notice")).notice.version == accepted.first_version


async def test_a_displaced_client_stays_away(service: Service) -> None:
    table = await seated(service.platform)
    first, second = (service.client(table.tokens[0]) for _ in range(2))
    async with first, second:
        await first.until(lambda: False)
        assert first.ended is not None
        assert first.ended.code == grpc.StatusCode.ABORTED
        assert (first.connections, second.connections) == (1, 1)
        assert second.ended is None
        assert await first.act(pb.Command()) == first.ended, "a client that has ended says so at once"


async def _cancel(stream: RawSeat) -> None:
    stream.call.cancel()


async def _half_close(stream: RawSeat) -> None:
    await stream.call.done_writing()


async def _read_to_the_end(stream: RawSeat) -> None:
    await stream.rest()


@pytest.mark.parametrize("part", [_cancel, _half_close, _read_to_the_end])
async def test_the_late_end_of_a_displaced_stream_changes_nothing(
    service: Service, part: Callable[[RawSeat], Awaitable[None]]
) -> None:
    table = await seated(service.platform)
    watching = RawSeat(service, table.tokens[1])
    await watching.attach()
    first, second = RawSeat(service, table.tokens[0]), RawSeat(service, table.tokens[0])
    await first.attach()
    await second.attach()
    await part(first)
    await eventually(lambda: service.server.seats.streams == 2)
    room = service.room(table.room_id)
    assert [room.audience.present(seat) for seat in room.match.chairs.seats()] == [True, True, False]
    accepted = await step(service, table)
    assert (await second.hear("notice")).notice.version == accepted.first_version
    await watching.call.done_writing()
    presences = [message.presence.present for message in await watching.rest() if message.HasField("presence")]
    assert all(present[0] for present in presences[1:]), "seat 0 was never shown absent once it was there"


async def test_taking_the_seat_again_ends_the_stream_and_the_token(service: Service, seat_of: SeatOf) -> None:
    table = await seated(service.platform)
    stream, other = seat_of(table.tokens[0]), seat_of(table.tokens[1])
    await stream.attach()
    await other.attach()
    again = await service.platform.take_seat(table.room_id, "alice")
    assert (await stream.rest())[-1].goodbye.reason == pb.Goodbye.REASON_UNSEATED
    assert stream.refused is not None
    assert (stream.refused.code, stream.refused.reason) == (grpc.StatusCode.UNAUTHENTICATED, "UNSEATED")
    with pytest.raises(grpc.aio.AioRpcError) as refused:
        await seen(service, table, 0)
    assert refused.value.code() == grpc.StatusCode.UNAUTHENTICATED
    renewed = Table(table.room_id, (again.token, *table.tokens[1:]))
    taken = (await other.hear("notice")).notice
    assert (taken.seat_taken.seat, taken.seat_taken.player) == (0, "alice")
    assert (await seat_of(again.token).attach()).view == (await seen(service, renewed, 0)).view


async def test_a_client_whose_seat_was_taken_anew_stays_away(service: Service) -> None:
    table = await seated(service.platform)
    async with service.client(table.tokens[0]) as client:
        await service.platform.take_seat(table.room_id, "alice")
        await client.until(lambda: False)
        assert client.ended is not None
        assert (client.ended.code, client.connections) == (grpc.StatusCode.UNAUTHENTICATED, 1)


async def test_leaving_a_seat_before_the_start_ends_its_stream(service: Service, seat_of: SeatOf) -> None:
    platform: Platform = service.platform
    room = await platform.create_room("alice")
    seat = await platform.take_seat(room.room_id, "alice")
    stream = seat_of(seat.token)
    await stream.attach()
    await platform.leave_seat(room.room_id, seat.seat)
    assert (await stream.rest())[-1].goodbye.reason == pb.Goodbye.REASON_UNSEATED


async def test_a_gateway_and_a_stream_of_the_seats_own_displace_each_other(service: Service) -> None:
    table = await seated(service.platform)
    async with by_gateway(service) as seat_of:
        watching = seat_of(table.tokens[1])
        await watching.attach()
        through, own, again = seat_of(table.tokens[0]), RawSeat(service, table.tokens[0]), seat_of(table.tokens[0])
        await through.attach()
        await own.attach()
        assert (await through.rest())[-1].goodbye.reason == pb.Goodbye.REASON_DISPLACED
        await again.attach()
        assert (await own.rest())[-1].goodbye.reason == pb.Goodbye.REASON_DISPLACED
        accepted = await step(service, table)
        assert (await again.hear("notice")).notice.version == accepted.first_version
        await watching.say(pb.PlayRequest(detach=pb.Detach()))
        presences = [message.presence.present for message in await watching.rest() if message.HasField("presence")]
        assert [present[0] for present in presences] == [False, *[True] * (len(presences) - 1)], (
            "never shown absent since"
        )
