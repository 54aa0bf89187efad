"""Labels and the platform's own reference: told back to the platform everywhere, and to nobody else."""

from collections.abc import Mapping
from pathlib import Path
from typing import Final

import grpc
import pytest

from erqiwang_grpc.client import CallRefused
from erqiwang_grpc.client.calls import bearer
from erqiwang_grpc.store.memory import MemoryStore
from erqiwang_grpc.v1 import refusal_pb2, room_pb2, room_service_pb2 as pb, seat_service_pb2 as seat_pb, view_pb2
from tests.service.tables import PLAYERS, Service, Table, act, acting, attached, in_phase, play_all, served

Refusal: Final = refusal_pb2.Refusal
REFERENCE: Final = "order-4711/四七一一"
LABELS: Final = {"mode": "ranked 排位赛", "season.7": "", "x_y-z": "verysecretvalue"}
MARKS: Final = [mark.encode() for mark in (REFERENCE, *LABELS, *LABELS.values()) if mark]


async def marked(service: Service) -> Table:
    """A room with all of it, whose seats are all taken."""
    room = await service.platform.create_room("alice", command_id="marked", reference=REFERENCE, labels=LABELS)
    taken = [await service.platform.take_seat(room.room_id, player) for player in PLAYERS[:3]]
    for told in (room.room, *(seat.room for seat in taken)):
        assert (told.reference, dict(told.labels)) == (REFERENCE, LABELS)
    return Table(room.room_id, tuple(seat.token for seat in taken))


async def test_it_comes_back_with_rooms_events_and_records(tmp_path: Path) -> None:
    log = MemoryStore()
    async with served(tmp_path, store=log) as service:
        table = await marked(service)
        bare = await service.platform.create_room("bob", command_id="bare")
        await service.platform.disband_room(bare.room_id)
        ended = (await service.platform.disband_room(table.room_id)).room
        assert (ended.reference, dict(ended.labels)) == (REFERENCE, LABELS)
        await is_told(service, table, bare.room_id)
    async with served(tmp_path, store=log) as later:
        # Nothing of it is in memory now.
        await is_told(later, table, bare.room_id)
        again = await later.platform.room(table.room_id)
        assert (again.reference, dict(again.labels)) == (REFERENCE, LABELS)


async def is_told(service: Service, table: Table, bare: str) -> None:
    platform = service.platform
    rooms = {room.room_id: (room.reference, dict(room.labels)) for room in await platform.rooms()}
    assert rooms == {table.room_id: (REFERENCE, LABELS), bare: ("", {})}
    number = 0
    async for event in platform.watch():
        number += 1
        assert (event.reference, dict(event.labels)) == rooms[event.room_id], event.WhichOneof("event")
        if event.room_id == table.room_id and event.HasField("match_settled"):
            break
    assert number == 8, "every public event of both"
    async for later in platform.watch(f"{service.store_id}-6-0"):
        assert (later.reference, dict(later.labels)) == rooms[later.room_id], "also where the watch begins later"
        if later.room_id == table.room_id:
            break
    summary = (await platform.record(table.room_id)).summary
    assert (summary.reference, dict(summary.labels)) == (REFERENCE, LABELS)
    (listed,) = [record async for record in platform.records()]
    assert listed == summary


async def test_no_byte_that_a_seat_is_sent_holds_any_of_it(service: Service) -> None:
    table = await marked(service)
    play: grpc.aio.StreamStreamMultiCallable[seat_pb.PlayRequest, bytes] = service.channel.stream_stream(
        "/erqiwang.v1.SeatService/Play", request_serializer=seat_pb.PlayRequest.SerializeToString
    )
    streams = [play(metadata=table.metadata(seat)) for seat in range(3)]
    for stream in streams:
        await stream.write(seat_pb.PlayRequest(attach=seat_pb.Attach(last_version=0)))
    sent: list[bytes] = []
    for _ in range(20):
        turn = await acting(service, table)
        assert turn is not None
        sent.append((await act(service, table, *turn)).SerializeToString())
    await service.platform.disband_room(table.room_id, seat=1)
    for seat, stream in enumerate(streams):
        heard = b""
        while b"verysecretvalue" not in heard and not is_over(heard):
            response = await stream.read()
            assert isinstance(response, bytes)
            heard += response
        sent.append(heard)
        stream.cancel()
        for method, request in (
            ("GetView", seat_pb.GetViewRequest(last_version=0)),
            ("GetRecord", seat_pb.GetRecordRequest()),
        ):
            unary: grpc.aio.UnaryUnaryMultiCallable[bytes, bytes] = service.channel.unary_unary(
                f"/erqiwang.v1.SeatService/{method}"
            )
            sent.append(await unary(request.SerializeToString(), metadata=table.metadata(seat)))
    assert all(mark not in each for mark in MARKS for each in sent)
    assert sum(map(len, sent)) > 5_000, "something was sent"
    record: pb.GetMatchRecordResponse = await service.rooms.GetMatchRecord(
        pb.GetMatchRecordRequest(room_id=table.room_id), metadata=bearer(service.key)
    )
    assert all(mark in record.SerializeToString() for mark in MARKS), "its platform is told all the same"
    own: seat_pb.GetRecordResponse = await service.seats.GetRecord(
        seat_pb.GetRecordRequest(), metadata=table.metadata(0)
    )
    assert (own.record.summary.reference, dict(own.record.summary.labels)) == ("", {}), "also after the platform asked"


def is_over(heard: bytes) -> bool:
    messages = seat_pb.PlayResponse.FromString(heard).messages
    return any(message.notice.HasField("match_ended") for message in messages)


async def test_rooms_with_labels_play_like_any_other(service: Service) -> None:
    table = await marked(service)
    async with attached(service, table) as seats:
        await play_all(seats, until=in_phase(view_pb2.PHASE_PLAYING))
    assert (await service.platform.room(table.room_id)).state == room_pb2.ROOM_STATE_PLAYING


async def refusal(service: Service, reference: str = "", labels: Mapping[str, str] | None = None) -> CallRefused:
    with pytest.raises(CallRefused) as refused:
        await service.platform.create_room("alice", command_id="refused", reference=reference, labels=labels)
    return refused.value


@pytest.mark.parametrize(
    ("reference", "labels", "told"),
    [
        pytest.param(
            "王" * 129, {}, ("reference", 129, 0, 128, Refusal.UNIT_CHARACTERS), id="a reference that is too long"
        ),
        pytest.param("a\nb", {}, ("reference", 1, 0, 0, Refusal.UNIT_CONTROL_CHARACTERS), id="in two lines"),
        pytest.param(
            "", {f"k{n}": "" for n in range(17)}, ("labels", 17, 0, 16, Refusal.UNIT_ITEMS), id="too many labels"
        ),
        pytest.param("", {"": "x"}, ("labels.key", 0, 1, 63, Refusal.UNIT_CHARACTERS), id="an empty key"),
        pytest.param("", {"k" * 64: "x"}, ("labels.key", 64, 1, 63, Refusal.UNIT_CHARACTERS), id="a long key"),
        pytest.param("", {"Mode\n": "x"}, ("labels.key", 2, 0, 0, Refusal.UNIT_OTHER_CHARACTERS), id="no key"),
        pytest.param(
            "",
            {"a": "", "mode": "x" * 129},
            ('labels["mode"]', 129, 0, 128, Refusal.UNIT_CHARACTERS),
            id="a long value",
        ),
        pytest.param(
            "", {"mode": "\x1b"}, ('labels["mode"]', 1, 0, 0, Refusal.UNIT_CONTROL_CHARACTERS), id="an escape"
        ),
    ],
)
async def test_what_is_out_of_bounds_is_refused_and_named(
    service: Service,
    reference: str,
    labels: dict[str, str],
    told: tuple[str, int, int, int, refusal_pb2.Refusal.Unit.ValueType],
) -> None:
    refused = (await refusal(service, reference, labels)).refusal
    assert refused is not None
    invalid = refused.invalid_field
    assert (invalid.field, invalid.given, invalid.least, invalid.most, invalid.unit) == told


async def test_what_is_just_within_bounds_is_taken(service: Service) -> None:
    labels = {f"{n:02}" + "k" * 61: "🂡" * 128 for n in range(16)}
    room = (await service.platform.create_room("alice", reference="🂡" * 128, labels=labels)).room
    assert (room.reference, dict(room.labels)) == ("🂡" * 128, labels)


async def test_they_are_part_of_the_command(service: Service) -> None:
    platform = service.platform
    first = await platform.create_room("alice", command_id="refused", reference="r", labels={"a": "1", "b": "2"})
    again = await platform.create_room("alice", command_id="refused", reference="r", labels={"b": "2", "a": "1"})
    assert again.room == first.room, "their order says nothing"
    for reference, labels in (("r", {"a": "1"}), ("s", {"a": "1", "b": "2"}), ("r", {"a": "1", "b": "3"})):
        assert (await refusal(service, reference, labels)).reason == "COMMAND_ID_REUSED"
