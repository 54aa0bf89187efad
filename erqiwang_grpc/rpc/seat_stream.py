"""One stream of a seat as its room sees it: a `Listener` that encodes what it is told into an outbox."""

from collections.abc import Callable
from typing import final

from erqiwang_core.units import Seat

from erqiwang_grpc.rooms.closing import Closing
from erqiwang_grpc.rooms.listener import Aside, Beginning, Told
from erqiwang_grpc.rpc.goodbyes import goodbye
from erqiwang_grpc.rpc.outbox import Outbox
from erqiwang_grpc.rpc.wire import encode


@final
class SeatStream:
    """A seat's stream. `outbox` holds what its only writer is to send."""

    def __init__(
        self, seat: Seat, limit: int, begin_again: Callable[[int | None], Beginning], last_version: int | None = None
    ) -> None:
        """At most `limit` messages wait. `begin_again` says where a client stands that saw a version last."""
        self._seat = seat
        self.outbox = Outbox(limit, lambda since: encode.beginning(begin_again(since)), last_version)

    def begin(self, beginning: Beginning) -> None:
        """Start with this view."""
        for message in encode.beginning(beginning):
            self.outbox.put(message)

    def tell(self, told: Told) -> None:
        """One more event."""
        place = self.outbox.place()
        if place is not None:
            encode.put_notice(place.notice, told, self._seat)

    def aside(self, aside: Aside) -> None:
        """Something beside the events."""
        self.outbox.put(encode.aside(aside))

    def end(self, closing: Closing) -> None:
        """The stream is over."""
        self.outbox.close(closing, goodbye(closing))
