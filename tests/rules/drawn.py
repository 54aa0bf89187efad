"""Hypothesis strategies for cards, made so that a wrong rule shows: many pairs, many neighbours, many off-suit 7s and 2s."""

from collections.abc import Iterable
from typing import Final, NamedTuple

from erqiwang_core.kernel.cards import FULL_DECK, SHORT_DECK
from erqiwang_core.kernel.trump import TRUMPS as TRUMP_CHOICES, Trump
from erqiwang_core.units import CardId
from hypothesis import strategies as st

from tests.oracle.faces import NO_TRUMP, SUITS, TRUMPS, Cards, face, group, levels, of_group, paired
from tests.oracle.shapes import Part, part, runs
from tests.rules.written import sign

KINDS: Final = {face(number): number for number in range(54)}
DECKS: Final = {deck: frozenset(map(face, deck)) for deck in (SHORT_DECK, FULL_DECK)}
COPIES: Final = (0, 1, 2, 2, 2)
"""Twos prevail: pairs are what the rules are about."""

trump_choices: Final = st.sampled_from(TRUMP_CHOICES)
decks: Final = st.sampled_from((SHORT_DECK, FULL_DECK))


class Following(NamedTuple):
    """A lead and a hand that is to follow it. The two may share a card: only the shape of what was led matters."""

    trump: Trump
    lead: Cards
    hand: Cards


class OneTrick(NamedTuple):
    """The last cards of every seat, the leader's first; no card is in two hands."""

    trump: Trump
    plays: tuple[Cards, ...]


@st.composite
def of_one_group(draw: st.DrawFn, trump: Trump, of: str, deck: tuple[CardId, ...], most: int) -> Cards:
    """Up to `most` cards of neighbouring levels of one group, at least one."""
    window = _window(draw, [level for level in levels(of, sign(trump)) if level[0] in DECKS[deck]])
    found: list[int] = []
    for printed in draw(st.permutations([printed for level in window for printed in level])):
        copies = draw(st.sampled_from(COPIES))
        found.extend((KINDS[printed], KINDS[printed] + 54)[:copies] if copies != 1 else [_one_copy(draw, printed)])
    return frozenset(found[:most] or [_one_copy(draw, window[0][0])])


def _window(draw: st.DrawFn, ladder: list[list[str]]) -> list[list[str]]:
    width = min(draw(st.integers(1, 7)), len(ladder))
    start = draw(st.integers(0, len(ladder) - width))
    return ladder[start : start + width]


def _one_copy(draw: st.DrawFn, printed: str) -> int:
    return KINDS[printed] + 54 * draw(st.integers(0, 1))


def groups(trump: Trump) -> list[str]:
    """The groups of a trump choice, the trumps first and once more for good measure."""
    return [TRUMPS, TRUMPS, *(suit for suit in SUITS if suit != sign(trump))]


@st.composite
def components(draw: st.DrawFn, trump: Trump, of: str, deck: tuple[CardId, ...], longest: int = 4) -> Cards:
    """A single, a pair or a tractor of a group."""
    ladder = [level for level in levels(of, sign(trump)) if level[0] in DECKS[deck]]
    pairs = draw(st.integers(0, min(longest, len(ladder))))
    if not pairs:
        return frozenset({_one_copy(draw, draw(st.sampled_from(draw(st.sampled_from(ladder)))))})
    start = draw(st.integers(0, len(ladder) - pairs))
    run = [draw(st.sampled_from(level)) for level in ladder[start : start + pairs]]
    return _pairs(run)


@st.composite
def leads(draw: st.DrawFn, trump: Trump, deck: tuple[CardId, ...]) -> Cards:
    """Whatever may be led: a component of any group, or a throw of up to eight trumps."""
    if draw(st.integers(0, 2)) == 0:
        return draw(of_one_group(trump, TRUMPS, deck, most=8))
    return draw(components(trump, draw(st.sampled_from(groups(trump))), deck))


@st.composite
def following(draw: st.DrawFn, most: int = 9) -> Following:
    """A lead of any shape and a hand that holds enough cards, mostly of the group that was led."""
    trump, deck = draw(trump_choices), draw(decks)
    lead = draw(leads(trump, deck))
    led = group(face(min(lead)), sign(trump))
    held = draw(of_one_group(trump, led, deck, most)) | draw(
        st.one_of(st.just(frozenset[int]()), of_one_group(trump, led, deck, 4))
    )
    held = held if draw(st.integers(0, 3)) else frozenset()
    others = sorted(card for card in deck if group(face(card), sign(trump)) != led)
    missing = max(0, len(lead) - len(held))
    fillers = draw(st.lists(st.sampled_from(others), min_size=missing, max_size=missing + 2, unique=True))
    return Following(trump, lead, held | frozenset(fillers))


@st.composite
def crowded(draw: st.DrawFn) -> Following:
    """A throw of two tractors, and a hand of more pairs than it calls for, most of them neighbours.

    Only here does it matter which tractors can be answered at once: elsewhere all pairs must be played anyhow.
    """
    trump = draw(trump_choices)
    ladder = levels(TRUMPS, sign(trump))
    thrown = draw(st.sampled_from(_two_tractors(sign(trump))))
    start = draw(st.integers(0, max(0, len(ladder) - 8)))
    near = [printed for level in ladder[start : start + 8] for printed in level]
    held = draw(st.lists(st.sampled_from(near), min_size=len(thrown) + 1, max_size=len(thrown) + 2, unique=True))
    return Following(trump, _pairs(thrown), _pairs(held))


def _two_tractors(trump: str) -> list[list[str]]:
    """Pairs that make a throw of tractors of 2 and 2, of 3 and 2, and of 2 and 2 beside a pair."""
    if trump == NO_TRUMP:
        return [["♦2", "♦7", "♣2", "♣7"], ["♦2", "♦7", "small", "♣2", "♣7"], ["♦2", "♦7", "♣2", "♣7", "big"]]
    ranks = ("5 6 9 10", "5 6 8 10 J", "5 6 9 10 Q")
    return [[trump + rank for rank in row.split()] for row in ranks]


def _pairs(faces: Iterable[str]) -> Cards:
    return frozenset(KINDS[printed] + 54 * copy for printed in faces for copy in range(2))


@st.composite
def last_trick(draw: st.DrawFn) -> OneTrick:
    """A lead and, for each other seat, as many cards: often the shape that was led, in its suit or in trumps."""
    trump, deck = draw(trump_choices), draw(decks)
    plays = [draw(leads(trump, deck))]
    for _ in range(draw(st.integers(2, 3))):
        left = frozenset(deck).difference(*plays)
        plays.append(_play(draw, sign(trump), plays[0], left))
    return OneTrick(trump, tuple(plays))


def _play(draw: st.DrawFn, trump: str, lead: Cards, left: Cards) -> Cards:
    led = group(face(min(lead)), trump)
    wanted = draw(st.sampled_from([led, TRUMPS]))
    like = _like(of_group(left, wanted, trump), part(lead, trump), trump)
    if like and draw(st.integers(0, 3)) > 0:
        return draw(st.sampled_from(like))
    some = sorted(of_group(left, wanted, trump)) if draw(st.booleans()) else sorted(left)
    if len(some) < len(lead):
        some = sorted(left)
    return frozenset(draw(st.lists(st.sampled_from(some), min_size=len(lead), max_size=len(lead), unique=True)))


def _like(cards: Cards, shape: Part | None, trump: str) -> list[Cards]:
    """What among cards of one group has a shape."""
    if shape is None:
        return []
    if shape.pairs == 0:
        return [frozenset({card}) for card in sorted(cards)]
    pairs = paired(cards)
    if shape.pairs == 1:
        return [_pairs([printed]) for printed in sorted(pairs)]
    return [_pairs(run) for run in runs(pairs, shape.pairs, trump)]
