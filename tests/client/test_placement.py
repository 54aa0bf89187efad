"""All seats of a room begin with the same node, and tell proxies their room."""

import asyncio
from collections import Counter

import grpc
import pytest

from erqiwang_grpc.client import SeatClient
from erqiwang_grpc.client.placement import in_order

NODES = [f"node{number}:50051" for number in range(4)]
ROOMS = [f"room{number}" for number in range(2_000)]


def test_rooms_are_spread_and_seats_of_one_room_are_not() -> None:
    first = Counter(in_order(room, NODES)[0] for room in ROOMS)
    assert all(400 < first[node] < 600 for node in NODES)
    assert all(in_order(room, NODES) == in_order(room, NODES[::-1]) for room in ROOMS)
    assert all(sorted(in_order(room, NODES)) == NODES for room in ROOMS)


def test_only_the_rooms_of_a_node_that_is_taken_away_move() -> None:
    for room in ROOMS:
        before, after = in_order(room, NODES), in_order(room, NODES[1:])
        assert after == tuple(node for node in before if node != NODES[0])


def test_one_address_is_a_list_too() -> None:
    with pytest.raises(ValueError, match="a list of one address"):
        SeatClient("node:50051", "a token", room_id="room")


async def asked_of(room_id: str | None) -> dict[str, str]:
    """The metadata of the stream that a client of the room opens."""
    heard: asyncio.Queue[dict[str, str]] = asyncio.Queue()

    async def play(_: object, context: grpc.aio.ServicerContext[bytes, bytes]) -> bytes:
        heard.put_nowait({key: str(value) for key, value in context.invocation_metadata() or ()})
        await context.abort(grpc.StatusCode.NOT_FOUND, "there is no room here")

    server = grpc.aio.server()
    handler: grpc.RpcMethodHandler[bytes, bytes] = grpc.stream_unary_rpc_method_handler(play)
    services = grpc.method_handlers_generic_handler("erqiwang.v1.SeatService", {"Play": handler})
    server.add_generic_rpc_handlers((services,))
    port = server.add_insecure_port("127.0.0.1:0")
    await server.start()
    try:
        async with SeatClient([f"127.0.0.1:{port}"], "a token", room_id=room_id) as client:
            assert client.ended is not None
        return heard.get_nowait()
    finally:
        await server.stop(0)


async def test_a_proxy_is_told_the_room() -> None:
    assert (await asked_of("a room"))["erqiwang-room"] == "a room"
    assert "erqiwang-room" not in await asked_of(None)
