"""Tables for a person at the page: a server, an edge, and clients that play the other seats."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from typing import Final, final

from erqiwang_grpc.client import SeatClient
from erqiwang_grpc.shuffling import Shuffler, seeded
from erqiwang_grpc.testing import Chooser, Service, Table, play, seated, served, suggested
from erqiwang_grpc.v1 import (
    burying_pb2,
    card_pb2,
    naming_pb2,
    playing_pb2,
    room_pb2,
    seat_service_pb2 as pb,
    view_pb2,
)
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
    own: int,
    options: room_pb2.RoomOptions | None = None,
    *,
    shuffle: Shuffler | None = None,
    chooses: Mapping[int, Chooser] | None = None,
) -> AsyncIterator[PageTable]:
    """A table whose other seats are attached, and do what their chooser says, or else what is suggested to them."""
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
        playing = [
            asyncio.create_task(play(each, (chooses or {}).get(seat, suggested))) for seat, each in others.items()
        ]
        try:
            yield PageTable(service, edge, table, others)
        finally:
            for each in playing:
                each.cancel()
            await asyncio.gather(*playing, return_exceptions=True)


def scripted(trump: str, *, keeps: Sequence[int]) -> Chooser:
    """A declarer who names that trump, keeps those cards and leads them first; otherwise it does what is suggested."""

    def choose(view: view_pb2.View) -> pb.Command | None:
        advice, hand = view.parts.advice, view.parts.hand.cards
        if advice.HasField("name"):
            return pb.Command(name_trump=naming_pb2.NameTrump(trump=card_pb2.Trump.Value(trump)))
        if advice.HasField("bury"):
            spare = [card for card in hand if card not in keeps and card % 54 < 52]
            return pb.Command(bury=burying_pb2.Bury(cards=spare[: advice.bury.count]))
        if advice.HasField("lead") and set(keeps) <= set(hand):
            return pb.Command(play_cards=playing_pb2.PlayCards(cards=keeps))
        return suggested(view)

    return choose
