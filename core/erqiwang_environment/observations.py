"""Observations: what a seat sees, as one row of numbers from 0 to 1. They are made from the seat's view and nothing else.

Seats are told from the observer: 0 is its own, 1 the next seat, and so on. Sizes are the same in both games: with three players
the numbers of the fourth seat are 0. `LAYOUT` names the parts in order.

Left out is what changes no decision (players, countdowns, the commitment, past deals) and what a reader of the view can work out.
A view remembers nothing: what was shown for a moment, such as the kitty at a bid of 70, is not in it a step later.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import accumulate
from typing import Final, TypeAlias, final

import numpy as np
from erqiwang_core import CardSet, Seat, View, game_rules
from erqiwang_core.calls import BidMade, BidPassed
from erqiwang_core.kernel.cards import CARDS, KINDS
from erqiwang_core.kernel.hand import EMPTY, union
from erqiwang_core.kernel.trick import Trick
from erqiwang_core.kernel.trump import GROUPS, TRUMPS, Group
from erqiwang_core.parts import FollowAdvice
from erqiwang_core.refusals import Phase
from erqiwang_core.rules import DeclarerAwards
from numpy.typing import NDArray

from erqiwang_environment.actions import BIDS

Row: TypeAlias = NDArray[np.float32]

SEATS: Final = 4
"""Places for seats: as many as the larger game has."""
_MOST_CARDS: Final = 36
"""The most cards that a seat ever holds: 28 and the kitty."""
_MOST_POINTS: Final = 200
_MOST_BASE: Final = 15
_OF_A_RANK: Final = 8
_OF_JOKERS: Final = 4
_PHASES: Final = (Phase.BIDDING, Phase.NAMING, Phase.BURYING, Phase.PLAYING)
_GROUPS: Final = len(GROUPS)


@final
@dataclass(frozen=True, slots=True)
class Section:
    """A part of an observation."""

    name: str
    size: int
    meaning: str


SECTIONS: Final = (
    Section("hand", KINDS, "copies of each kind in the hand, divided by 2"),
    Section("chosen", KINDS, "copies of each kind chosen so far for the burial or the play, divided by 2"),
    Section("kitty", KINDS, "the kitty, for the declarer until it has buried; as `hand`"),
    Section("buried", KINDS, "the buried cards, for the declarer during play; as `hand`"),
    Section("captured_cards", KINDS, "the captured point cards, for the defenders; as `hand`"),
    Section("table", SEATS * KINDS, "the trick on the table, seat by seat; as `hand`"),
    Section("past", SEATS * KINDS, "the finished tricks of the deal, seat by seat, in a review room; as `hand`"),
    Section("room", 5, "seats divided by 4, cards of the deck by 108, base chips of the lowest bid by 15; joker bonus, review"),
    Section("phase", len(_PHASES), "bidding, naming, burying, playing; all 0 once the deal is settled"),
    Section("turn", SEATS, "the seat that is to act"),
    Section("first_bidder", SEATS, "the seat that opened the bidding"),
    Section("bidder", SEATS, "the seat of the lowest bid so far, or the declarer"),
    Section("bid", len(BIDS), "the lowest bid so far, or that of the contract: 0, 5, … 120"),
    Section("base", 1, "the base chips of that bid, divided by 15"),
    Section("last_bid", SEATS, "during the bidding, the last bid of each seat in points, divided by 120"),
    Section("passed", SEATS, "during the bidding, the seats that have passed"),
    Section("trump", len(TRUMPS), "the trump choice: diamonds, clubs, hearts, spades, no trump"),
    Section("captured_points", 1, "the points that the defenders have captured, divided by 200"),
    Section("under_way", 1, "1 if the trick on the table waits for more plays"),
    Section("leader", SEATS, "the seat that led the trick on the table"),
    Section("ahead", SEATS, "the seat ahead in the trick on the table"),
    Section("led", _GROUPS, "the group that was led: trumps, diamonds, clubs, hearts, spades"),
    Section("failed_throw", 1, "1 if the lead is what a failed throw left"),
    Section("to_follow", 1, "the number of cards with which the seat must follow, divided by 36"),
    Section("void", SEATS * _GROUPS, "proven void, seat by seat: trumps, diamonds, clubs, hearts, spades"),
    Section("no_pair", SEATS * _GROUPS, "proven to hold no pair, in the same order"),
    Section("announced", SEATS, "the seats announced void of trump"),
    Section("counted", SEATS * 3, "for each seat: 1 if its trumps are told, their number and that of pairs, divided by 36"),
    Section("stated", SEATS * 3, "for each seat: 1 if it has stated, its number of trumps divided by 36, 1 if it has a pair"),
    Section("disclosed", 7, "the declarer's disclosure: 1 if trumps are told, trumps, pairs and tractors divided by 36, "
            "jokers divided by 4, 7s and 2s divided by 8"),
)  # fmt: skip
"""The parts of an observation, in order."""

SIZE: Final = sum(section.size for section in SECTIONS)
LAYOUT: Final = {
    section.name: slice(end - section.size, end)
    for section, end in zip(SECTIONS, accumulate(section.size for section in SECTIONS), strict=True)
}
"""The place of each part in an observation, by name."""


def observation(view: View, chosen: CardSet) -> Row:
    """What the view's seat sees, after it has chosen these cards."""
    row: Row = np.zeros(SIZE, np.float32)
    row[:_CARDS] = _copies(_cards_seen(view, chosen))
    writer = _Writer(row, view.seat, len(view.chairs.players))
    _write_room(writer, view)
    _write_contract(writer, view)
    _write_tricks(writer, view)
    _write_knowledge(writer, view)
    return row


def with_chosen(row: Row, chosen: CardSet) -> Row:
    """A copy of an observation without chosen cards, in which these are chosen; all else is the same."""
    copied = row.copy()
    if chosen:
        copied[LAYOUT["chosen"]] = _copies([chosen])
    return copied


def _cards_seen(view: View, chosen: CardSet) -> list[CardSet]:
    """The cards of the parts that hold cards, which stand first, in the order of the layout."""
    table, past = [EMPTY] * SEATS, [EMPTY] * SEATS
    seats = len(view.chairs.players)
    for played in () if view.table.trick is None else view.table.trick.plays:
        table[(played.seat - view.seat) % seats] = played.cards
    for trick in view.history.tricks:
        for played in trick.plays:
            place = (played.seat - view.seat) % seats
            past[place] = union(past[place], played.cards)
    own = (view.hand.cards, chosen, view.kitty.cards, view.buried.cards, view.captured_cards.cards)
    return [*own, *table, *past]


def _copies(sets: list[CardSet]) -> Row:
    """For each set the copies of each kind, divided by 2. All sets are unpacked at once, which is most of the speed."""
    packed = np.frombuffer(b"".join(cards.to_bytes(_BYTES, "little") for cards in sets), np.uint8)
    cards = np.unpackbits(packed.reshape(len(sets), _BYTES), axis=1, bitorder="little", count=CARDS)
    halves: Row = (cards[:, :KINDS] + cards[:, KINDS:]).ravel() * _HALF
    return halves


_BYTES: Final = (CARDS + 7) // 8
_HALF: Final = np.float32(0.5)
_CARDS: Final = LAYOUT["room"].start


@final
class _Writer:
    """Writes the other parts of one observation by their names."""

    __slots__ = ("_observer", "_row", "_seats")

    def __init__(self, row: Row, observer: Seat, seats: int) -> None:
        self._row: Final = row
        self._observer: Final = observer
        self._seats: Final = seats

    def place(self, seat: Seat) -> int:
        """How many seats after the observer's a seat is."""
        return (seat - self._observer) % self._seats

    def write(self, name: str, values: Iterable[float]) -> None:
        """Write all numbers of a part."""
        self._row[LAYOUT[name]] = tuple(values)

    def set(self, name: str, place: int, value: float = 1) -> None:
        """Write one number of a part."""
        self._row[LAYOUT[name].start + place] = value

    def seat(self, name: str, seat: Seat, value: float = 1) -> None:
        """Write the number of one seat in a part with a number for each."""
        self.set(name, self.place(seat), value)


def _write_room(writer: _Writer, view: View) -> None:
    # The rules say all that matters of a game and its options. So no game is named here, and a new one needs no change.
    rules = game_rules(view.options.game, view.options.review)
    joker_bonus = isinstance(rules.awards, DeclarerAwards) and rules.awards.joker_bonus
    lowest = rules.rows[-1].base
    writer.write(
        "room", (rules.seats / SEATS, len(rules.deck) / CARDS, lowest / _MOST_BASE, joker_bonus, view.options.review)
    )
    if view.progress.phase in _PHASES:
        writer.set("phase", _PHASES.index(view.progress.phase))
    if view.turn.seat is not None:
        writer.seat("turn", view.turn.seat)
    if view.progress.first_bidder is not None:
        writer.seat("first_bidder", view.progress.first_bidder)


def _write_contract(writer: _Writer, view: View) -> None:
    auction, agreed = view.auction, view.contract.agreed
    if auction.leader is not None and auction.standing is not None:
        _write_bid(writer, auction.leader, auction.standing, auction.base)
    for call in auction.calls:
        match call:
            case BidMade(seat, points):
                writer.seat("last_bid", seat, points / BIDS[-1])
            case BidPassed(seat):
                writer.seat("passed", seat)
    if agreed is not None:
        _write_bid(writer, agreed.declarer, agreed.bid, agreed.base)
        if agreed.trump is not None:
            writer.set("trump", TRUMPS.index(agreed.trump))


def _write_bid(writer: _Writer, bidder: Seat, points: int, base: int) -> None:
    writer.seat("bidder", bidder)
    writer.set("bid", BIDS.index(points))
    writer.set("base", 0, base / _MOST_BASE)


def _write_tricks(writer: _Writer, view: View) -> None:
    writer.set("captured_points", 0, view.captured.points / _MOST_POINTS)
    trick, choice = view.table.trick, view.advice.choice
    if trick is not None:
        _write_table(writer, trick)
        writer.set("under_way", 0, view.trick_under_way is not None)
    if isinstance(choice, FollowAdvice):
        writer.set("to_follow", 0, choice.number / _MOST_CARDS)


def _write_table(writer: _Writer, trick: Trick) -> None:
    writer.seat("leader", trick.leader)
    writer.seat("ahead", trick.ahead)
    writer.set("led", trick.lead.group)
    writer.set("failed_throw", 0, trick.failed_throw)


def _write_knowledge(writer: _Writer, view: View) -> None:
    if view.inference.proven is not None:
        for seat, proven in view.inference.proven.items():
            _write_groups(writer, "void", seat, proven.void)
            _write_groups(writer, "no_pair", seat, proven.no_pair)
    for seat in view.trump_void.announced:
        writer.seat("announced", seat)
    for seat, held in view.trump_counts.counts:
        _write_three(writer, "counted", seat, (1, held.trumps / _MOST_CARDS, held.pairs / _MOST_CARDS))
    for told in view.trump_void.statements:
        _write_three(writer, "stated", told.seat, (1, told.trumps / _MOST_CARDS, told.has_pair))
    if view.disclosed.disclosure is not None:
        writer.write("disclosed", _disclosed(view))


def _write_groups(writer: _Writer, name: str, seat: Seat, groups: tuple[Group, ...]) -> None:
    for group in groups:
        writer.set(name, _GROUPS * writer.place(seat) + group)


def _write_three(writer: _Writer, name: str, seat: Seat, values: tuple[float, float, float]) -> None:
    for place, value in enumerate(values):
        writer.set(name, 3 * writer.place(seat) + place, value)


def _disclosed(view: View) -> Iterator[float]:
    told = view.disclosed.disclosure
    assert told is not None, "there is something to tell"
    holding = told.holding
    if holding is None:
        yield from (0, 0, 0, 0)
    else:
        yield from (1, *(each / _MOST_CARDS for each in (holding.trumps, holding.pairs, holding.tractors)))
    yield (told.jokers or 0) / _OF_JOKERS
    yield (told.sevens or 0) / _OF_A_RANK
    yield (told.twos or 0) / _OF_A_RANK
