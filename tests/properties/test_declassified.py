"""What the rules tell of hidden cards, thing by thing: exactly that, to those seats, at that moment, and nothing else."""

from collections.abc import Iterator
from dataclasses import fields, replace

from erqiwang_core.bidding import DeclarerFound
from erqiwang_core.burying import CardsBuried
from erqiwang_core.disclosure import Disclosure, Statement, TrumpCount, TrumpHolding
from erqiwang_core.inference import Proven
from erqiwang_core.kernel.hand import EMPTY, POINT_CARDS, cards_of, count, count_pairs, ids, points, shared, without
from erqiwang_core.kernel.shapes import pairs_in
from erqiwang_core.kernel.trick import Trick
from erqiwang_core.kernel.trump import Group, Order
from erqiwang_core.match import DealStarted, Event, Match, Running, answer
from erqiwang_core.naming import TrumpNamed
from erqiwang_core.notices import BuriedBy, Cause, Led, cause, told_again
from erqiwang_core.options import RoomOptions
from erqiwang_core.parts import Inference, PublicView, TrumpCounts, TrumpVoid, View
from erqiwang_core.playing import CardsFollowed, CardsLed, Play, Playing, ShowTrumps, Signal, Signalled, TrumpsShown
from erqiwang_core.refusals import DeclarerMayNotSignal, NobodyIsVoid, NotInThisRoom, Phase, Refusal, WrongPhase
from erqiwang_core.units import CardId, CardSet, Seat
from erqiwang_core.view import view
from erqiwang_core.viewer import PUBLIC, Viewer
from hypothesis import given

from tests.deals.plans import Plan, examples, plans, tables
from tests.deals.walk import Change, Sent, positions, steps
from tests.properties.declassified import Kind, Told, declassified, kinds_told, shows_kitty, trumps_of


def views(match: Match) -> list[View]:
    """What each seat sees."""
    return [view(match, seat) for seat in match.chairs.seats()]


def viewers(match: Match) -> tuple[Viewer, ...]:
    return (*match.chairs.seats(), PUBLIC)


def changes(plan: Plan) -> Iterator[Change]:
    for step in steps(plan):
        yield from step.changes


def declarer_of(seen: View) -> Seat | None:
    return None if seen.contract.agreed is None else seen.contract.agreed.declarer


@examples(0.3)
@given(plan=plans())
def test_the_kitty_is_shown_to_all_at_the_bids_that_say_so_and_else_seen_by_the_declarer_alone(plan: Plan) -> None:
    for change in changes(plan):
        event = change.event
        if isinstance(event, DeclarerFound):
            assert isinstance(change.before, Running)
            shown = change.before.deal.dealt.kitty if shows_kitty(plan.options.game, event.bid) else None
            assert [cause(change.before, event, seat) for seat in change.before.chairs.seats()] == [
                DeclarerFound(event.declarer, event.bid, shown)
            ] * len(change.before.chairs)
        for seen in views(change.after):
            taken = seen.progress.phase in (Phase.NAMING, Phase.BURYING) and declarer_of(seen) == seen.seat
            assert isinstance(change.after, Running) or not taken
            assert seen.kitty.cards == (kitty(change.after) if taken else EMPTY)


@examples(0.4)
@given(plan=plans())
def test_whoever_comes_back_is_told_what_the_others_were_as_far_as_it_may_look(plan: Plan) -> None:
    events: list[Event] = []
    told: dict[Viewer, list[Cause]] = {}
    for change in changes(plan):
        everybody = viewers(change.before)
        if isinstance(change.event, DealStarted):
            events, told = [], {viewer: [] for viewer in everybody}
        if not told:
            continue
        events.append(change.event)
        leads = [place for place, event in enumerate(events) if isinstance(event, CardsLed)]
        first = leads[-1] if leads and not plan.options.review else 0
        for viewer in everybody:
            if isinstance(change.event, TrumpNamed):
                told[viewer] = [replace(c, shown=None) if isinstance(c, DeclarerFound) else c for c in told[viewer]]
            told[viewer].append(cause(change.before, change.event, viewer))
            assert list(told_again(change.after, events, viewer)) == told[viewer][first:]


@examples(0.4)
@given(plan=plans())
def test_what_is_told_as_play_begins_is_in_the_cause_of_burying_in_every_room(plan: Plan) -> None:
    for change in changes(plan):
        if isinstance(change.event, CardsBuried):
            for seen in views(change.after):
                said = cause(change.before, change.event, seen.seat)
                assert said == BuriedBy(
                    declarer_of(seen) or Seat(0), seen.trump_void.announced, seen.trump_void.statements
                )


def kitty(match: Match) -> CardSet:
    assert isinstance(match, Running), "a kitty belongs to a deal"
    return match.deal.dealt.kitty


@examples(0.3)
@given(plan=plans())
def test_the_buried_cards_are_the_declarers_alone_until_the_settlement(plan: Plan) -> None:
    for match in positions(plan):
        for seen in views(match):
            deal = match.deal if isinstance(match, Running) else None
            own = isinstance(deal, Playing) and declarer_of(seen) == seen.seat
            assert seen.buried.cards == (deal.buried if isinstance(deal, Playing) and own else EMPTY)


@examples(0.3)
@given(plan=plans())
def test_a_throw_gets_its_verdict_and_what_a_failed_one_held_is_told_to_the_thrower_alone(plan: Plan) -> None:
    walk = list(steps(plan))
    for step, told in zip(walk, declassified(plan.options, walk, Seat(0)), strict=True):
        event = step.changes[0].event
        if not (isinstance(event, CardsLed) and isinstance(step.move, Sent) and isinstance(step.move.command, Play)):
            continue
        thrown = cards_of(CardId(card) for card in step.move.command.cards)
        failed = told.verdict is not None and not told.verdict.stands
        led = (
            cards_of([told.verdict.forced]) if told.verdict is not None and told.verdict.forced is not None else thrown
        )
        assert event.cards == led
        for viewer in viewers(step.before):
            said = cause(step.before, event, viewer)
            assert isinstance(said, Led)
            assert said.failed_throw == failed
            assert said.attempted == (thrown if failed and viewer == event.seat else None)
            table = view(step.after, viewer).table.trick
            assert table is not None
            assert table.cards() == led
            assert table.failed_throw == failed
        held = view(step.before, event.seat).hand.cards
        assert view(step.after, event.seat).hand.cards == without(held, led)


def expected_counts(told: Told) -> TrumpCounts:
    return TrumpCounts(tuple((counts.seat, TrumpCount(counts.trumps, counts.pairs)) for counts in told.counts))


@given(plan=plans())
def test_void_seats_counts_and_statements_are_told_where_the_rules_say_so(plan: Plan) -> None:
    walk = list(steps(plan))
    for seat in walk[0].before.chairs.seats():
        statements: tuple[Statement, ...] = ()
        for step, told in zip(walk, declassified(plan.options, walk, seat), strict=True):
            seen = view(step.after, seat)
            statements += tuple(Statement(*stated) for stated in told.statements)
            if seen.progress.phase is Phase.PLAYING:
                assert sorted(seen.trump_void.announced) == sorted(told.void)
                assert seen.trump_void.statements == statements
                assert seen.trump_counts == expected_counts(told)
            else:
                assert seen.trump_void == TrumpVoid((), ())
                assert seen.trump_counts == TrumpCounts(())


@given(plan=plans(tables()["three, review"]) | plans())
def test_the_declarers_disclosure_is_made_once_to_the_defenders_and_stays_as_it_was(plan: Plan) -> None:
    walk = list(steps(plan))
    for seat in walk[0].before.chairs.seats():
        numbers: tuple[int | None, ...] = ()
        for step, told in zip(walk, declassified(plan.options, walk, seat), strict=True):
            seen = view(step.after, seat)
            numbers = told.disclosure or numbers
            in_play = seen.progress.phase is Phase.PLAYING
            assert seen.disclosed.disclosure == (as_disclosure(numbers) if in_play else None)


def as_disclosure(numbers: tuple[int | None, ...]) -> Disclosure | None:
    if not any(number is not None for number in numbers):
        return None
    trumps, pairs, tractors, jokers, sevens, twos = numbers
    if trumps is None or pairs is None or tractors is None:
        return Disclosure(None, jokers, sevens, twos)
    return Disclosure(TrumpHolding(trumps, pairs, tractors), jokers, sevens, twos)


@examples(0.4)
@given(plan=plans())
def test_captured_point_cards_are_shown_to_defenders_only(plan: Plan) -> None:
    for match in positions(plan):
        for seen in views(match):
            if not (isinstance(match, Running) and isinstance(match.deal, Playing)):
                assert seen.captured_cards.cards == EMPTY
                continue
            declarer = match.deal.contract.declarer
            taken = cards_of(
                card for trick in match.deal.finished if trick.ahead != declarer for card in ids(trick.cards())
            )
            assert seen.captured_cards.cards == (EMPTY if seen.seat == declarer else shared(taken, POINT_CARDS))
            assert seen.captured.points == points(taken)


@examples(0.4)
@given(plan=plans())
def test_past_tricks_are_shown_in_review_rooms_only_and_the_table_everywhere(plan: Plan) -> None:
    tricks: tuple[Trick, ...] = ()
    for step in steps(plan):
        for change in step.changes:
            if isinstance(change.event, CardsFollowed) and change.event.taken is not None:
                last = view(change.after, Seat(0)).table.trick
                assert last is not None
                tricks = (*tricks, last)
            for seen in views(change.after):
                assert seen.history.tricks == (tricks if plan.options.review else ())
                if isinstance(change.event, CardsLed | CardsFollowed):
                    assert seen.table.trick is not None
                    assert seen.table.trick.plays[-1].cards == change.event.cards


@examples(0.4)
@given(plan=plans())
def test_the_inference_is_what_the_plays_prove(plan: Plan) -> None:
    for match in positions(plan):
        deal = match.deal if isinstance(match, Running) else None
        for seen in views(match):
            if isinstance(deal, Playing) and plan.options.review:
                under_way = [seen.table.trick] if seen.table.trick is not None and deal.to_follow is not None else []
                assert seen.inference.proven is not None
                for seat, proven in seen.inference.proven.items():
                    assert proven == proven_by(deal.order, [*seen.history.tricks, *under_way], seat)
            else:
                assert seen.inference == Inference(None)


def proven_by(tables: Order, tricks: list[Trick], seat: Seat) -> Proven:
    """What the tricks that all have seen prove of a seat."""
    void: set[Group] = set()
    no_pair: set[Group] = set()
    for trick in tricks:
        for played in trick.plays[1:]:
            shown = shared(played.cards, tables.cards[trick.lead.group])
            if played.seat == seat and count(shown) < trick.lead.count:
                void.add(trick.lead.group)
            if played.seat == seat and (
                count(shown) < trick.lead.count or count_pairs(shown) < pairs_in(trick.lead.shape)
            ):
                no_pair.add(trick.lead.group)
    return Proven(tuple(sorted(void)), tuple(sorted(no_pair)))


@examples(0.3)
@given(plan=plans())
def test_trumps_are_shown_on_request_once_a_seat_is_void_in_a_three_player_review_room(plan: Plan) -> None:
    for match in positions(plan):
        for seen in views(match):
            assert answer(match, seen.seat, ShowTrumps()) == expected_showing(plan.options, match, seen)


def expected_showing(options: RoomOptions, match: Match, seen: View) -> TrumpsShown | Refusal:
    if not (isinstance(match, Running) and isinstance(match.deal, Playing)):
        return WrongPhase(seen.progress.phase)
    if not (options.review and Kind.COUNTS in kinds_told(options.game)):
        return NotInThisRoom()
    if not seen.trump_void.announced:
        return NobodyIsVoid()
    deal = match.deal
    trumps = {holder: cards_of(trumps_of(deal.order, ids(cards))) for holder, cards in deal.hands.items()}
    return TrumpsShown(seen.seat, tuple((holder, held) for holder, held in trumps.items() if holder != seen.seat))


@examples(0.3)
@given(plan=plans())
def test_a_signal_goes_to_the_other_defenders(plan: Plan) -> None:
    for match in positions(plan):
        for seen in views(match):
            answered = answer(match, seen.seat, Signal(2))
            declarer = declarer_of(seen)
            if seen.progress.phase is not Phase.PLAYING:
                assert answered == WrongPhase(seen.progress.phase)
            elif seen.seat == declarer:
                assert answered == DeclarerMayNotSignal()
            else:
                assert isinstance(answered, Signalled)
                assert {*answered.to} == {*match.chairs.seats()} - {seen.seat, declarer}


@examples(0.3)
@given(plan=plans())
def test_the_deck_is_opened_by_the_settlement_and_not_before(plan: Plan) -> None:
    for match in positions(plan):
        for seen in views(match):
            if seen.progress.phase is Phase.SETTLED:
                assert isinstance(match, Running)
                assert seen.settlement.result is not None
                assert seen.settlement.result.deck == match.deal.dealt.shuffled.order
                assert seen.settlement.result.salt == match.deal.dealt.shuffled.salt
            else:
                assert seen.settlement.result is None


@examples(0.3)
@given(plan=plans())
def test_every_seat_sees_its_own_hand_and_the_commitment(plan: Plan) -> None:
    for match in positions(plan):
        if isinstance(match, Running):
            assert {seen.progress.commitment for seen in views(match)} == {match.deal.dealt.shuffled.commitment}
            if isinstance(match.deal, Playing):
                assert [seen.hand.cards for seen in views(match)] == list(match.deal.hands)


@examples(0.4)
@given(plan=plans())
def test_the_public_is_told_what_every_seat_is_told_alike_and_nothing_else(plan: Plan) -> None:
    for change in changes(plan):
        public, seats = view(change.after, PUBLIC), views(change.after)
        for part in fields(PublicView):
            assert [getattr(seen, part.name) for seen in seats] == [getattr(public, part.name)] * len(seats)
        told, told_seats = (
            cause(change.before, change.event, PUBLIC),
            [cause(change.before, change.event, seat) for seat in change.before.chairs.seats()],
        )
        if isinstance(told, Led):
            assert told.attempted is None
            told_seats = [replace(each, attempted=None) for each in told_seats if isinstance(each, Led)]
        assert told_seats == [told] * len(seats)


def test_every_part_that_seats_may_see_otherwise_is_none_of_the_public() -> None:
    """Named one by one, so that a new part is a choice that somebody makes."""
    own = {"hand", "kitty", "buried", "captured_cards", "trump_counts", "disclosed", "advice"}
    assert {part.name for part in fields(View)} - {part.name for part in fields(PublicView)} == {"seat", *own}
