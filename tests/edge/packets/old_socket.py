"""An old client on a real socket: it enters its seat, plays from packets alone, and comes back after it was cut off."""

from __future__ import annotations

import asyncio
import json
from typing import Final, final

from aiohttp import ClientWebSocketResponse, WSMsgType

from tests.edge.packets.old_client import OldPlayer, OldTable, group
from tests.edge.packets.stage import packet, sender
from tests.edge.sockets import ServedEdge
from tests.service.tables import PATIENCE

PATH: Final = "/v1/packets"


def url(edge: ServedEdge) -> str:
    """The address of the door for old clients."""
    return f"ws://127.0.0.1:{edge.port}{PATH}"


def enter(seat: int, **more: object) -> dict[str, object]:
    """The packet that enters a seat."""
    who = {key: value for key, value in sender(seat).items() if key != "seat"}
    return {"app": "youle", "route": "room", "rpc": "enter_room", "data": {**who, **more}}


async def hear(socket: ClientWebSocketResponse) -> dict[str, object] | None:
    """The next packet; None once the socket is closed."""
    async with asyncio.timeout(PATIENCE):
        frame = await socket.receive()
    if frame.type in (WSMsgType.CLOSE, WSMsgType.CLOSING, WSMsgType.CLOSED):
        return None
    assert frame.type is WSMsgType.TEXT, frame
    return group(json.loads(frame.data))


async def say(socket: ClientWebSocketResponse, whole: object) -> None:
    """Send a packet."""
    await socket.send_str(json.dumps(whole))


@final
class OldSocket:
    """One seat, from its first packet to the end of the match."""

    def __init__(self, edge: ServedEdge, player: OldPlayer, enters: dict[str, object]) -> None:
        self.edge = edge
        self.player = player
        self.came_back: list[str] = []
        """The kinds of moments at which it was cut off, and came back."""
        self._enters = enters

    @property
    def table(self) -> OldTable:
        """What the client knows."""
        return self.player.table

    def moment(self) -> str:
        """The kind of moment that it is."""
        table = self.table
        return f"{table.step}{' in a trick' if table.plays else ''}{' on turn' if table.turn == table.me else ''}"

    async def play(self, cuts: bool = True) -> None:
        """Play to the end of the match. With `cuts` the client is cut off once at each kind of moment."""
        while not self.table.is_over:
            async with self.edge.session.ws_connect(url(self.edge)) as socket:
                await say(socket, self._enters)
                await self._talk(socket, cuts=cuts)

    async def _talk(self, socket: ClientWebSocketResponse, *, cuts: bool) -> None:
        while not self.table.is_over:
            heard = await hear(socket)
            assert heard is not None, f"closed with {socket.close_code}"
            self.table.take(heard)
            if cuts and self.table.step and heard["rpc"] != "enter_room" and self.moment() not in self.came_back:
                self.came_back.append(self.moment())
                # What is known is forgotten: the client starts anew.
                self.player.table = OldTable(self.table.me)
                return
            choice = self.player.next()
            if choice is not None:
                rpc, asked = choice
                await say(socket, packet(self.table.me, rpc, **asked))


def failure(rpc: str, errcode: int, route: str = "erqiwang", **beside: object) -> dict[str, object]:
    """The packet that refuses a packet."""
    head = {"app": "youle", "route": route, "rpc": rpc, **beside}
    return {**head, "data": {"success": False, "errcode": errcode}}
