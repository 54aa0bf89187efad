"""Tables for a person at the page: a server, an edge, and clients that play the other seats."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from typing import Final, final

from erqiwang_grpc.client import SeatClient
from erqiwang_grpc.shuffling import Shuffler, seeded
from erqiwang_grpc.testing import Service, Table, play, seated, served
from erqiwang_grpc.v1 import room_pb2
from tests.edge.sockets import ServedEdge, edge_of

HOSTILE: Final = "<img src=x onerror=alert(1)>"
PLAYERS: Final = (HOSTILE, "Anna", "陈小明", "Dora")


@final
@dataclass(frozen=True, slots=True)
class PageTable:
    """A seated table with an edge beside its server."""

    service: Service
    edge: ServedEdge
    table: Table
    others: dict[int, SeatClient]

    def url(self, seat: int) -> str:
        """The address of the page, with the token of a seat."""
        return f"{self.page}#token={self.table.tokens[seat]}"

    @property
    def page(self) -> str:
        """The address of the page."""
        return f"http://127.0.0.1:{self.edge.port}/"


@asynccontextmanager
async def page_table(
    own: int, options: room_pb2.RoomOptions | None = None, *, shuffle: Shuffler | None = None, plays: bool = True
) -> AsyncIterator[PageTable]:
    """A table whose other seats are attached and, unless not `plays`, do what is suggested to them."""
    async with AsyncExitStack() as stack:
        service = await stack.enter_async_context(served(shuffle=shuffle or seeded(5)))
        edge = await stack.enter_async_context(edge_of(service))
        platform = await stack.enter_async_context(service.platform)
        table = await seated(platform, options, players=PLAYERS)
        others = {
            seat: await stack.enter_async_context(service.client(token))
            for seat, token in enumerate(table.tokens)
            if seat != own
        }
        playing = [asyncio.create_task(play(each)) for each in others.values()] if plays else []
        try:
            yield PageTable(service, edge, table, others)
        finally:
            for each in playing:
                each.cancel()
            await asyncio.gather(*playing, return_exceptions=True)
