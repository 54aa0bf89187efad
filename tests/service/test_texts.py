"""Every text of every request is bounded, or is said here to need no bound. Each bound is where it is said to be.

The texts are found in the descriptors, so that a new one is not left out. Names and ids count bytes of UTF-8, a Chinese
character taking three; texts for people count characters.
"""

from collections.abc import Awaitable, Callable, Iterator
from dataclasses import dataclass
from typing import Final, final

import grpc
import pytest
from google.protobuf.descriptor import Descriptor, FieldDescriptor, MethodDescriptor
from google.protobuf.message import Message
from google.protobuf.message_factory import GetMessageClass
from google.rpc.error_details_pb2 import ErrorInfo

from erqiwang_grpc.client.calls import bearer, refusal_of, rich_status
from erqiwang_grpc.v1 import refusal_pb2, room_service_pb2, seat_service_pb2
from tests.documents import REPOSITORY
from tests.service.tables import Service

Refusal = refusal_pb2.Refusal


@final
@dataclass(frozen=True, slots=True)
class Bounds:
    """How long a text may be, and in what that is counted."""

    least: int
    most: int
    unit: refusal_pb2.Refusal.Unit.ValueType

    @property
    def counted(self) -> str:
        """The unit in words."""
        return {Refusal.UNIT_BYTES: "bytes", Refusal.UNIT_CHARACTERS: "characters"}[self.unit]

    def text(self, length: int, character: str) -> str:
        """A text of that length, of as many of those characters as fit."""
        size = len(character.encode()) if self.unit == Refusal.UNIT_BYTES else 1
        return character * (length // size) + "x" * (length % size)


ID: Final = Bounds(0, 64, Refusal.UNIT_BYTES)
ID_NEEDED: Final = Bounds(1, 64, Refusal.UNIT_BYTES)
NAME: Final = Bounds(1, 128, Refusal.UNIT_BYTES)
NAME_SOUGHT: Final = Bounds(0, 128, Refusal.UNIT_BYTES)
WORDS: Final = Bounds(0, 128, Refusal.UNIT_CHARACTERS)
REMARK: Final = Bounds(0, 200, Refusal.UNIT_CHARACTERS)

BOUNDED: Final = {
    "CreateRoom.command_id": ID_NEEDED,
    "CreateRoom.owner": NAME,
    "CreateRoom.reference": WORDS,
    "CreateRoom.labels.value": WORDS,
    "ListRooms.player": NAME_SOUGHT,
    "ListRooms.reference": WORDS,
    "ListRooms.labels.value": WORDS,
    "TakeSeat.player": NAME,
    "TakeSeat.command_id": ID,
    "RefreshSeatToken.player": NAME,
    "LeaveSeat.command_id": ID,
    "StartMatch.command_id": ID,
    "DisbandRoom.command_id": ID,
    "DisbandRoom.text": REMARK,
    "ListMatchRecords.player": NAME_SOUGHT,
    "ListMatchRecords.reference": WORDS,
    "ListMatchRecords.labels.value": WORDS,
    "Act.command_id": ID,
}
KEYS: Final = ("CreateRoom.labels.key", "ListRooms.labels.key", "ListMatchRecords.labels.key")
"""Tested here as well: keys have characters of their own."""
SOUGHT: Final = (
    "GetRoom.room_id",
    "TakeSeat.room_id",
    "RefreshSeatToken.room_id",
    "LeaveSeat.room_id",
    "StartMatch.room_id",
    "DisbandRoom.room_id",
    "GetMatchRecord.room_id",
    "CreateWatchToken.room_id",
)
"""Tested here as well: a room is found or is not."""
ELSEWHERE: Final = {
    "Play.attach.seat_token": "test_access.py::test_a_token_in_attach_ends_a_stream_which_has_metadata_for_it",
    "Play.command_id": "test_fields.py::test_the_id_of_a_command_on_a_stream_is_taken_up_to_its_bound_in_bytes",
    "ListRooms.page_token": "test_fields.py::test_a_page_token_or_a_cursor_that_was_not_given_here",
    "ListMatchRecords.page_token": "test_fields.py::test_a_page_token_or_a_cursor_that_was_not_given_here",
    "WatchRooms.cursor": "test_fields.py::test_a_page_token_or_a_cursor_that_was_not_given_here",
    # No roomtype is too long: missing digits count as 0, and only the first five count.
    "CreateRoom.choice.roomtype": "test_rooms.py::test_a_room_costs_what_was_quoted",
    "QuoteRoom.choice.roomtype": "test_rooms.py::test_a_room_costs_what_was_quoted",
}
"""What is no matter of length, or not sent in a single call, and the test of it."""

METHODS: Final[dict[str, MethodDescriptor]] = {
    method.name: method
    for service in (
        room_service_pb2.DESCRIPTOR.services_by_name["RoomService"],
        seat_service_pb2.DESCRIPTOR.services_by_name["SeatService"],
    )
    for method in service.methods
}
FILLED: Final[dict[str, dict[str, str | bool]]] = {
    "CreateRoom": {"command_id": "mine", "owner": "alice"},
    "TakeSeat": {"player": "bob"},
    "RefreshSeatToken": {"player": "alice"},
    "CreateWatchToken": {"settled_deals": True},
}
"""What a request must have beside the text."""


def texts(message: Descriptor, path: str) -> Iterator[str]:
    """The paths of all texts of a message, those in the messages within it included."""
    for field in message.fields:
        if field.type == FieldDescriptor.TYPE_STRING:
            yield f"{path}.{field.name}"
        elif field.message_type is not None:
            yield from texts(field.message_type, f"{path}.{field.name}")


def test_every_text_of_every_request_is_here() -> None:
    found = [path for name, method in METHODS.items() for path in texts(method.input_type, name)]
    assert sorted(found) == sorted((*BOUNDED, *KEYS, *SOUGHT, *ELSEWHERE))


@pytest.mark.parametrize("test", sorted(set(ELSEWHERE.values())))
def test_what_is_tested_elsewhere_is_there(test: str) -> None:
    file, _, name = test.partition("::")
    assert f"def {name}(" in (REPOSITORY / "tests" / "service" / file).read_text("utf-8")


async def send(service: Service, room_id: str, path: str, *text: str) -> object:
    """Send a request whose field `path` holds the text; a label has two."""
    name, _, field = path.partition(".")
    method = METHODS[name]
    request: Message = GetMessageClass(method.input_type)(**FILLED.get(name, {}))
    if "room_id" in method.input_type.fields_by_name:
        setattr(request, "room_id", room_id)  # noqa: B010  # a message of any type
    if field.startswith("labels"):
        getattr(request, "labels").update([text])  # noqa: B009  # a message of any type
    else:
        setattr(request, field, *text)
    if method.containing_service.name == "SeatService":
        token = (await service.platform.take_seat(room_id, "alice")).token
        call: Callable[..., Awaitable[object]] = getattr(service.seats, name)
        return await call(request, metadata=bearer(token))
    call = getattr(service.rooms, name)
    return await call(request, metadata=bearer(service.key))


async def fault(sent: Awaitable[object]) -> tuple[Refusal.InvalidField, str, dict[str, str]] | None:
    """How the field is refused, in which words, and the metadata of its `ErrorInfo`; None if the field is taken."""
    try:
        await sent
    except grpc.aio.AioRpcError as refused:
        error = refused
    else:
        return None
    refusal, info = refusal_of(error).refusal, ErrorInfo()
    assert refusal is not None, error
    if not refusal.HasField("invalid_field"):
        return None
    assert error.code() is grpc.StatusCode.INVALID_ARGUMENT
    status = rich_status(error)
    assert status.details[0].Unpack(info)
    assert status.message == refusal.message
    return refusal.invalid_field, refusal.message, dict(info.metadata)


@pytest.mark.parametrize("character", ["x", "é", "王", "🂡"])
@pytest.mark.parametrize("path", BOUNDED)
async def test_a_text_is_taken_up_to_its_bounds(service: Service, path: str, character: str) -> None:
    bounds = BOUNDED[path]
    room = (await service.platform.create_room("alice")).room_id
    await service.platform.take_seat(room, "alice", 0)
    before = ("k",) if path.endswith(".value") else ()
    named = 'labels["k"]' if before else path.partition(".")[2]
    least, most = bounds.least, bounds.most
    for length in {least - 1, most + 1} - {-1}:
        wrong = await fault(send(service, room, path, *before, bounds.text(length, character)))
        assert wrong is not None
        assert wrong[0] == Refusal.InvalidField(field=named, given=length, least=least, most=most, unit=bounds.unit)
        assert wrong[1] == f"`{named}` must have {least} to {most} {bounds.counted}, and has {length}."
        assert wrong[2] == {
            "field": named,
            "given": str(length),
            "least": str(least),
            "most": str(most),
            "unit": Refusal.Unit.Name(bounds.unit),
        }
    assert await fault(send(service, room, path, *before, bounds.text(most, character))) is None


@pytest.mark.parametrize("path", KEYS)
async def test_the_key_of_a_label_is_taken_up_to_its_bounds(service: Service, path: str) -> None:
    for length, is_taken in ((0, False), (1, True), (63, True), (64, False)):
        wrong = await fault(send(service, "", path, "k" * length, "v"))
        assert (wrong is None) == is_taken
        assert wrong is None or (wrong[0].field, wrong[0].given) == ("labels.key", length)
    for key in ("K", "k ", "王", "k\n"):
        wrong = await fault(send(service, "", path, key, "v"))
        assert wrong is not None
        assert (wrong[0].field, wrong[0].unit) == ("labels.key", Refusal.UNIT_OTHER_CHARACTERS)


@pytest.mark.parametrize("room", ["", "x", "\0", "王" * 10_000])
@pytest.mark.parametrize("path", SOUGHT)
async def test_any_other_text_is_no_rooms_id(service: Service, path: str, room: str) -> None:
    with pytest.raises(grpc.aio.AioRpcError) as refused:
        await send(service, room, path, room)
    assert refused.value.code() is grpc.StatusCode.NOT_FOUND
