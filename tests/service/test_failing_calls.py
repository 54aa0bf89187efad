"""An error of ours in any call: it is answered INTERNAL and logged, and its text, which may hold cards, goes to nobody."""

import logging
from pathlib import Path
from typing import Final, Never

import grpc
import pytest
from google.protobuf.descriptor import MethodDescriptor

from erqiwang_grpc.client import refusal_of
from erqiwang_grpc.client.calls import bearer
from erqiwang_grpc.logs import JsonLines
from erqiwang_grpc.store import (
    NOTHING,
    START,
    AppendAnswer,
    BadCursor,
    Batch,
    Cursor,
    Damaged,
    Entry,
    Fed,
    Page,
    RoomId,
    Search,
    Unavailable,
    Version,
)
from erqiwang_grpc.store.memory import MemoryStore
from erqiwang_grpc.v1 import room_service_pb2 as pb
from erqiwang_grpc.v1.seat_service_pb2 import Attach, PlayRequest
from tests.service.gateways import gateway_of
from tests.service.tables import Table, seated, served
from tests.service.test_access import RPCS, SEAT_RPCS, answer
from tests.store.passing_on import PassingOn

SECRET: Final = "[17, 42, 91]"
NOT_ASKING: Final = ("QuoteRoom", "GetServerInfo", "CreateWatchToken", "Connect")
"""A quote and the server itself ask nothing of anybody, and for a token it is enough to know whose room it is. A gateway asks
for its seats, and only the seat ends."""
ASKING: Final = {name: rpc for name, rpc in RPCS.items() if rpc.name not in NOT_ASKING}
"""Every rpc that asks the log, and so meets its error."""


class ErringStore(PassingOn):
    """A store that, when told to, raises what no store should."""

    def __init__(self) -> None:
        super().__init__(MemoryStore())
        self.errs = False

    async def append(self, room: RoomId, expected: Version, batch: Batch) -> AppendAnswer:
        return self._raised() if self.errs else await super().append(room, expected, batch)

    async def read(self, room: RoomId, after: Version = NOTHING) -> tuple[Entry, ...] | Damaged | Unavailable:
        return self._raised() if self.errs else await super().read(room, after)

    async def feed(self, feed: str, after: Cursor, limit: int) -> tuple[Fed, ...] | BadCursor | Unavailable:
        return self._raised() if self.errs else await super().feed(feed, after, limit)

    async def summaries(self, search: Search, limit: int, after: Cursor = START) -> Page | BadCursor | Unavailable:
        return self._raised() if self.errs else await super().summaries(search, limit, after)

    def _raised(self) -> Never:
        raise ArithmeticError(f"a hand of {SECRET}")


def request(rpc: MethodDescriptor, table: Table) -> bytes:
    """One that gets as far as the log."""
    if rpc.name == "CreateRoom":
        return pb.CreateRoomRequest(command_id="new", owner="alice").SerializeToString()
    # A room's id is the first field wherever a platform names a room.
    return pb.GetRoomRequest(room_id=table.room_id).SerializeToString() if needs_a_room(rpc) else b""


def needs_a_room(rpc: MethodDescriptor) -> bool:
    return "room_id" in rpc.input_type.fields_by_name


@pytest.mark.parametrize("rpc", ASKING.values(), ids=ASKING)
async def test_nothing_of_an_error_is_told(
    tmp_path: Path, rpc: MethodDescriptor, caplog: pytest.LogCaptureFixture
) -> None:
    store = ErringStore()
    async with served(tmp_path, store=store) as service:
        table = await seated(service.platform)
        service.room(table.room_id).touched = float("-inf")
        assert service.kept.put_away() == 1
        metadata = table.metadata(0) if rpc in SEAT_RPCS else bearer(service.key)
        store.errs = True
        with caplog.at_level(logging.ERROR), pytest.raises(grpc.aio.AioRpcError) as error:
            await answer(service, rpc, metadata, request(rpc, table))
        store.errs = False
        refused = refusal_of(error.value)
        assert (refused.code, refused.reason) == (grpc.StatusCode.INTERNAL, "FAILED")
        assert SECRET not in repr(error.value)
        (record,) = (record for record in caplog.records if record.message == "call failed")
        line = JsonLines().format(record)
        assert "ArithmeticError" in line
        assert SECRET not in line
        assert (await service.platform.room(table.room_id)).room_id == table.room_id, "the next call is answered"


async def test_nothing_of_an_error_is_told_to_a_gateway_and_only_the_seat_ends(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    store = ErringStore()
    async with served(tmp_path, store=store) as service, gateway_of(service) as gateway:
        table = await seated(service.platform)
        service.room(table.room_id).touched = float("-inf")
        assert service.kept.put_away() == 1
        store.errs = True
        ear = gateway.seat(table.tokens[0])
        with caplog.at_level(logging.ERROR):
            await ear.say(PlayRequest(attach=Attach()))
            await ear.rest()
        store.errs = False
        assert ear.ended is not None
        assert (ear.ended.code, ear.ended.reason) == (grpc.StatusCode.INTERNAL.value[0], "FAILED")
        assert SECRET not in repr(ear.ended)
        (record,) = (record for record in caplog.records if record.message == "seat failed")
        line = JsonLines().format(record)
        assert "ArithmeticError" in line
        assert SECRET not in line
        assert (await gateway.seat(table.tokens[0], ear.handle).attach()).version == 5, "the next is answered"
