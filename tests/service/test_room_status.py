"""What a platform is told of where a room stands: phase, who is to act, and when something happened last."""

from pathlib import Path

from erqiwang_grpc.v1 import room_pb2, room_service_pb2 as pb, view_pb2
from tests.service.tables import PLAYERS, ROOMY, act, acting, seated, served, step

NOON = 1_700_000_000_000_000_000
SECOND = 1_000_000_000


class Clock:
    def __init__(self) -> None:
        self.now = NOON

    def __call__(self) -> int:
        return self.now


def standing(room: pb.Room) -> tuple[view_pb2.Phase.ValueType, list[int], int]:
    return room.phase, list(room.to_act), (room.last_event_time.ToNanoseconds() - NOON) // SECOND


async def test_a_stalled_table_is_found_by_who_is_to_act_and_since_when(tmp_path: Path) -> None:
    clock = Clock()
    async with served(tmp_path, limits=ROOMY, now=clock) as service:
        platform = service.platform
        room = (await platform.create_room("alice")).room
        assert standing(room) == (view_pb2.PHASE_OPEN, [], 0)
        for seconds, player in enumerate(PLAYERS[:3], start=1):
            clock.now = NOON + seconds * SECOND
            room = (await platform.take_seat(room.room_id, player)).room
        assert standing(room) == (view_pb2.PHASE_BIDDING, [0], 3)
        clock.now += 100 * SECOND
        found = await platform.room(room.room_id)
        assert standing(found) == (view_pb2.PHASE_BIDDING, [0], 3), "nothing has happened since"
        assert found.version == room.version
        ended = (await platform.disband_room(room.room_id)).room
        assert standing(ended) == (view_pb2.PHASE_OVER, [], 103)
        service.room(room.room_id).touched = float("-inf")
        assert service.kept.put_away() == 1
        (listed,) = await platform.rooms(room_pb2.ROOM_STATE_DISBANDED)
        assert standing(listed) == standing(ended), "also when nobody needs it any more"


async def test_it_is_the_seat_with_advice_that_is_waited_for(tmp_path: Path) -> None:
    async with served(tmp_path, limits=ROOMY) as service:
        table = await seated(service.platform)
        phases = set()
        while True:
            room = await service.platform.room(table.room_id)
            phases.add(room.phase)
            if room.phase == view_pb2.PHASE_SETTLED:
                break
            turn = await acting(service, table)
            assert turn is not None
            assert list(room.to_act) == [turn[0]]
            await act(service, table, *turn)
        assert phases >= {view_pb2.PHASE_BIDDING, view_pb2.PHASE_NAMING, view_pb2.PHASE_PLAYING}
        assert list(room.to_act) == [0, 1, 2]
        await step(service, table)
        room = await service.platform.room(table.room_id)
        assert (room.phase, list(room.to_act)) == (view_pb2.PHASE_SETTLED, [1, 2]), "seat 0 is ready"
