"""A seat asks on its stream for the record of its match: it is what `GetRecord` gives."""

from erqiwang_grpc.v1 import seat_service_pb2 as pb, view_pb2
from tests.service.gateways import SeatOf
from tests.service.tables import Service, attached, in_phase, play_all, seated

ASK = pb.PlayRequest(record=pb.GetRecordRequest())


async def test_the_record_is_the_one_of_the_call(service: Service, seat_of: SeatOf) -> None:
    table = await seated(service.platform)
    async with attached(service, table) as seats:
        await play_all(seats, until=in_phase(view_pb2.PHASE_SETTLED))
    stream = seat_of(table.tokens[0])
    await stream.attach()
    await stream.say(ASK)
    told = (await stream.hear("record_read")).record_read
    called: pb.GetRecordResponse = await service.seats.GetRecord(pb.GetRecordRequest(), metadata=table.metadata(0))
    assert told.record == called.record
    assert len(told.record.deals) == 1
    assert told.request == 2


async def test_before_the_first_deal_there_is_none(service: Service, seat_of: SeatOf) -> None:
    room = await service.platform.create_room("alice")
    seat = await service.platform.take_seat(room.room_id, "alice")
    stream = seat_of(seat.token)
    await stream.attach()
    await stream.say(pb.PlayRequest(command_id="mine", record=pb.GetRecordRequest()))
    refused = (await stream.hear("refused")).refused
    assert (refused.command_id, refused.request) == ("mine", 2)
    assert refused.refusal.WhichOneof("reason") == "no_such_record"
