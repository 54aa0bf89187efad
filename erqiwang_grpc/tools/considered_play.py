"""Why this play: what a strong player makes of a play of a stored match, with the alternatives and their chips."""

from argparse import Namespace
from collections.abc import Iterator
from dataclasses import dataclass
from random import Random
from typing import Final, final

from erqiwang_core.match import Match, Running
from erqiwang_core.notation import write, write_trump
from erqiwang_core.parts import View
from erqiwang_core.players.strong.card_choice import Considered, considered
from erqiwang_core.playing import CardsFollowed, CardsLed, Playing
from erqiwang_core.units import CardSet, Seat
from erqiwang_core.view import view

from erqiwang_grpc.commands import interrupts
from erqiwang_grpc.events.history import RoomHistory, UnreadableEntry
from erqiwang_grpc.events.standing import steps
from erqiwang_grpc.tools.stored_room import NothingToTell, deals_of, stored_room
from erqiwang_grpc.tools.thinking import budgets, thinking

_SEED: Final = "explain"
"""Where the worlds are drawn from. The same question and number of worlds get the same answer."""


@final
@dataclass(frozen=True, slots=True)
class Moment:
    """A play of a match, and what its seat saw before."""

    view: View
    played: CardSet
    """What the seat played; of a failed throw all cards that it threw."""


def asked(arguments: Namespace) -> list[tuple[str, str]]:
    """The rows of the answer, each a title and a text.

    Raises `NoStore` if there is no such store, and `NothingToTell` if there is no such play, or if its deal has not
    ended: what a seat should have played says what it holds.
    """
    history = interrupts.run(stored_room(arguments))
    if isinstance(history, UnreadableEntry):
        raise NothingToTell(f"event {history.version} of the room cannot be read: {history.why}")
    moment = _moment(arguments, history)
    found = considered(moment.view, budgets(thinking(arguments))(), Random(_SEED))
    return list(_rows(moment, found))


def _moment(arguments: Namespace, history: RoomHistory) -> Moment:
    if None in (arguments.deal, arguments.trick, arguments.seat):
        raise NothingToTell("name the play with --deal, --trick and --seat")
    _, ended = deals_of(each.event for each in history.later)
    if arguments.deal not in ended and not arguments.show_hidden:
        raise NothingToTell(f"deal {arguments.deal} has not ended: --show-hidden tells it all the same")
    for step in steps(history):
        if isinstance(step, UnreadableEntry):
            break
        event = step.happened.event
        if isinstance(event, CardsLed | CardsFollowed) and _is_asked(arguments, step.before.match, event.seat):
            attempted = event.attempted if isinstance(event, CardsLed) else None
            return Moment(view(step.before.match, event.seat), event.cards if attempted is None else attempted)
    raise NothingToTell(f"seat {arguments.seat} did not play to trick {arguments.trick} of deal {arguments.deal}")


def _is_asked(arguments: Namespace, match: Match, seat: Seat) -> bool:
    assert isinstance(match, Running), "cards are played in a match that runs"
    deal = match.deal
    assert isinstance(deal, Playing), "cards are played in a deal in play"
    trick = len(deal.finished) + 1
    return (deal.dealt.number, trick, seat) == (arguments.deal, arguments.trick, arguments.seat)


def _rows(moment: Moment, found: tuple[Considered, ...]) -> Iterator[tuple[str, str]]:
    seen, trump = moment.view, moment.view.order.trump
    yield "hand", f"{write(seen.hand.cards, trump)}   (trump: {write_trump(trump)})"
    trick = seen.trick_under_way
    if trick is not None:
        yield "trick", ", ".join(f"seat {played.seat}: {write(played.cards, trump)}" for played in trick.plays)
    yield "played", f"{write(moment.played, trump)} by seat {seen.seat}"
    if len(found) == 1:
        yield "strong", f"{write(found[0].cards, trump)} is the only play that comes into question"
        return
    for place, each in enumerate(found):
        same = "   <- played" if write(each.cards, trump) == write(moment.played, trump) else ""
        text = f"{each.chips:+6.2f} chips in {each.worlds:5,} worlds: {write(each.cards, trump)}{same}"
        yield "" if place else "strong", text
