"""Many rooms side by side: none waits for another, and each is told its own story."""

import asyncio
from random import Random
from typing import Final

from erqiwang_grpc.v1 import room_pb2, view_pb2
from tests.service.tables import FOUR_PLAYERS, Service, attached, in_phase, play_all, seated

ROOMS: Final = 200
OPTIONS: Final = (room_pb2.RoomOptions(), room_pb2.RoomOptions(no_review=True), FOUR_PLAYERS)


async def test_two_hundred_rooms_at_once(service: Service) -> None:
    chance = Random(200)

    async def evening(number: int) -> str:
        """A room until its first trick is over, with a seat that leaves and comes back."""
        players = [f"{name} of {number}" for name in ("alice", "bob", "carol", "dora")]
        table = await seated(service.platform, chance.choice(OPTIONS), players=players)
        async with attached(service, table) as seats:
            await play_all(seats, until=in_phase(view_pb2.PHASE_BURYING))
            chance.choice(seats).drop()
            await play_all(seats, until=lambda view: view.parts.table.number >= 2)
            assert {seat.view.room_id for seat in seats} == {table.room_id}
            assert all(list(seat.view.parts.chairs.players) == players[: len(seats)] for seat in seats)
            assert all(seat.view.parts.table == seats[0].view.parts.table for seat in seats)
        return table.room_id

    rooms = await asyncio.gather(*(evening(number) for number in range(ROOMS)))
    assert len(set(rooms)) == ROOMS
    assert {room.room_id for room in await service.platform.rooms()} == set(rooms)
    assert service.server.seats.streams == 0
