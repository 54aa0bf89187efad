"""What a user of the package writes: a room, its seats, and a first bid; run with an address and a platform key."""

import asyncio
import sys

import grpc

from erqiwang_grpc.client import CallRefused, Platform, SeatClient, deck_is_opened
from erqiwang_grpc.v1 import bidding_pb2, room_pb2, seat_service_pb2 as pb, seat_service_pb2_grpc as rpc, view_pb2


def standing(view: view_pb2.View) -> int | None:
    """The bid that stands."""
    auction = view.parts.auction
    return auction.standing if auction.HasField("standing") else None


def told(message: pb.SeatMessage) -> str:
    """What a message is."""
    return message.WhichOneof("message") or "something newer"


async def main(address: str, key: str) -> None:
    """Bid, and look at the bid from another seat."""
    async with grpc.aio.insecure_channel(address) as channel:
        platform = Platform([address], key)
        options = room_pb2.RoomOptions(four_player=room_pb2.FourPlayerGame(deck=room_pb2.DECK_FULL), deals=12)
        room = await platform.create_room("alice", options)
        seated = [await platform.take_seat(room.room_id, name) for name in ("alice", "bob", "carol", "dora")]
        async with (
            SeatClient([address], seated[0].token, last_version=seated[0].last_version) as alice,
            SeatClient([address], seated[1].token, last_version=seated[1].last_version) as bob,
        ):
            answer = await alice.act(pb.Command(bid=bidding_pb2.Bid(points=120)))
            assert isinstance(answer, pb.Accepted), answer
            await bob.until(lambda: bob.version >= answer.last_version)
            print(standing(bob.view))
            async for message in bob.messages():
                print(told(message))
                break
        seats = rpc.SeatServiceStub(channel)
        metadata = (("authorization", f"Bearer {seated[2].token}"),)
        response: pb.GetViewResponse = await seats.GetView(pb.GetViewRequest(), metadata=metadata)
        if response.snapshot.view.parts.progress.phase == view_pb2.PHASE_SETTLED:
            print(deck_is_opened(response.snapshot.view))
        try:
            await platform.take_seat(room.room_id, "eve")
        except CallRefused as refused:
            print(refused.code.name, refused.reason)


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:]))
