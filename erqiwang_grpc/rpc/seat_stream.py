"""The stream of a seat as a `Listener`: it encodes what the room tells it into an outbox."""

from collections.abc import Callable
from typing import final

from erqiwang_core.units import Seat

from erqiwang_grpc.rooms.closing import Closing
from erqiwang_grpc.rooms.listener import Aside, Beginning, Told
from erqiwang_grpc.rpc.goodbyes import goodbye
from erqiwang_grpc.rpc.outbox import Outbox
from erqiwang_grpc.rpc.wire import encode
from erqiwang_grpc.v1 import seat_service_pb2 as pb


@final
class SeatStream:
    """The stream of a seat. Its one writer sends what `outbox` holds."""

    def __init__(
        self, seat: Seat, limit: int, begin_again: Callable[[int | None], Beginning], last_version: int | None = None
    ) -> None:
        """At most `limit` messages wait. `begin_again` gives a new beginning to a client that saw that version last."""
        self._seat = seat
        self.outbox = Outbox(limit, lambda since: encode.packed_beginning(begin_again(since)), last_version)

    def begin(self, beginning: Beginning) -> None:
        """Begin with this view, and the events that its viewer missed."""
        for message in encode.packed_beginning(beginning):
            self.outbox.put(message)

    def tell(self, told: Told) -> None:
        """Add the notice of an event for this seat."""
        if self.outbox.takes_more:
            self.outbox.put(encode.packed_notice(told, self._seat))

    def aside(self, aside: Aside) -> None:
        """Add a message that is no event."""
        self.put(encode.aside(aside))

    def end(self, closing: Closing) -> None:
        """End the stream, with a goodbye if the reason has one."""
        last = goodbye(closing)
        self.outbox.close(closing, None if last is None else encode.packed(last))

    def put(self, message: pb.SeatMessage) -> None:
        """Add a message for this seat alone, such as an answer."""
        self.outbox.put(encode.packed(message))
