"""`erqiwang explain`: tells which plays are legal and why, or what a strong player makes of a play of a stored match."""

import sys
from argparse import ArgumentParser, Namespace, RawDescriptionHelpFormatter
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations
from math import comb
from typing import Final, final

from erqiwang_core.kernel.cards import kind
from erqiwang_core.kernel.following import answer, breach, follow, is_legal, may, must
from erqiwang_core.kernel.hand import cards_of, copies, count, ids, kind_list, kinds, pairs, points, shared, without
from erqiwang_core.kernel.shapes import Lead, all_components, classify
from erqiwang_core.kernel.trump import Group, Order, order
from erqiwang_core.notation import (
    ThirdCopy,
    UnreadableTrump,
    in_order,
    read,
    read_trump,
    write,
    write_card,
    write_trump,
)
from erqiwang_core.units import CardSet, KindSet
from erqiwang_core.valuation import cheapness

from erqiwang_grpc.commands import data_folder, folding, stores
from erqiwang_grpc.commands.data_folder import NoStore
from erqiwang_grpc.names import printable
from erqiwang_grpc.tools import wording
from erqiwang_grpc.tools.considered_play import asked
from erqiwang_grpc.tools.stored_room import NothingToTell
from erqiwang_grpc.tools.thinking import add_thinking_options

LEGAL: Final = 0
ILLEGAL: Final = 1
NOT_UNDERSTOOD: Final = 2

_MOST_TRIED: Final = 20_000
"""Most sets of cards that are tried. With more of them, the legal plays are not listed one by one."""
_MOST_SHOWN: Final = 12
_TITLE: Final = 10
"""The columns of a row's title."""


_EPILOG: Final = """\
Cards: ♠7 or s7, h10, dK; BJ and SJ (or 🃏 and 🃟) are the jokers. The same card
twice is a pair. For example:

  erqiwang explain --hand 'hA hA hK hK s5 BJ' --trump s --lead 'h9 h9'

With --room a strong player says what it would have played, and what it expects
of the other plays: the chips of the seat in this deal, on the mean of many ways
in which the hidden cards may lie. It knows what the seat saw, and no more.

  erqiwang explain --room 7jd2yptbkrbe7tknxbeiao4j --deal 2 --trick 5 --seat 1

Exit status: 0, 1 where --play is illegal, 2 where a text is not understood or
there is no such play."""


class BadText(Exception):
    """The text cannot be understood. The message is for the user."""


@final
@dataclass(frozen=True, slots=True)
class Question:
    """Which plays of `hand` follow `lead`?"""

    order: Order
    hand: CardSet
    lead: Lead
    led: CardSet


@final
@dataclass(frozen=True, slots=True)
class Verdict:
    """Whether a play is legal, and why."""

    is_legal: bool
    why: str

    def __str__(self) -> str:
        return self.why if self.is_legal else f"illegal: {self.why}"


@final
@dataclass(frozen=True, slots=True)
class Explanation:
    """The lines to print, and the verdict on the play, if one was given."""

    lines: tuple[str, ...]
    verdict: Verdict | None


def add_arguments(parser: ArgumentParser) -> None:
    """Add the arguments of `explain`."""
    parser.formatter_class = RawDescriptionHelpFormatter
    parser.epilog = _EPILOG
    parser.add_argument("--hand", metavar="CARDS", help="the cards held")
    parser.add_argument("--trump", help="♠ or s, h, c, d, or 'no trump'")
    parser.add_argument("--lead", metavar="CARDS", help="the cards led; without them, what the hand may lead")
    parser.add_argument("--play", metavar="CARDS", help="a play to judge")
    stored = parser.add_argument_group("a play of a stored match")
    stored.add_argument("--room", help="the room's id")
    stored.add_argument("--deal", type=int, help="the deal of the match, from 1")
    stored.add_argument("--trick", type=int, help="the trick of the deal, from 1")
    stored.add_argument("--seat", type=int, help="the seat that played")
    stored.add_argument("--show-hidden", action="store_true", help="tell of a deal in progress, too")
    add_thinking_options(parser)
    data_folder.add_data_option(parser)
    stores.add_store_option(parser)
    parser.set_defaults(run=run)


def run(arguments: Namespace) -> int:
    """Print the explanation. Gives 1 if the given play is illegal, 2 if the text cannot be understood."""
    try:
        if arguments.room is not None:
            folding.say([line for title, text in asked(arguments) for line in _row(title, text)], _TITLE + 1)
            return LEGAL
        explained = _explained(arguments)
    except (BadText, NoStore, NothingToTell) as bad:
        print(f"erqiwang explain: {printable(str(bad))}", file=sys.stderr)
        return NOT_UNDERSTOOD
    folding.say(explained.lines, _TITLE + 1)
    return LEGAL if explained.verdict is None or explained.verdict.is_legal else ILLEGAL


def _explained(arguments: Namespace) -> Explanation:
    if arguments.hand is None or arguments.trump is None:
        raise BadText("name --hand and --trump, or a play of a stored match with --room, --deal, --trick and --seat")
    tables, hand = _trump(arguments.trump), _cards("--hand", arguments.hand)
    play = None if arguments.play is None else _cards("--play", arguments.play)
    if arguments.lead is None:
        return explain_lead(tables, hand, play)
    led = _cards("--lead", arguments.lead)
    _check_copies(hand, led)
    lead = classify(tables, led)
    if not isinstance(lead, Lead):
        raise BadText(f"--lead: {write(led, tables.trump)} may not be led: {wording.not_led(lead)}")
    if lead.count > count(hand):
        raise BadText(f"--lead: {wording.number_of(lead.count, 'card')} led, and the hand holds {count(hand)}")
    return explain_follow(Question(tables, hand, lead, led), play)


def _trump(text: str) -> Order:
    trump = read_trump(text)
    if isinstance(trump, UnreadableTrump):
        raise BadText(f"--trump: {wording.unreadable(trump)}")
    return order(trump)


def _cards(option: str, text: str) -> CardSet:
    cards = read(text)
    if not isinstance(cards, int):
        raise BadText(f"{option}: {wording.unreadable(cards)}")
    if not cards:
        raise BadText(f"{option}: name at least one card")
    return cards


def _check_copies(hand: CardSet, led: CardSet) -> None:
    for both in (pairs(hand) & kinds(led), pairs(led) & kinds(hand)):
        if both:
            raise BadText(f"--lead: with the hand, {wording.unreadable(ThirdCopy(kind_list(KindSet(both))[0]))}")


def explain_lead(tables: Order, hand: CardSet, play: CardSet | None) -> Explanation:
    """The explanation of what `hand` may lead, and whether it may lead `play` (rules §6)."""
    verdict = None if play is None else _judged_lead(tables, hand, play)
    return Explanation((*_lead_rows(tables, hand), *_verdict_row(tables, play, verdict)), verdict)


def _verdict_row(tables: Order, play: CardSet | None, verdict: Verdict | None) -> Iterator[str]:
    if play is not None:
        yield from _row("play", f"{write(play, tables.trump)}: {verdict}")


def _lead_rows(tables: Order, hand: CardSet) -> Iterator[str]:
    yield from _row("hand", f"{write(hand, tables.trump)}   (trump: {write_trump(tables.trump)})")
    found = sorted(all_components(tables, hand), key=count)
    yield from _row("may lead", " | ".join(dict.fromkeys(write(cards, tables.trump) for cards in found)))
    if count(tables.trumps(hand)) > 1:
        yield from _row(
            "", "any trumps together: a throw, if no other seat holds a higher component of any of its shapes"
        )


def _judged_lead(tables: Order, hand: CardSet, play: CardSet) -> Verdict:
    missing = _not_held(hand, play)
    if missing is not None:
        return missing
    lead = classify(tables, play)
    if isinstance(lead, Lead):
        return Verdict(True, f"legal, {wording.shape(lead.shape)} of {wording.group(lead.group)}")
    return Verdict(False, wording.not_led(lead))


def explain_follow(question: Question, play: CardSet | None) -> Explanation:
    """The explanation of which plays follow the lead, and whether `play` does (rules §7)."""
    verdict = None if play is None else _judged_follow(question, play)
    return Explanation((*_follow_rows(question), *_verdict_row(question.order, play, verdict)), verdict)


def _follow_rows(question: Question) -> Iterator[str]:
    tables, hand, lead = question.order, question.hand, question.lead
    trump = tables.trump
    suggestion = follow(tables, lead, hand, cheapness(tables, hand))
    yield from _row("hand", f"{write(hand, trump)}   (trump: {write_trump(trump)})")
    yield from _row("lead", f"{write(question.led, trump)}: {wording.shape(lead.shape)} of {wording.group(lead.group)}")
    yield from _row("answer", wanted(question))
    yield from _row("must", write(must(tables, lead, hand), trump) or "no card in particular")
    yield from _row("may", write(may(tables, lead, hand), trump))
    yield from _row("legal", _legal(question))
    yield from _row("suggested", f"{write(suggestion, trump)} ({wording.number_of(points(suggestion), 'point')})")


def _row(title: str, text: str) -> Iterator[str]:
    yield f"{title:<{_TITLE}} {text}"


def wanted(question: Question) -> str:
    """What a play must contain, in words."""
    tables, lead = question.order, question.lead
    led = wording.group(lead.group)
    held = shared(question.hand, tables.cards[lead.group])
    if not held:
        ruff = "" if lead.group is Group.TRUMPS else f"; trumps that make {wording.shape(lead.shape)} ruff"
        return f"any {wording.number_of(lead.count, 'card')}, as the hand holds no {led}{ruff}"
    short = lead.count - count(held)
    if short > 0:
        return f"all {led} of the hand ({count(held)}) and any {wording.number_of(short, 'other card')}"
    if short == 0:
        return f"all {led} of the hand ({count(held)})"
    called = answer(lead.shape, tables.pair_ladder(lead.group, held))
    return f"{lead.count} of the {count(held)} {led}, {wording.called(lead.shape, called, lead.group)}"


def _legal(question: Question) -> str:
    found = legal_plays(question)
    if found is None:
        return "too many plays to write down"
    shown = " | ".join(found[:_MOST_SHOWN])
    more = f" | … ({len(found)} in all)" if len(found) > _MOST_SHOWN else ""
    return shown + more


def legal_plays(question: Question) -> tuple[str, ...] | None:
    """Every legal play as text, without telling copies of a card apart; None if there are too many to try."""
    tables, hand, lead = question.order, question.hand, question.lead
    fixed = must(tables, lead, hand)
    free = in_order(tables, without(may(tables, lead, hand), fixed))
    missing = lead.count - count(fixed)
    if comb(len(free), missing) > _MOST_TRIED:
        return None
    plays = (CardSet(fixed | cards_of(chosen)) for chosen in combinations(free, missing))
    legal = (play for play in plays if is_legal(tables, lead, hand, play))
    return tuple(dict.fromkeys(write(play, tables.trump) for play in legal))


def _judged_follow(question: Question, play: CardSet) -> Verdict:
    missing = _not_held(question.hand, play)
    if missing is not None:
        return missing
    if count(play) != question.lead.count:
        return Verdict(False, f"{wording.number_of(question.lead.count, 'card')} led, {count(play)} played")
    broken = breach(question.order, question.lead, question.hand, play)
    return Verdict(True, "legal") if broken is None else Verdict(False, wording.breach(broken))


def _not_held(hand: CardSet, play: CardSet) -> Verdict | None:
    """A verdict if the play has cards that are not in the hand; None otherwise."""
    missing = ids(without(play, hand))
    if not missing:
        return None
    twice = " twice" if shared(hand, copies(kinds(cards_of(missing[:1])))) else ""
    return Verdict(False, f"the hand does not hold {write_card(kind(missing[0]))}{twice}")
