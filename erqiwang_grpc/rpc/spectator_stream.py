"""The stream of a spectator: it encodes what the broadcast tells it into an outbox."""

from collections.abc import Callable
from typing import final

from erqiwang_core.viewer import PUBLIC

from erqiwang_grpc.rooms.closing import Closing
from erqiwang_grpc.rooms.listener import Heartbeat, Told
from erqiwang_grpc.rpc.goodbyes import goodbye
from erqiwang_grpc.rpc.outbox import Outbox
from erqiwang_grpc.rpc.wire import encode
from erqiwang_grpc.rpc.wire.encode import Packed
from erqiwang_grpc.spectators.spectator import Entrance


@final
class SpectatorStream:
    """The stream of a spectator. Its one writer sends what `outbox` holds."""

    def __init__(
        self, limit: int, begin_again: Callable[[int | None], Entrance | None], last_version: int | None
    ) -> None:
        """At most `limit` messages wait. `begin_again` gives a new entrance to a client that saw that version last."""
        self._begin_again = begin_again
        self.outbox = Outbox(limit, self._afresh, last_version)

    def _afresh(self, since: int | None) -> tuple[Packed, ...]:
        entrance = self._begin_again(since)
        return () if entrance is None else (encode.packed_entrance(entrance),)

    def begin(self, entrance: Entrance) -> None:
        """Begin with this view, and the events that were missed."""
        self.outbox.put(encode.packed_entrance(entrance))

    def tell(self, told: Told) -> None:
        """Add the notice of an event for the public."""
        if self.outbox.takes_more:
            self.outbox.put(encode.packed_notice(told, PUBLIC))

    def beat(self, heartbeat: Heartbeat) -> None:
        """Add a heartbeat."""
        self.outbox.put(encode.packed(encode.aside(heartbeat)))

    def end(self, closing: Closing) -> None:
        """End the stream, with a goodbye if the reason has one."""
        last = goodbye(closing)
        self.outbox.close(closing, None if last is None else encode.packed(last))
