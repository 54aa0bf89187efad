"""The door `/v1/packets`: one seat on a WebSocket, in the packets of the old protocol, one packet a text frame."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Final, final
from uuid import uuid4

from aiohttp import web

from erqiwang_grpc.edge import closes
from erqiwang_grpc.edge.closes import Close
from erqiwang_grpc.edge.edge import Edge
from erqiwang_grpc.edge.frames import size
from erqiwang_grpc.edge.packets.from_seat import Errcode, Frame, Garbage, integer, read
from erqiwang_grpc.edge.packets.players import Asked, Place, Unavailable, place_of
from erqiwang_grpc.edge.packets.to_seat import Shibai
from erqiwang_grpc.edge.packets.translator import Act, Signal, Translator
from erqiwang_grpc.edge.packets.who import NOBODY, Who
from erqiwang_grpc.edge.packets.writing import ENTER, Name, Named, text
from erqiwang_grpc.edge.play import STRANGERS_BYTES, bearer
from erqiwang_grpc.edge.seats import EdgeSeat
from erqiwang_grpc.edge.web_socket import Socket
from erqiwang_grpc.v1 import seat_service_pb2 as pb

log = logging.getLogger(__name__)

PATH: Final = "/v1/packets"
_ACT, _SIGNAL, _ENTER = 1, 2, 3
"""What a request was: its number on the seat, which comes back with its answer."""

THREE_PLAYERS_ONLY: Final = Close(4009, "THREE_PLAYERS_ONLY")
"""The room has a game that the old protocol does not know."""
NO_PLAYERS: Final = Close(4014, "NO_PLAYERS")
"""The file or callback that knows the players cannot be asked now."""


def add_routes(router: web.UrlDispatcher, edge: Edge) -> None:
    """Add `/v1/packets`."""
    router.add_get(PATH, _handler(edge))


def _handler(edge: Edge) -> Callable[[web.Request], Awaitable[web.StreamResponse]]:
    async def packets(request: web.Request) -> web.StreamResponse:
        async with edge.socket(request, ()) as (response, socket):
            talk = PacketTalk(edge, socket)
            async with socket.talking(request, talk):
                await talk.listen(request.headers.get("Authorization"))
            return response

    return packets


@final
class PacketTalk:
    """The conversation of one old client. A socket enters its seat first; then its packets go to the server."""

    is_text = True

    def __init__(self, edge: Edge, socket: Socket) -> None:
        self._edge = edge
        self._socket = socket
        self._seat: EdgeSeat | None = None
        self._translator: Translator | None = None
        self._settled = asyncio.Event()
        """Set once the seat is entered, or the socket is to be closed."""
        self._ahead: asyncio.Task[str | bytes | None] | None = None
        """Reads the frame after the one that is worked on; None if that was not begun."""

    # What the client says

    async def listen(self, authorization: str | None) -> None:
        """Hear the client out, until it leaves or the socket is closed."""
        too_late = asyncio.get_running_loop().call_later(self._edge.settings.limits.token_seconds, self._give_up)
        try:
            if authorization is not None and not self._open_with_header(authorization):
                return
            while (frame := await self._next()) is not None:
                await self._edge.stream.room()
                if not await self._take(frame):
                    break
        finally:
            too_late.cancel()
            if self._ahead is not None:
                self._ahead.cancel()
            if self._seat is not None:
                self._edge.seats.leave(self._seat)

    async def _next(self) -> str | bytes | None:
        """The client's next frame; None after the last."""
        ahead, self._ahead = self._ahead, None
        return await (self._socket.receive() if ahead is None else ahead)

    def _open_with_header(self, authorization: str) -> bool:
        token = bearer(authorization)
        if token is None:
            return self._close(closes.BAD_TOKEN)
        self._open(ENTER, Place(token), NOBODY)
        return True

    @property
    def _is_entered(self) -> bool:
        return self._seat is not None and self._seat.was_attached

    def _give_up(self) -> None:
        """Close the socket if it has no seat yet."""
        if not self._is_entered:
            self._close(closes.NOT_ATTACHED if self._seat is None else closes.NO_SERVER)

    async def _take(self, data: str | bytes) -> bool:
        """Take a frame of the client; gives whether to go on."""
        if not self._is_entered and size(data) > STRANGERS_BYTES:
            return self._close(closes.TOO_BIG)
        if isinstance(data, bytes):
            return self._close(closes.WRONG_KIND)
        frame = read(data)
        if isinstance(frame, Garbage):
            return self._close(Close(closes.UNREADABLE.code, frame.why))
        is_entering = (frame.name.app, frame.name.route, frame.name.rpc) == (ENTER.app, ENTER.route, ENTER.rpc)
        if self._translator is None:
            return await self._enter(frame) if is_entering else self._refuse(frame.name, Errcode.PLAYER)
        await self._settled.wait()
        if is_entering:
            return self._enter_again(frame)
        return self._carry_out(self._translator.ask(frame))

    async def _enter(self, frame: Frame) -> bool:
        data = frame.data or {}
        who = _said(data)
        if who is None:
            return self._refuse(frame.name, Errcode.PLAYER)
        try:
            place = place_of(data) if _has_token(data) else await self._looked_up(who, data)
        except Unavailable as why:
            log.warning("the players cannot be looked up", extra={"why": str(why)})
            return self._close(NO_PLAYERS)
        if self._is_over:
            return False  # the client has left, or it took too long: do not displace another socket of the player
        if place is None or not _agrees(who.gameid, place.gameid):
            return self._refuse(frame.name, Errcode.PLAYER)
        gameid = who.gameid if place.gameid is None else place.gameid
        self._open(frame.name, place, Who(who.agentid, who.playerid, gameid, who.roomcode))
        return True

    async def _looked_up(self, who: Who, data: Mapping[str, object]) -> Place | None:
        """The place of a player that names itself without a token, if the platform has told whom to ask.

        None also if the client leaves meanwhile.
        """
        players = self._edge.settings.players
        if players is None or who.agentid is None or who.playerid is None or who.roomcode is None:
            return None
        looking = asyncio.create_task(players.place(Asked(who.agentid, who.playerid, who.roomcode, data)))
        # Read on meanwhile: that the client has left is known only once its close is read.
        self._ahead = asyncio.create_task(self._socket.receive())
        try:
            await asyncio.wait((looking, self._ahead), return_when=asyncio.FIRST_COMPLETED)
            return None if self._is_over and not looking.done() else await looking
        finally:
            looking.cancel()

    @property
    def _is_over(self) -> bool:
        """Whether the client has left, or the socket is to be closed. Once its close is read, the connection is going."""
        return self._socket.is_lost or self._socket.outbox.closing is not None

    def _open(self, name: Name, place: Place, who: Who) -> None:
        self._translator = Translator(name, uuid4().hex, who)
        self._seat = self._edge.seats.open(place.seat_token, place.last_version, self)

    def _enter_again(self, frame: Frame) -> bool:
        """Tell the table once more."""
        assert self._translator is not None, "the seat is entered"
        who = _said(frame.data or {})
        if who is None or not self._translator.enter_again(frame.name, who):
            return self._refuse(frame.name, Errcode.PLAYER)
        self._ask(_ENTER, pb.PlayRequest(attach=pb.Attach()))
        return True

    def _carry_out(self, outcome: Act | Signal | Named) -> bool:
        match outcome:
            case Named():
                self._put(outcome)
            case Act(command_id, command):
                self._ask(_ACT, pb.PlayRequest(command_id=command_id, command=command))
            case Signal(signal=signal):
                # Without an id, so that it is not sent again on another stream: by then it would be out of date.
                self._ask(_SIGNAL, pb.PlayRequest(command=pb.Command(signal=signal)))
        return True

    def _ask(self, number: int, request: pb.PlayRequest) -> None:
        if self._seat is not None:
            self._seat.ask(number, request)

    def _refuse(self, name: Name, why: Errcode) -> bool:
        self._put(Named(name, Shibai(why)))
        return True

    def _close(self, why: Close) -> bool:
        self._socket.outbox.close(why)
        self._settled.set()
        return False

    # What the seat is told

    def hear(self, messages: Sequence[pb.SeatMessage]) -> None:
        """Write the packets of messages. If the socket has no room for them, the table follows later in their place."""
        for message in messages:
            if not all(self._put(packet) for packet in self._packets(message)):
                assert self._seat is not None, "it is what is heard"
                self._edge.counters.resyncs += 1
                self._seat.fall_behind(self._seat.version)
                break
        assert self._translator is not None, "it is there before the seat is opened"
        if self._settled.is_set() and not self._translator.is_three_player:
            self._close(THREE_PLAYERS_ONLY)

    def _packets(self, message: pb.SeatMessage) -> Sequence[Named]:
        assert self._translator is not None, "it is there before the seat is opened"
        if message.HasField("refused") and message.refused.request not in (_ACT, _SIGNAL):
            # A table that was asked for here comes later; one that the client has asked for does not.
            is_asked = message.refused.request == _ENTER
            return [Named(self._translator.enter, Shibai(message.refused.refusal.code))] if is_asked else []
        told = self._translator.hear(message)
        if message.HasField("snapshot"):
            self._settled.set()
        return told

    def _put(self, packet: Named) -> bool:
        """Write a packet; gives whether there was room."""
        return self._socket.outbox.put(text(packet).encode())

    def end(self, why: Close) -> None:
        """The seat has ended, and with it the socket. One that was never entered is told so first, as the protocol asks."""
        if not self._is_entered and self._translator is not None and why.code in _NO_SUCH_PLAYER:
            self._put(Named(self._translator.enter, Shibai(Errcode.PLAYER)))
        self._close(why)

    # What the socket asks

    def frames(self, chunks: Sequence[bytes]) -> Sequence[bytes]:
        """One frame for each packet."""
        return chunks

    def caught_up(self) -> None:
        """Ask for the table in place of what was dropped."""
        if self._seat is not None:
            self._seat.catch_up()

    def beat(self) -> None:
        """Nothing: the old protocol has no sign of life, and the socket's own pings keep it open."""

    def drain(self) -> None:
        """Nothing: the old protocol has no goodbye, and the close code says why."""
        self._settled.set()


_NO_SUCH_PLAYER: Final = (4005, 4016)
"""Close codes of a token that is not good, or not any more."""


def _said(data: Mapping[str, object]) -> Who | None:
    """What the packet that enters says of its player, who may leave fields out; None if a field is of a wrong type."""
    agentid, gameid = data.get("agentid"), data.get("gameid")
    playerid, roomcode = integer(data.get("playerid")), integer(data.get("roomcode"))
    if not isinstance(agentid, str | None) or not isinstance(gameid, str | None):
        return None
    if (playerid is None) != ("playerid" not in data) or (roomcode is None) != ("roomcode" not in data):
        return None
    return Who(agentid, playerid, gameid, roomcode)


def _has_token(data: Mapping[str, object]) -> bool:
    """Whether the packet names its place itself."""
    token = data.get("seat_token")
    return isinstance(token, str) and bool(token)


def _agrees(said: str | None, known: str | None) -> bool:
    return said is None or known is None or said == known
