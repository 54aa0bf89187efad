"""Lists narrowed by what a platform names: state, player, its own reference, labels; each of them, and all at once."""

from collections.abc import Mapping
from pathlib import Path
from typing import Final

import grpc
import pytest

from erqiwang_grpc.client import CallRefused, Platform, refusal_of
from erqiwang_grpc.client.calls import bearer
from erqiwang_grpc.store import Store
from erqiwang_grpc.store.memory import MemoryStore
from erqiwang_grpc.store.sqlite import SqliteStore, open_store
from erqiwang_grpc.v1 import room_pb2, room_service_pb2 as pb
from tests.service.tables import ROOMY, Service, attached, play_all, seated, served

ROOMS: Final[list[tuple[str, dict[str, str]]]] = [
    ("", {}),
    ("A-1", {"city": "南昌"}),
    ("A-2", {"city": "南昌", "tier": "a=b"}),
    ("A-2", {"tier": "a=b"}),
]
"""The reference and the labels of each; the last two are disbanded."""


async def opened(platform: Platform) -> list[str]:
    """The rooms, the newest first, each with two players and one of its own."""
    found: list[str] = []
    for number, (reference, labels) in enumerate(ROOMS):
        made = await platform.create_room("alice", reference=reference, labels=labels, command_id=f"{number}")
        for player in ("alice", "bob", f"carol {number}"):
            await platform.take_seat(made.room_id, player)
        if number > 1:
            await platform.disband_room(made.room_id)
        found.append(made.room_id)
    return found[::-1]


NAMED: Final[list[tuple[str, str, Mapping[str, str], list[int], list[int]]]] = [
    ("", "", {}, [0, 1, 2, 3], [0, 1]),
    ("", "A-2", {}, [0, 1], [0, 1]),
    ("", "A-1", {}, [2], []),
    ("", "A-", {}, [], []),
    ("", "", {"city": "南昌"}, [1, 2], [1]),
    ("", "", {"city": "南"}, [], []),
    ("", "", {"city": "南昌", "tier": "a=b"}, [1], [1]),
    ("carol 3", "", {}, [0], [0]),
    ("carol 3", "A-2", {"tier": "a=b"}, [0], [0]),
    ("carol 3", "A-1", {}, [], []),
    ("bob", "", {"city": "南昌"}, [1, 2], [1]),
    ("dora", "", {}, [], []),
]
"""A player, a reference and labels; which rooms carry them all, and which matches that have ended, counted from the newest room."""


@pytest.mark.parametrize("on_disk", [False, True])
async def test_a_list_is_narrowed_by_everything_that_is_named(tmp_path: Path, on_disk: bool) -> None:
    store: Store = MemoryStore()
    if on_disk:
        found = await open_store(tmp_path / "rooms.sqlite")
        assert isinstance(found, SqliteStore)
        store = found
    async with served(tmp_path, store=store) as service:
        platform = service.platform
        every = await opened(platform)
        for player, reference, labels, rooms, matches in NAMED:
            listed = await platform.rooms(player=player, reference=reference, labels=labels)
            assert [every.index(room.room_id) for room in listed] == rooms, (player, reference, labels)
            records = [each async for each in platform.records(player, reference=reference, labels=labels)]
            assert [every.index(match.room_id) for match in records] == matches, (player, reference, labels)
            playing = await platform.rooms(room_pb2.ROOM_STATE_PLAYING, player, reference=reference, labels=labels)
            assert [every.index(room.room_id) for room in playing] == [room for room in rooms if room > 1]
        rival = Platform([service.address], service.tenant("rival"))
        assert await rival.rooms(reference="A-2", labels={"tier": "a=b"}) == []
        assert [match async for match in rival.records(reference="A-2")] == []
    await store.close()


@pytest.mark.parametrize("on_disk", [False, True])
async def test_matches_are_told_apart_by_how_they_ended(tmp_path: Path, on_disk: bool) -> None:
    store: Store = MemoryStore()
    if on_disk:
        found = await open_store(tmp_path / "rooms.sqlite")
        assert isinstance(found, SqliteStore)
        store = found
    async with served(tmp_path, limits=ROOMY, store=store) as service:
        platform = service.platform
        finished, disbanded, *_ = [await seated(platform, command_id=f"{number}") for number in range(3)]
        async with attached(service, finished) as seats:
            await play_all(seats)
        await platform.disband_room(disbanded.room_id)
        await platform.disband_room((await platform.create_room("alice")).room_id)
        names = {finished.room_id: "finished", disbanded.room_id: "disbanded"}
        for state, expected in ENDED_IN.items():
            matches = [names[match.room_id] async for match in platform.records(state=state)]
            assert matches == expected, room_pb2.RoomState.Name(state)
        alices = [match.room_id async for match in platform.records("alice", state=room_pb2.ROOM_STATE_FINISHED)]
        assert alices == [finished.room_id]
        assert [match async for match in platform.records("dora", state=room_pb2.ROOM_STATE_FINISHED)] == []
    await store.close()


ENDED_IN: Final = {
    room_pb2.ROOM_STATE_UNSPECIFIED: ["disbanded", "finished"],
    room_pb2.ROOM_STATE_FINISHED: ["finished"],
    room_pb2.ROOM_STATE_DISBANDED: ["disbanded"],
}
"""Which of three matches a list of records names, the last to end first. The third goes on, and a fourth room had no match."""


@pytest.mark.parametrize(
    "state", [room_pb2.ROOM_STATE_OPEN, room_pb2.ROOM_STATE_PLAYING, room_pb2.ROOM_STATE_EXPIRED, 6, 99]
)
async def test_a_state_that_no_ended_match_has_is_refused(service: Service, state: int) -> None:
    wanted = room_pb2.RoomState.ValueType(state)
    with pytest.raises(CallRefused) as refused:
        await anext(service.platform.records(state=wanted))
    assert refused.value.refusal is not None
    told = refused.value.refusal.invalid_field
    assert (told.field, told.given, list(told.allowed)) == ("state", state, [0, 3, 4])


NO_ROOM_HAS: Final = [
    ("player", pb.ListRoomsRequest(player="x" * 129)),
    ("reference", pb.ListRoomsRequest(reference="x" * 129)),
    ("reference", pb.ListRoomsRequest(reference="a\nb")),
    ("labels.key", pb.ListRoomsRequest(labels={"Ä": "x"})),
    ("labels", pb.ListRoomsRequest(labels={f"key{number}": "x" for number in range(17)})),
]


@pytest.mark.parametrize(("field", "request_"), NO_ROOM_HAS)
async def test_what_no_room_can_have_is_refused_by_name(
    service: Service, field: str, request_: pb.ListRoomsRequest
) -> None:
    matches = pb.ListMatchRecordsRequest(player=request_.player, reference=request_.reference, labels=request_.labels)
    for call in (
        service.rooms.ListRooms(request_, metadata=bearer(service.key)),
        service.rooms.ListMatchRecords(matches, metadata=bearer(service.key)),
    ):
        with pytest.raises(grpc.aio.AioRpcError) as error:
            await call
        refused: CallRefused = refusal_of(error.value)
        assert refused.refusal is not None
        assert refused.refusal.invalid_field.field == field
