"""How far a seat that was away may look back is a promise of the schemas: the last 64 events of the deal."""

from random import Random

from erqiwang_core.units import Seat

from erqiwang_grpc.rooms.registry import Rooms
from erqiwang_grpc.store.memory import MemoryStore
from tests.durability.played import node_on, play, seated


async def test_a_seat_that_was_away_for_long_is_told_of_the_last_sixty_four_events() -> None:
    room = await seated(Rooms(node_on(MemoryStore())))
    await play(room, 70, Random(3))
    told = room.audience.beginning(Seat(0), 0).missed
    assert [missed.version for missed in told] == list(range(room.version - 63, room.version + 1))
