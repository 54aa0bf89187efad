"""`/v1/play`: a seat on a WebSocket is told what a stream of `Play` would tell it, and plays."""

import asyncio
from contextlib import AsyncExitStack

import pytest

from tests.edge.sockets import SUBPROTOCOLS, ServedEdge
from tests.service.tables import Service, seated, seen


@pytest.mark.parametrize("subprotocol", SUBPROTOCOLS)
async def test_a_match_is_played_to_its_end_and_every_view_is_the_servers(
    service: Service, edge: ServedEdge, subprotocol: str
) -> None:
    table = await seated(service.platform)
    async with AsyncExitStack() as stack:
        players = [
            await stack.enter_async_context(edge.player(seat.token, subprotocol, seat.last_version))
            for seat in table.seats
        ]
        await asyncio.gather(*(player.play() for player in players))
        for number, player in enumerate(players):
            now = await seen(service, table, number)
            assert (player.folded.view, player.folded.version) == (now.view, now.version)
            assert all(message.refused == type(message.refused)() for message in player.heard)
