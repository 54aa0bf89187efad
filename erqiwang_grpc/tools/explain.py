"""`erqiwang explain`: for a hand, a trump and a lead, which plays are legal and why."""

import sys
from argparse import Namespace, RawDescriptionHelpFormatter
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

from erqiwang_grpc.commands.arguments import Subparsers
from erqiwang_grpc.tools import wording

_MOST_TRIED: Final = 20_000
"""Of how many sets of cards each is tried; more plays than that are not written down one by one."""
_MOST_SHOWN: Final = 12


_EPILOG: Final = """\
Cards: ♠7 or s7, h10, dK; BJ and SJ (or 🃏 and 🃟) are the jokers. The same card
twice is a pair. For example:

  erqiwang explain --hand 'hA hA hK hK s5 BJ' --trump s --lead 'h9 h9'"""


class BadText(Exception):
    """What was typed is no question, in words for whoever typed it."""


@final
@dataclass(frozen=True, slots=True)
class Question:
    """Which plays of `hand` follow `lead`?"""

    order: Order
    hand: CardSet
    lead: Lead
    led: CardSet


def add_parser(subparsers: Subparsers) -> None:
    """Add `explain`."""
    parser = subparsers.add_parser(
        "explain",
        help="say which plays are legal and why",
        formatter_class=RawDescriptionHelpFormatter,
        epilog=_EPILOG,
    )
    parser.add_argument("--hand", required=True, metavar="CARDS", help="the cards held")
    parser.add_argument("--trump", required=True, help="♠ or s, h, c, d, or 'no trump'")
    parser.add_argument("--lead", metavar="CARDS", help="the cards led; without them, what the hand may lead")
    parser.add_argument("--play", metavar="CARDS", help="a play to judge")
    parser.set_defaults(run=run)


def run(arguments: Namespace) -> int:
    """Print the explanation; 2 where the text cannot be understood."""
    try:
        lines = tuple(_explained(arguments))
    except BadText as bad:
        print(f"erqiwang explain: {bad}", file=sys.stderr)
        return 2
    print("\n".join(lines))
    return 0


def _explained(arguments: Namespace) -> Iterator[str]:
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


def explain_lead(tables: Order, hand: CardSet, play: CardSet | None) -> Iterator[str]:
    """What `hand` may lead, and whether it may lead `play`."""
    yield from _row("hand", f"{write(hand, tables.trump)}   (trump: {write_trump(tables.trump)})")
    found = sorted(all_components(tables, hand), key=count)
    yield from _row("may lead", " | ".join(dict.fromkeys(write(cards, tables.trump) for cards in found)))
    if count(tables.trumps(hand)) > 1:
        yield from _row(
            "", "any trumps together: a throw, if no other seat holds a higher component of any of its shapes"
        )
    if play is not None:
        yield from _row("play", f"{write(play, tables.trump)}: {_judged_lead(tables, hand, play)}")


def _judged_lead(tables: Order, hand: CardSet, play: CardSet) -> str:
    missing = _not_held(hand, play)
    if missing is not None:
        return missing
    lead = classify(tables, play)
    if isinstance(lead, Lead):
        return f"legal, {wording.shape(lead.shape)} of {wording.group(lead.group)}"
    return f"illegal: {wording.not_led(lead)}"


def explain_follow(question: Question, play: CardSet | None) -> Iterator[str]:
    """Which plays follow the lead and why, and whether `play` does."""
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
    if play is not None:
        yield from _row("play", f"{write(play, trump)}: {_judged_follow(question, play)}")


def _row(title: str, text: str) -> Iterator[str]:
    yield f"{title:<10} {text}"


def wanted(question: Question) -> str:
    """What the answer has to contain, in words."""
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
    """Every legal play as text, copies of a card not told apart; None where there are too many to try."""
    tables, hand, lead = question.order, question.hand, question.lead
    fixed = must(tables, lead, hand)
    free = in_order(tables, without(may(tables, lead, hand), fixed))
    missing = lead.count - count(fixed)
    if comb(len(free), missing) > _MOST_TRIED:
        return None
    plays = (CardSet(fixed | cards_of(chosen)) for chosen in combinations(free, missing))
    legal = (play for play in plays if is_legal(tables, lead, hand, play))
    return tuple(dict.fromkeys(write(play, tables.trump) for play in legal))


def _judged_follow(question: Question, play: CardSet) -> str:
    missing = _not_held(question.hand, play)
    if missing is not None:
        return missing
    if count(play) != question.lead.count:
        return f"illegal: {wording.number_of(question.lead.count, 'card')} led, {count(play)} played"
    broken = breach(question.order, question.lead, question.hand, play)
    return "legal" if broken is None else f"illegal: {wording.breach(broken)}"


def _not_held(hand: CardSet, play: CardSet) -> str | None:
    """What of a play is not in the hand; None where all is. Both are texts, which name the first deck's copies first."""
    missing = ids(without(play, hand))
    if not missing:
        return None
    twice = " twice" if shared(hand, copies(kinds(cards_of(missing[:1])))) else ""
    return f"illegal: the hand does not hold {write_card(kind(missing[0]))}{twice}"
