"""Names at the door: every rpc that takes one refuses what cannot be printed, names the field, and keeps what people are called."""

import grpc
import pytest

from erqiwang_grpc.client import CallRefused
from tests.commands.hostile import GOOD, NAMES
from tests.service.tables import Service


async def test_a_hostile_name_is_refused_with_its_field(service: Service) -> None:
    platform = service.platform
    room = await platform.create_room("alice")
    for name in NAMES.values():
        for field, call in (("owner", platform.create_room(name)), ("player", platform.take_seat(room.room_id, name))):
            with pytest.raises(CallRefused) as refused:
                await call
            assert refused.value.code == grpc.StatusCode.INVALID_ARGUMENT
            assert field in str(refused.value.refusal)
    assert (await platform.room(room.room_id)).version == room.room.version


async def test_people_keep_their_names(service: Service) -> None:
    platform = service.platform
    for name in GOOD:
        room = await platform.create_room(name)
        await platform.take_seat(room.room_id, name)
        found = await platform.room(room.room_id)
        assert (found.owner, found.seats[0].player) == (name, name)
