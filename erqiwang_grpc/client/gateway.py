"""The client of a gateway: many seats over one stream, each with its view, reconnecting as one."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping, Sequence
from types import MappingProxyType, TracebackType
from typing import Self, final

import grpc

from erqiwang_grpc.client.commands import Ended
from erqiwang_grpc.client.endings import FOR_GOOD
from erqiwang_grpc.client.gateway_seat import GatewaySeat
from erqiwang_grpc.client.gateway_stream import GatewayStream
from erqiwang_grpc.client.inbox import Inbox
from erqiwang_grpc.client.servers import Options
from erqiwang_grpc.client.timing import Timing
from erqiwang_grpc.v1 import gateway_service_pb2 as gateway_pb, seat_service_pb2 as pb


@final
class Gateway:
    """A gateway's stream. `async with Gateway(addresses, gateway_key) as gateway:` connects, and closes at the end.

    `gateway.open(token, last_version)` gives a seat, whose `view` is kept up to date. `gateway.messages()` gives each
    message with the number of its seat. If the connection is lost, the client reconnects, to the next of `addresses` if
    the server is gone, opens its seats again with the last version that each has seen, and sends their unanswered
    commands again with their ids. All addresses must lead to the same store.
    """

    def __init__(
        self,
        addresses: Sequence[str],
        key: str,
        *,
        credentials: grpc.ChannelCredentials | None = None,
        options: Options = (),
        timing: Timing | None = None,
        keep_messages: int = 16_384,
    ) -> None:
        """`keep_messages` is how many messages are kept until `messages` gives them. With 0 there are only the seats' views."""
        self._timing = Timing() if timing is None else timing
        self._seats = _Seats(Inbox(keep_messages, self._resync))
        self._stream = GatewayStream(
            addresses, key, self._seats, credentials=credentials, options=options, timing=self._timing
        )
        self._next = 0

    @property
    def connections(self) -> int:
        """The number of streams on which the server has said something."""
        return self._stream.connections

    @property
    def ended(self) -> Ended | None:
        """How the stream ended for good; None while it has not."""
        return self._stream.ended

    @property
    def seats(self) -> Mapping[int, GatewaySeat]:
        """The seats that have not ended, by their numbers."""
        return MappingProxyType(self._seats.numbered)

    async def __aenter__(self) -> Self:
        await self._stream.__aenter__()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self._stream.__aexit__(kind, error, trace)

    def open(self, token: str, last_version: int | None = None) -> GatewaySeat:
        """Open the seat of a token. `last_version` came with the token, or is the last that a restarted gateway saw."""
        number = self._next
        self._next += 1
        seat = GatewaySeat(number, token, last_version, self._timing, self._stream.put)
        self._seats.numbered[number] = seat
        if self._stream.is_open:
            seat.open()
        return seat

    async def messages(self) -> AsyncIterator[tuple[int, pb.SeatMessage]]:
        """Each message with the number of its seat, until the stream ends. The seat's view includes it already.

        Messages of one seat come in order. After a `goodbye` a seat has ended; `GatewaySeat.ended` says how.

        Read without long waits. When `keep_messages` are kept, a seat whose next message has no room falls behind: its
        messages are dropped, answers and signals too, until you have read what was kept. Then the client asks for a
        snapshot, which you get in their place. The seats' views and the answers of `act` do not depend on it.
        """
        while (heard := await self._seats.inbox.take()) is not None:
            yield heard

    def drop(self) -> None:
        """Close the connection as a bad network would, for tests. The client reconnects by itself."""
        self._stream.drop()

    def _resync(self, number: int, last_version: int | None) -> None:
        if number in self._seats.numbered:
            self._seats.numbered[number].resync(last_version)


@final
class _Seats:
    """The seats of a `Gateway`, by their numbers, and what they were told and nobody has read yet."""

    def __init__(self, inbox: Inbox) -> None:
        self.numbered: dict[int, GatewaySeat] = {}
        self.inbox = inbox

    def begin(self) -> None:
        for seat in self.numbered.values():
            seat.open()

    def lose(self) -> None:
        for seat in self.numbered.values():
            seat.lose()

    async def hear(self, response: gateway_pb.ConnectResponse) -> None:
        for told in response.seats:
            await self._hear(told)

    async def _hear(self, told: gateway_pb.SeatMessages) -> None:
        seat = self.numbered.get(told.handle)
        if seat is None:
            return
        for message in told.messages:
            before = seat.version or None
            if await seat.hear(message):
                self.inbox.put(told.handle, message, before)
        if told.HasField("ended") and await seat.end(told.ended):
            del self.numbered[told.handle]
            self.inbox.forget(told.handle)

    def is_for_good(self, address: str, ended: Ended) -> bool:  # as with one server, so with all
        return ended.code in FOR_GOOD

    async def end(self, ended: Ended) -> None:
        for seat in self.numbered.values():
            await seat.end_for_good(ended)
        self.numbered.clear()
        self.inbox.end()
