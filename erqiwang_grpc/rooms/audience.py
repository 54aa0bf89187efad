"""The audience of a room: its listeners, which seats are present, and what each listener is told."""

from collections.abc import Callable, Iterator
from typing import Final, final

from erqiwang_core import match as matches, notices, view as views
from erqiwang_core.match import Match
from erqiwang_core.playing import Signalled
from erqiwang_core.units import Seat

from erqiwang_grpc.clocks import Monotonic
from erqiwang_grpc.rooms.closing import Closing
from erqiwang_grpc.rooms.listener import Beginning, Heartbeat, Listener, Missed, Presence, Told
from erqiwang_grpc.rooms.neighbours import REPEAT_SECONDS, Neighbours
from erqiwang_grpc.rooms.presences import Presences
from erqiwang_grpc.rooms.state import State
from erqiwang_grpc.store import NodeId, RoomId, Roster, SeatHere, TimeNs

_NEVER: Final = (-1, NodeId(""))


@final
class Pulse:
    """When a client last sent something, and when it was last written to. All listeners of one client may share it."""

    __slots__ = ("heard", "written")

    def __init__(self, now: float) -> None:
        self.heard = now
        self.written = now


@final
class Attachment:
    """One listener of a seat, with the pulse of its client."""

    def __init__(self, seat: Seat, listener: Listener, order: int, pulse: Pulse) -> None:
        self.seat = seat
        self.listener = listener
        self.order = order
        """Higher than that of every older listener of the seat, on any node."""
        self.pulse = pulse
        self.present = True


@final
class Audience:
    """The listeners of one room on this node, at most one for each seat. A newer listener displaces the older one.

    On other nodes the room may have more. Until a message between the nodes has displaced the older of two listeners of a
    seat, both of them are told everything.
    """

    def __init__(
        self,
        room: RoomId,
        state: State,
        now: Callable[[], TimeNs],
        monotonic: Monotonic,
        neighbours: Neighbours,
        presences: Presences,
    ) -> None:
        self._room = room
        self._state = state
        self._now = now
        self._monotonic = monotonic
        self._neighbours = neighbours
        self._presences = presences
        self._attached: dict[Seat, Attachment] = {}
        self._shown: Presence | None = None
        """The presence that all listeners were told last."""
        self._repeated = 0.0
        """When the other nodes were last told who is attached here."""

    def __iter__(self) -> Iterator[Attachment]:
        return iter(tuple(self._attached.values()))

    def __len__(self) -> int:
        return len(self._attached)

    def present(self, seat: Seat) -> bool:
        """Whether the seat has a listener, here or on another node, whose client was not silent for too long."""
        attachment = self._attached.get(seat)
        if attachment is not None and attachment.present:
            return True
        return self._neighbours.present(self._room, seat)

    def attach(
        self, seat: Seat, listener: Listener, last_version: int | None, pulse: Pulse | None = None
    ) -> Attachment:
        """Attach a listener to a seat. It begins with the present view, and displaces an older listener of the seat.

        `pulse` is that of a client with several listeners; without it the listener has a pulse of its own.
        """
        older = self._attached.get(seat)
        if older is not None:
            older.listener.end(Closing.DISPLACED)
        order = self._neighbours.attach(self._room, seat, 0 if older is None else older.order, self._now())
        attachment = Attachment(seat, listener, order, pulse or Pulse(self._monotonic()))
        self._attached[seat] = attachment
        listener.begin(self.beginning(seat, last_version))
        self._tell_presence(but=attachment)
        self._tell_neighbours()
        return attachment

    def detach(self, attachment: Attachment) -> None:
        """Remove a listener. Does nothing if a newer one has displaced it."""
        if self._attached.get(attachment.seat) is attachment:
            del self._attached[attachment.seat]
            self._tell_presence()
            self._tell_neighbours()

    def beginning(self, seat: Seat, last_version: int | None) -> Beginning:
        """What a listener of the seat begins with. `last_version` is the last version it saw; None if it saw none."""
        state = self._state
        missed = [] if last_version is None else state.missed(seat, last_version)
        return Beginning(
            self._room,
            state.version,
            views.view(state.match, seat),
            state.standing.turn_began,
            tuple(Missed(happened.version, happened.time, cause) for happened, cause in missed),
            self.presence(),
            self._server_time(),
        )

    def _server_time(self) -> TimeNs:
        """The time now, but never before the last event: a wall clock that was set back would lengthen each countdown."""
        return max(self._now(), self._state.standing.time)

    def tell(self, before: Match, event: matches.Event, sender: Seat | None) -> Told:
        """Tell every listener of an event that the state has just taken, and give what they were told.

        They include a notice for `sender`, with or without a listener. If the event frees a seat or gives it
        to a player, the seat's listener ends: the token that opened its stream is no longer valid.
        """
        state = self._state
        told = Told(
            state.version,
            state.standing.time,
            state.standing.turn_began,
            notices.telling(before, event, state.match, self._hearing(sender)),
        )
        for attachment in self._attached.values():
            attachment.listener.tell(told)
        if isinstance(event, matches.SeatTaken | matches.SeatLeft):
            self._unseat(event.seat)
        return told

    def _hearing(self, sender: Seat | None) -> tuple[Seat, ...]:
        if sender is None or sender in self._attached:
            return tuple(self._attached)
        return (*self._attached, sender)

    def _unseat(self, seat: Seat) -> None:
        attachment = self._attached.get(seat)
        if attachment is not None:
            attachment.listener.end(Closing.UNSEATED)
            self.detach(attachment)

    def signal(self, signalled: Signalled) -> None:
        """Pass a signal on to its addressees. One without a listener does not get it."""
        for seat in signalled.to:
            attachment = self._attached.get(seat)
            if attachment is not None:
                attachment.listener.aside(signalled)

    def hear(self, attachment: Attachment) -> None:
        """Note that the client has sent something. Its seat counts as present from now on."""
        attachment.pulse.heard = self._monotonic()
        if not attachment.present:
            attachment.present = True
            self._tell_presence()
            self._tell_neighbours()

    def look_after(self, heartbeat_seconds: float, absent_seconds: float) -> None:
        """Send heartbeats on silent streams, and show each seat as absent whose client was silent for too long.

        Every 20 seconds the other nodes are told again who is attached here.
        """
        now = self._monotonic()
        for attachment in self:
            if now - attachment.pulse.written > heartbeat_seconds:
                attachment.pulse.written = now
                attachment.listener.aside(Heartbeat(self._state.version, self._server_time()))
            if attachment.present and now - attachment.pulse.heard > absent_seconds:
                attachment.present = False
                self._tell_presence()
                self._tell_neighbours()
        if self._attached and now - self._repeated > REPEAT_SECONDS:
            self._tell_neighbours()

    # Other nodes

    def hear_neighbour(self, roster: Roster) -> None:
        """Take in what another node says of its seats: a newer stream there displaces the listener here."""
        self._neighbours.take(roster, self._monotonic())
        newest = {here.seat: (here.order, roster.node) for here in roster.seats}
        displaced = [each for each in self if newest.get(each.seat, _NEVER) > (each.order, self._neighbours.node)]
        for attachment in displaced:
            attachment.listener.end(Closing.DISPLACED)
            del self._attached[attachment.seat]
        if displaced:
            self._tell_neighbours()
        self.show_presence()

    def show_presence(self) -> None:
        """Tell the listeners who is present, if they were told otherwise."""
        if self._attached and self.presence() != self._shown:
            self._tell_presence()

    def reaches(self, seat: Seat) -> bool:
        """Whether every stream of the seat is here, as far as is known."""
        return seat in self._attached and not self._neighbours.has(self._room, seat)

    def _tell_neighbours(self) -> None:
        self._repeated = self._monotonic()
        if self._neighbours.are_told:
            seats = (SeatHere(each.seat, each.order, each.present) for each in self._attached.values())
            self._neighbours.tell_seats(self._room, seats)

    def end(self, closing: Closing) -> None:
        """End every listener with this reason."""
        for attachment in self:
            attachment.listener.end(closing)

    def presence(self) -> Presence:
        """Which seats are present."""
        return Presence(tuple(self.present(seat) for seat in self._state.match.chairs.seats()))

    def _tell_presence(self, but: Attachment | None = None) -> None:
        self._presences.changed(self._room)
        presence = self._shown = self.presence()
        for attachment in self._attached.values():
            if attachment is not but:
                attachment.listener.aside(presence)
