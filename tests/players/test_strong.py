"""The strong player: its worlds agree with what its seat was told, its quick play keeps score as the rules do."""

from collections.abc import Iterator
from itertools import islice, pairwise
from random import Random

import pytest
from erqiwang_core.kernel.cards import Suit
from erqiwang_core.kernel.shapes import Throw, component, components
from erqiwang_core.kernel.trump import GROUPS, Group, SuitTrump
from erqiwang_core.match import Running
from erqiwang_core.notation import read
from erqiwang_core.options import Deck, FourPlayer, RoomOptions, ThreePlayer
from erqiwang_core.players import CAREFUL, Glance, RandomLegal, Sensible, Step, Strong, contest, shuffles, worlds_each
from erqiwang_core.players.outlook import outlook, sure_throw
from erqiwang_core.players.reading import is_void, rules_of, unseen
from erqiwang_core.players.strong.card_choice import considered
from erqiwang_core.players.strong.choosing import compared
from erqiwang_core.players.strong.known_deal import KnownDeal
from erqiwang_core.players.strong.places import Row, places
from erqiwang_core.players.strong.playout import play_out
from erqiwang_core.players.strong.stakes import chips, stakes_of, surrendered
from erqiwang_core.players.strong.throws import led_if_it_fails, likely_throw, stands
from erqiwang_core.players.strong.worlds import Worlds
from erqiwang_core.playing import CardsFollowed, CardsLed, Play, Playing, SignalKind, Signalled
from erqiwang_core.scoring import Surrendered
from erqiwang_core.seats import by_seat
from erqiwang_core.settlement import DealSettled
from erqiwang_core.units import CardSet, Seat
from erqiwang_core.view import view

ROOMS = [
    RoomOptions(game, review=review)
    for game in (ThreePlayer(), FourPlayer(Deck.SHORT), FourPlayer(Deck.FULL))
    for review in (True, False)
]
in_every_room = pytest.mark.parametrize("room", ROOMS, ids=lambda room: f"{room.game}, review {room.review}")


def cards(text: str) -> CardSet:
    found = read(text)
    assert isinstance(found, int)
    return found


def steps(room: RoomOptions, policy: Sensible | RandomLegal, seed: int = 3) -> Iterator[Step]:
    seats = 3 if isinstance(room.game, ThreePlayer) else 4
    return contest(room, by_seat(seats, lambda _: policy), Random(seed), shuffles(room, Random(seed)))


def plays(room: RoomOptions, policy: Sensible | RandomLegal, seed: int = 3) -> Iterator[tuple[Step, Playing]]:
    """The steps of a match that are plays, with the deal before them."""
    for step in steps(room, policy, seed):
        if isinstance(step.command, Play) and isinstance(step.before, Running):
            assert isinstance(step.before.deal, Playing)
            yield step, step.before.deal


@in_every_room
def test_a_known_deal_goes_as_the_rules_say(room: RoomOptions) -> None:
    """Random legal play brings ruffs, tractors and equal levels. Winners, captured points and the grade are compared."""
    known, compared_ends = None, 0
    for step, deal in plays(room, RandomLegal()):
        tables = places(deal.order.trump)
        if deal.trick is None:
            hands = [tables.row(hand) for hand in deal.hands]
            known = KnownDeal(tables, list(hands), deal.contract.declarer, deal.turn, 0)
        assert known is not None
        assert (known.turn, known.captured, known.to_play == 0) == (deal.turn, deal.points, deal.to_follow is None)
        assert known.hands == [tables.row(hand) for hand in deal.hands]
        for event in step.events:
            if isinstance(event, CardsLed):
                known.lead(tables.row(event.cards), thrown=isinstance(event.lead.shape, Throw))
            elif isinstance(event, CardsFollowed):
                known.follow(tables.row(event.cards))
            elif isinstance(event, DealSettled) and not known.thrown:
                compared_ends += 1
                assert known.grade(tables.points(tables.row(deal.buried))) == event.settlement.grade
    assert compared_ends > 2


@pytest.mark.parametrize(
    ("led", "answer", "beats"),
    [
        pytest.param("s8 s8 s9 s9", "s10 s10 sJ sJ", True, id="a higher tractor"),
        pytest.param("s8 s8 s9 s9", "s10 s10 sQ sQ", False, id="two pairs apart"),
        pytest.param("s8 s8 s9 s9", "h5 h5 h6 h6", True, id="a ruff by a tractor"),
        pytest.param("s8 s8 s9 s9", "h5 h5 hA hA", False, id="no ruff by pairs apart"),
        pytest.param("s9 s9", "s10 sJ", False, id="no pair"),
        pytest.param("s9", "d10", False, id="another side suit"),
        pytest.param("h9", "h9", False, id="an equal card"),
        pytest.param("d7", "s7", False, id="an equal level"),
    ],
)
def test_what_beats_a_lead(led: str, answer: str, beats: bool) -> None:
    tables = places(SuitTrump(Suit.HEARTS))
    first, second = (tables.row(cards(text)) for text in (led, answer))
    if first == second:
        second = Row(first << 1)
    deal = KnownDeal(tables, [first, second, 0], 2, 0, 0)
    deal.lead(first)
    deal.follow(second)
    assert deal.ahead == beats


def test_a_throw_stands_or_fails_as_the_rules_say() -> None:
    failed = stood = 0
    for seed in range(3):
        for step, deal in plays(RoomOptions(), RandomLegal(), seed):
            for event in step.events:
                if not isinstance(event, CardsLed):
                    continue
                thrown = event.cards if event.attempted is None else event.attempted
                if component(deal.order, Group.TRUMPS, thrown) is not None or thrown & ~deal.order.cards[Group.TRUMPS]:
                    continue
                tables = places(deal.order.trump)
                known = KnownDeal(tables, [int(tables.row(hand)) for hand in deal.hands], 0, event.seat, 0)
                assert stands(known, components(deal.order, thrown)) == (event.attempted is None)
                if event.attempted is None:
                    stood += 1
                else:
                    failed += 1
                    assert led_if_it_fails(tables, thrown) == tables.row(event.cards)
    assert min(failed, stood) > 3


def test_a_throw_that_may_fail_is_considered_where_few_cards_beat_it() -> None:
    found = 0
    for seed in range(3):
        for step, _ in plays(RoomOptions(), Sensible(), seed):
            seen = outlook(view(step.before, step.seat))
            throw = likely_throw(seen) if seen.trick is None else None
            if throw is not None:
                found += 1
                assert throw != sure_throw(seen)
                assert throw in {each.cards for each in considered(seen.view, worlds_each(2)(), Random(1))}
    assert found > 3


@in_every_room
def test_a_playout_ends_with_empty_hands(room: RoomOptions) -> None:
    for _, deal in islice(plays(room, RandomLegal()), 0, None, 5):
        if deal.to_follow is None:
            tables = places(deal.order.trump)
            hands = [tables.row(hand) for hand in deal.hands]
            known = KnownDeal(tables, list(hands), deal.contract.declarer, deal.turn, deal.points)
            grade = play_out(known, tables.points(tables.row(deal.buried)))
            assert not any(known.hands)
            assert grade % 5 == 0
            assert grade >= deal.points


@in_every_room
@pytest.mark.parametrize("policy", [Sensible(), RandomLegal()], ids=["sensible", "random"])
def test_worlds_agree_with_what_the_seat_was_told(room: RoomOptions, policy: Sensible | RandomLegal) -> None:
    random, counted = Random(1), 0
    for step, deal in islice(plays(room, policy), 0, None, 3):
        seen = view(step.before, step.seat)
        worlds = Worlds(seen)
        tables, world = worlds.places, worlds.draw(random)
        others = [hand for seat, hand in enumerate(world.hands) if seat != step.seat]
        assert world.hands[step.seat] == tables.row(seen.hand.cards)
        assert [hand.bit_count() for hand in world.hands] == [hand.bit_count() for hand in deal.hands]
        assert sum(others).bit_count() == sum(hand.bit_count() for hand in others), "no card is in two hands"
        assert not sum(others) & ~tables.row(unseen(seen))
        for seat, held in seen.trump_counts.counts:
            counted += 1
            assert (world.hands[seat] & tables.members[0]).bit_count() == held.trumps
    assert counted or not room.review or isinstance(room.game, FourPlayer)


def test_worlds_leave_voids_empty() -> None:
    """Where several seats are void of several suits, the room left may not allow it; nearly always it does."""
    random, kept, broken = Random(1), 0, 0
    for seed in range(4):
        for step, _ in plays(RoomOptions(), Sensible(), seed):
            seen = view(step.before, step.seat)
            worlds = Worlds(seen)
            world = worlds.draw(random)
            for seat in step.before.chairs.seats():
                for group in GROUPS:
                    if seat != step.seat and is_void(seen, seat, group):
                        is_empty = not world.hands[seat] & worlds.places.members[group]
                        kept, broken = kept + is_empty, broken + (not is_empty)
    assert kept > 100
    assert broken <= kept // 100


def test_stakes_are_what_settlements_pay() -> None:
    """Compared are deals in which nobody but the declarer has awards."""
    seen = 0
    for room in ROOMS[::2]:
        for seed in range(4):
            for step in steps(room, Sensible(), seed):
                for event in step.events:
                    if isinstance(event, DealSettled):
                        seen += _paid(event, step)
    assert seen > 40


def _paid(event: DealSettled, step: Step) -> bool:
    """Whether the settlement could be compared. It fails if the stakes say something else."""
    settled, contract = event.settlement, event.settlement.contract
    assert contract is not None
    assert isinstance(step.before, Running)
    totals = settled.seats.map(lambda seat: seat.awards.total)
    if any(total for seat, total in totals.items() if seat != contract.declarer):
        return False
    rules, awards = step.before.deal.dealt.rules, totals[contract.declarer]
    if isinstance(settled.outcome, Surrendered):
        assert surrendered(rules, contract.row, awards) == settled.scores[contract.declarer]
        return True
    for seat, score in settled.scores.items():
        declares = seat == contract.declarer
        stakes = stakes_of(rules, contract.row, declares=declares, awards=awards, spread=0)
        assert chips(stakes, settled.grade) == score
    return True


def test_a_wide_spread_makes_stakes_smooth() -> None:
    rules = rules_of(view(next(steps(RoomOptions(), Sensible())).before, Seat(0)))
    sharp, smooth = (stakes_of(rules, rules.rows[0], declares=True, awards=0, spread=spread) for spread in (0, 20))
    rises = [max(abs(one - other) for one, other in pairwise(stakes)) for stakes in (sharp, smooth)]
    assert rises[0] == 8, "at 70 a declarer who wins gets 4 chips, and one who loses pays 4"
    assert rises[1] < 2


@pytest.mark.parametrize(("worlds", "best"), [(1, 2), (64, 2)])
def test_the_best_choice_is_found_and_the_worse_are_given_up(worlds: int, best: int) -> None:
    worth, asked = [0.0, 1.0, 5.0, -3.0, 2.0], list[list[int]]()

    def play_out_all(choices: list[int]) -> list[float]:
        asked.append(choices)
        return [worth[choice] + (-1) ** len(asked) for choice in choices]

    found = compared([0.0] * 5, play_out_all, worlds_each(worlds)())
    assert found[0].choice == best
    assert len(asked) == worlds == found[0].worlds
    assert sorted(estimate.choice for estimate in found) == list(range(5))
    if worlds > 1:
        assert len(asked[-1]) == 2
        assert found[-1].choice == 3
        assert found[-1].worlds == 4


def test_a_prior_decides_between_choices_that_gain_the_same() -> None:
    assert compared([0.0, 0.5], lambda choices: [1.0 for _ in choices], worlds_each(3)())[0].choice == 1


def test_the_same_view_and_seed_make_the_same_command() -> None:
    strong = Strong(worlds_each(3), CAREFUL)
    for step in islice(steps(RoomOptions(), Sensible()), 0, None, 4):
        whole = strong.act(view(step.before, step.seat), Random(7))
        assert whole == strong.act(Glance(step.before, step.seat), Random(7))


def test_a_signal_changes_what_a_strong_player_expects() -> None:
    """Of two seats that follow one after the other, the first is told whether the second can beat the trick."""
    changed = 0
    for step, deal in plays(RoomOptions(), Sensible(), 2):
        partner = Seat((step.seat + 1) % 3)
        if deal.to_follow is None or deal.contract.declarer in (step.seat, partner):
            continue
        found = [
            considered(view(step.before, step.seat), worlds_each(12)(), Random(1), (Signalled(partner, kind, ()),))
            for kind in (SignalKind.CAN_BEAT, SignalKind.NO_POINTS)
        ]
        # Chips come from the worlds alone, so they differ only if the worlds do.
        chips_of = [{(each.cards, each.worlds): each.chips for each in one} for one in found]
        changed += any(chips_of[0][each] != chips_of[1][each] for each in chips_of[0].keys() & chips_of[1].keys())
    assert changed > 5


def test_what_is_considered_is_legal_and_the_best_comes_first() -> None:
    for step, _ in islice(plays(RoomOptions(), Sensible()), 0, None, 6):
        found = considered(view(step.before, step.seat), worlds_each(6)(), Random(1))
        assert len({each.cards for each in found}) == len(found)
        assert all(not each.cards & ~view(step.before, step.seat).hand.cards for each in found)
        assert [each.worlds for each in found] == sorted((each.worlds for each in found), reverse=True)
