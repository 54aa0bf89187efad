"""What a seat that comes back is told of the time it was away (rules §4, §12): as far as it may look back, and no further."""

from typing import Final

import pytest
from erqiwang_core import match as matches
from erqiwang_core.bidding import Bid, DeclarerFound, Pass
from erqiwang_core.match import (
    Command,
    DealStarted,
    Disband,
    Event,
    HouseCommand,
    Match,
    Player,
    Ready,
    Running,
    TakeSeat,
)
from erqiwang_core.naming import NameTrump, Surrender
from erqiwang_core.notices import Cause, DealEnded, told_again
from erqiwang_core.options import FourPlayer, Game, RoomOptions, ThreePlayer
from erqiwang_core.refusals import Phase
from erqiwang_core.units import CardSet, Seat
from erqiwang_core.view import view

from tests.deals import suggestions
from tests.rules.positions import EAST
from tests.rules.table import PLAYERS, open_table, shuffle

ROOMS: Final = {
    "three, review": RoomOptions(),
    "three, no review": RoomOptions(review=False),
    "four, review": RoomOptions(FourPlayer()),
    "four, no review": RoomOptions(FourPlayer(), review=False),
}


class Deal:
    """A match as it is played, and the events of its present deal."""

    def __init__(self, options: RoomOptions) -> None:
        self.match: Match = open_table(options)
        self.events: list[Event] = []
        for number in range(len(self.match.chairs)):
            self.house(TakeSeat(number, PLAYERS[number]))

    def house(self, command: HouseCommand) -> None:
        self._happened(matches.administer(self.match, command, shuffle(self.match.options)))

    def seat(self, number: int, command: Command) -> None:
        self._happened(matches.decide(self.match, Seat(number), command, shuffle(self.match.options)))

    def _happened(self, decided: object) -> None:
        assert isinstance(decided, tuple), decided
        for event in decided:
            self.match = matches.evolve(self.match, event)
            self.events = [] if isinstance(event, DealStarted) else self.events
            self.events.append(event)

    def bid(self, points: int) -> "Deal":
        """Seat 0 is the declarer at that bid."""
        self.seat(0, Bid(points))
        for number in range(1, len(self.match.chairs)):
            self.seat(number, Pass())
        return self

    def named(self) -> "Deal":
        """Seat 0 has named spades."""
        self.bid(70).seat(0, NameTrump(4))
        return self

    def played(self, plays: int) -> "Deal":
        """Seat 0 has buried and that many plays have been made, each as suggested."""
        self.named()
        for _ in range(1 + plays):
            self.suggested()
        return self

    def suggested(self) -> None:
        """Whoever is to act does what is suggested."""
        for each in self.match.chairs.seats():
            choice = view(self.match, each).advice.choice
            if choice is not None:
                self.seat(each, suggestions.suggested(choice))
                return
        raise AssertionError("nobody is to act")

    def told(self, number: int = 1) -> tuple[Cause, ...]:
        return told_again(self.match, self.events, Seat(number))

    def kinds(self) -> list[str]:
        """What is told, by name; the same to every seat."""
        told = [[type(cause).__name__ for cause in self.told(seat)] for seat in self.match.chairs.seats()]
        assert told == told[:1] * len(told)
        return told[0]


def before_play(deal: Deal) -> list[str]:
    """The causes of a deal up to burying: every seat but the first has passed."""
    passes = ["BidPassed"] * (len(deal.match.chairs) - 1)
    return ["Dealt", "BidMade", *passes, "DeclarerFound", "TrumpNamed", "BuriedBy"]


@pytest.mark.parametrize("options", ROOMS.values(), ids=ROOMS)
def test_until_the_first_lead_all_that_happened_in_the_deal(options: RoomOptions) -> None:
    deal = Deal(options)
    assert deal.kinds() == ["Dealt"]
    deal.played(0)
    assert deal.kinds() == before_play(deal)


@pytest.mark.parametrize("options", ROOMS.values(), ids=ROOMS)
@pytest.mark.parametrize("trick", [1, 2])
def test_in_a_no_review_room_nothing_before_the_trick_on_the_table(options: RoomOptions, trick: int) -> None:
    deal = Deal(options).played(0)
    seats = len(deal.match.chairs)
    one_trick = ["Led", *["CardsFollowed"] * (seats - 1)]
    for _ in range((trick - 1) * seats):
        deal.suggested()
    for played in range(1, seats + 1):
        deal.suggested()
        before = [*before_play(deal), *one_trick * (trick - 1)] if options.review else []
        assert deal.kinds() == [*before, *one_trick[:played]], "also of a finished one, until the next lead"


@pytest.mark.parametrize("options", ROOMS.values(), ids=ROOMS)
def test_after_the_settlement_the_last_trick_and_what_came_after_it(options: RoomOptions) -> None:
    deal = Deal(options).played(0)
    while view(deal.match, EAST).progress.phase is not Phase.SETTLED:
        deal.suggested()
    deal.seat(2, Ready())
    last = ["Led", *["CardsFollowed"] * (len(deal.match.chairs) - 1), "DealEnded", "SeatReady"]
    assert deal.kinds()[-len(last) :] == last
    assert (deal.kinds() == last) == (not options.review)
    for number in (0, 1, 3)[: len(deal.match.chairs) - 1]:
        deal.seat(number, Ready())
    assert deal.kinds() == ["Dealt"], "nothing of the deal before"


@pytest.mark.parametrize("options", ROOMS.values(), ids=ROOMS)
def test_a_disband_is_told_with_the_trick_that_it_cut_short(options: RoomOptions) -> None:
    deal = Deal(options).played(4)
    deal.house(Disband())
    followed = 0 if len(deal.match.chairs) == 3 else 3
    cut_short = ["Led", *["CardsFollowed"] * followed, "MatchOver"]
    assert deal.kinds()[-len(cut_short) :] == cut_short
    assert (deal.kinds() == cut_short) == (not options.review)


def kitty_told(deal: Deal) -> CardSet | None:
    (found,) = (cause for cause in deal.told() if isinstance(cause, DeclarerFound))
    assert found.declarer == EAST
    return found.shown


@pytest.mark.parametrize("options", ROOMS.values(), ids=ROOMS)
def test_a_kitty_shown_to_all_is_told_of_until_trump_is_named(options: RoomOptions) -> None:
    deal = Deal(options).bid(70)
    assert isinstance(deal.match, Running)
    kitty = deal.match.deal.dealt.kitty
    assert kitty_told(deal) == kitty
    deal.seat(0, NameTrump(4))
    assert kitty_told(deal) is None
    deal.suggested()
    assert kitty_told(deal) is None


@pytest.mark.parametrize("game", [ThreePlayer(), FourPlayer()])
def test_a_surrender_names_no_trump(game: Game) -> None:
    deal = Deal(RoomOptions(game, review=False)).bid(70 if game == ThreePlayer() else 120)
    deal.seat(0, Surrender())
    assert kitty_told(deal) is not None
    assert deal.told()[-1] == DealEnded()


def test_below_70_no_kitty_is_told_of_with_three_players() -> None:
    assert kitty_told(Deal(RoomOptions()).bid(65)) is None


@pytest.mark.parametrize("options", ROOMS.values(), ids=ROOMS)
def test_a_seat_that_is_taken_anew_in_the_deal_is_told_too(options: RoomOptions) -> None:
    deal = Deal(options).played(1)
    deal.house(TakeSeat(1, Player(PLAYERS[1])))
    assert deal.kinds()[-2:] == ["Led", "SeatTaken"]


@pytest.mark.parametrize("options", ROOMS.values(), ids=ROOMS)
def test_a_tail_of_the_events_gives_a_tail_of_what_is_told(options: RoomOptions) -> None:
    deal = Deal(options).played(5)
    whole = deal.told()
    for kept in range(len(deal.events) + 1):
        tail = deal.events[len(deal.events) - kept :]
        told = told_again(deal.match, tail, Seat(1))
        assert told == whole[len(whole) - len(told) :]
        assert len(told) == min(kept, len(whole))
