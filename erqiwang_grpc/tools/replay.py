"""`erqiwang replay`: tells a stored match step by step, with all cards or as one seat saw it."""

import sys
from argparse import ArgumentParser, Namespace
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, final

from erqiwang_core import match as matches, notices, view as views
from erqiwang_core.kernel.hand import EMPTY
from erqiwang_core.match import Event, Match, Over
from erqiwang_core.notices import Cause
from erqiwang_core.parts import Seen, View
from erqiwang_core.playing import CardsLed
from erqiwang_core.units import Seat
from erqiwang_core.viewer import PUBLIC
from rich.text import Text

from erqiwang_grpc.commands import data_folder, interrupts, stores
from erqiwang_grpc.commands.data_folder import NoStore
from erqiwang_grpc.events.history import RoomHistory, UnreadableEntry
from erqiwang_grpc.events.standing import steps
from erqiwang_grpc.names import printable
from erqiwang_grpc.tools.stored_room import NothingToTell, deals_of, stored_room
from erqiwang_grpc.tools.terminal.card_text import cards
from erqiwang_grpc.tools.terminal.console import console
from erqiwang_grpc.tools.terminal.seat_names import name
from erqiwang_grpc.tools.terminal.telling import Teller

DONE: Final = 0
CUT_OFF: Final = 1
NOT_FOUND: Final = 2


def add_arguments(parser: ArgumentParser) -> None:
    """Add the arguments of `replay`."""
    parser.epilog = "Also beside a running server. Of a deal in progress nothing hidden is shown without --show-hidden."
    parser.add_argument("room", help="the room's id")
    parser.add_argument("--deal", type=int, help="one deal of the match, from 1 (default: all)")
    parser.add_argument("--seat", type=int, help="as this seat saw it (default: as an auditor sees it, all cards open)")
    parser.add_argument("--show-hidden", action="store_true", help="show hidden cards of a deal in progress, too")
    parser.add_argument("--step", action="store_true", help="wait for Enter after each step")
    data_folder.add_data_option(parser)
    stores.add_store_option(parser)
    parser.set_defaults(run=run)


def run(arguments: Namespace) -> int:
    """Tell the match. Gives 1 if its events are damaged or cannot all be followed, 2 if there is nothing to tell."""
    try:
        history = interrupts.run(stored_room(arguments))
        if isinstance(history, UnreadableEntry):
            print(_cut_off(arguments.room, history), file=sys.stderr)
            return CUT_OFF
        fault = _tell(arguments, history) or history.unreadable
    except (NoStore, NothingToTell) as nothing:
        print(f"erqiwang replay: {printable(str(nothing))}", file=sys.stderr)
        return NOT_FOUND
    if fault is not None:
        print(_cut_off(arguments.room, fault), file=sys.stderr)
        return CUT_OFF
    return DONE


def _cut_off(room: str, fault: UnreadableEntry) -> str:
    return f"erqiwang replay: room {printable(room)} cannot be followed from event {fault.version} on: {fault.why}"


@final
@dataclass(frozen=True, slots=True)
class Onlookers:
    """Whom the match is told to, and what they may see."""

    seat: Seat | None
    """The seat or the public; None for an auditor, who sees all hands."""
    ended: frozenset[int]
    """The numbers of the deals that have ended, in which nothing is hidden any more."""
    sees_all: bool
    """Whether the hidden cards of a deal in progress are shown too."""

    def views(self, match: Match) -> tuple[Seen, ...]:
        """The views of a match that the onlookers may see."""
        if not self._is_open(match):
            return (views.view(match, PUBLIC),)
        return tuple(views.view(match, seat) for seat in self._seats(match))

    def cause(self, before: Match, event: Event, after: Match) -> Cause:
        """The event as the onlookers may know it. An auditor also knows the cards of a failed throw."""
        if not self._is_open(after):
            return notices.cause(before, event, PUBLIC)
        if isinstance(event, CardsLed) and self.seat is None:
            return notices.cause(before, event, event.seat)
        return notices.cause(before, event, PUBLIC if self.seat is None else self.seat)

    def _is_open(self, match: Match) -> bool:
        return self.sees_all or views.progress(match).deal in self.ended

    def _seats(self, match: Match) -> tuple[Seat, ...]:
        return match.chairs.seats() if self.seat is None else (self.seat,)


def _tell(arguments: Namespace, history: RoomHistory) -> UnreadableEntry | None:
    """Tell the match, or one deal of it; gives the first event that cannot be followed, if there is one."""
    match = matches.begin(history.opened.options)
    onlookers = _onlookers(arguments, history, match)
    teller = Teller(console())
    owner = printable(history.opened.owner)
    teller.say(
        f"Room {printable(history.opening.room)} of platform {printable(history.opened.platform)}, opened by {owner}."
    )
    for step in steps(history):
        if isinstance(step, UnreadableEntry):
            return step
        match = step.after.match
        if arguments.deal in (None, views.progress(match).deal):
            seen = onlookers.views(match)
            teller.tell(onlookers.cause(step.before.match, step.happened.event, match), seen)
            if arguments.step:
                _pause(teller, seen)
    teller.say(f"{len(history.later) + 1} events; the match {'is over' if isinstance(match, Over) else 'goes on'}.")
    return None


def _onlookers(arguments: Namespace, history: RoomHistory, match: Match) -> Onlookers:
    seats = len(match.chairs)
    if arguments.seat is not None and not 0 <= arguments.seat < seats:
        raise NothingToTell(f"there is no seat {arguments.seat}: the room has seats 0 to {seats - 1}")
    started, ended = deals_of(each.event for each in history.later)
    if arguments.deal is not None and arguments.deal not in started:
        raise NothingToTell(f"there is no deal {arguments.deal}: {len(started)} were dealt")
    seat = None if arguments.seat is None else Seat(arguments.seat)
    return Onlookers(seat, frozenset(ended), arguments.show_hidden)


def _pause(teller: Teller, seen: Sequence[Seen]) -> None:
    """Print who must act, with their cards if they may be seen, and wait for Enter."""
    turn = seen[0].turn.seat
    if turn is not None:
        held = next((view.hand.cards for view in seen if isinstance(view, View) and view.seat == turn), EMPTY)
        agreed = seen[0].contract.agreed
        line = Text(f"     {name(seen[0], turn)} is to act")
        if held:
            line.append_text(Text.assemble(", holding ", cards(held, None if agreed is None else agreed.trump)))
        teller.say(line)
    sys.stdin.readline()
