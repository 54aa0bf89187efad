"""One seat of a gateway: a listener of its room that encodes what it is told into the gateway's outbox."""

from __future__ import annotations

import logging
from collections import deque
from collections.abc import Callable
from typing import final

from erqiwang_core.units import Seat

from erqiwang_grpc.auth.tokens import SeatClaims
from erqiwang_grpc.rooms.audience import Attachment
from erqiwang_grpc.rooms.closing import Closing
from erqiwang_grpc.rooms.counters import Counters, Kind
from erqiwang_grpc.rooms.listener import Aside, Beginning, Heartbeat, Told
from erqiwang_grpc.rooms.room import Room
from erqiwang_grpc.rpc.gateway.outbox import Outbox, SeatBox
from erqiwang_grpc.rpc.wire import encode
from erqiwang_grpc.rpc.wire.encode import Packed
from erqiwang_grpc.v1 import gateway_service_pb2 as gateway_pb, seat_service_pb2 as pb

log = logging.getLogger(__name__)


@final
class Sitting:
    """What is known of an open seat: whose it is, where, and how its room knows it."""

    __slots__ = ("attachment", "claims", "room")

    def __init__(self, claims: SeatClaims, room: Room) -> None:
        self.claims = claims
        self.room = room
        self.attachment: Attachment | None = None


@final
class OpenSeat:
    """A handle of a gateway, from its `open` to its end."""

    __slots__ = ("_counters", "_end", "_outbox", "box", "busy", "handle", "pending", "requests", "sitting")

    def __init__(
        self,
        handle: int,
        outbox: Outbox,
        last_version: int | None,
        counters: Counters,
        end: Callable[[OpenSeat, Closing], None],
    ) -> None:
        """`end` ends the seat. It is called when its room ends it, or when it cannot be told of its room."""
        self.handle = handle
        self.box = SeatBox(handle, self._afresh, last_version)
        self.sitting: Sitting | None = None
        """None until the seat is attached."""
        self.requests = 0
        """The number of requests so far, the `open` included."""
        self.busy = False
        """Whether a request is being carried out."""
        self.pending: deque[tuple[gateway_pb.SeatRequest, int]] = deque()
        """Requests with their numbers that came meanwhile."""
        self._outbox = outbox
        self._counters = counters
        self._end = end

    @property
    def _seat(self) -> Seat:
        assert self.sitting is not None, "a room speaks to attached seats"
        return self.sitting.claims.seat

    # What the room tells

    def begin(self, beginning: Beginning) -> None:
        """Begin with this view, and the events that its viewer missed."""
        for message in encode.packed_beginning(beginning):
            self._outbox.put(self.box, message)

    def tell(self, told: Told) -> None:
        """Add the notice of an event for this seat."""
        if self.box.takes_more:
            self._outbox.put(self.box, encode.packed_notice(told, self._seat))

    def aside(self, aside: Aside) -> None:
        """Add a message that is no event. A heartbeat is for the whole stream."""
        if isinstance(aside, Heartbeat):
            self._outbox.beat(heartbeat(aside))
        elif self.box.takes_more:
            self.put(encode.aside(aside))

    def end(self, closing: Closing) -> None:
        """End the seat, unless the whole server is leaving: then the stream says goodbye for all its seats."""
        if closing is not Closing.DRAINING:
            self._end(self, closing)

    # What the connection says

    def put(self, message: pb.SeatMessage) -> None:
        """Add a message for this seat alone, such as an answer."""
        self._outbox.put(self.box, encode.packed(message))

    def _afresh(self, last_version: int | None) -> tuple[Packed, ...]:
        """A snapshot in place of what was dropped. An error ends this seat, and no other."""
        assert self.sitting is not None, "only an attached seat is told anything that could be dropped"
        self._counters.resyncs[Kind.GATEWAY_SEAT] += 1
        room = self.sitting.room
        try:
            return encode.packed_beginning(room.audience.beginning(self._seat, last_version))
        except Exception:
            log.exception("seat failed", extra={"room": room.id, "version": room.version})
            self._end(self, Closing.FAILED)
            return ()


def heartbeat(beat: Heartbeat) -> bytes:
    """The response that shows a gateway that the server is alive."""
    return gateway_pb.ConnectResponse(heartbeat=encode.timestamp(beat.server_time)).SerializeToString()
