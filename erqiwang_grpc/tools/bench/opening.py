"""Opening rooms: on a real server, or on the relay, which needs nothing but names."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol, final

from google.protobuf import json_format

from erqiwang_grpc.client import Platform
from erqiwang_grpc.testing import seated
from erqiwang_grpc.tools.bench.orders import Orders
from erqiwang_grpc.v1 import room_pb2


class Opener(Protocol):
    """Opens rooms."""

    async def open(self, number: int) -> Sequence[str]:
        """Open a new room and take every seat. Gives the token of each seat, seat 0 first.

        `number` differs for each room of one opener.
        """


@final
class ServerRooms:
    """Opens rooms on a real server, with one platform's key."""

    def __init__(self, address: str, key: str, options: str) -> None:
        self._platform = Platform([address], key)
        self._options = json_format.Parse(options, room_pb2.RoomOptions())

    async def open(self, number: int) -> Sequence[str]:
        """Open a room and take every seat; the number is not needed. Raises `CallRefused` if the server refuses it."""
        return (await seated(self._platform, self._options)).tokens


@final
class RelayRooms:
    """Makes names of rooms for the relay. It needs no call, because the relay begins a room with its first seat."""

    def __init__(self, name: str, seats: int) -> None:
        self._name = name
        self._seats = seats

    async def open(self, number: int) -> Sequence[str]:
        """The tokens of a room with this number, as `relay.place` reads them."""
        return [f"{self._name}/{number}#{seat}" for seat in range(self._seats)]


def opener(orders: Orders, number: int) -> Opener:
    """What opens the rooms of the table with this number."""
    if orders.kind == "relay":
        return RelayRooms(f"{orders.name}-{number}", orders.seats)
    return ServerRooms(orders.address(number, 0), orders.key, orders.options)
