"""What a seat is told, as short text: a line for each part of its view that holds something."""

from typing import Final, TypeAlias

from erqiwang_core.bidding import Bid, DeclarerFound, Pass
from erqiwang_core.calls import BidMade, BidPassed, Called
from erqiwang_core.disclosure import Statement
from erqiwang_core.kernel.shapes import Pair, Shape, Single, Throw, Tractor
from erqiwang_core.kernel.trick import Trick
from erqiwang_core.kernel.trump import Group, Trump
from erqiwang_core.match import SeatLeft, SeatReady, SeatTaken
from erqiwang_core.naming import TrumpNamed
from erqiwang_core.notation import write, write_trump
from erqiwang_core.notices import BuriedBy, Cause, DealEnded, Dealt, Led, MatchOver
from erqiwang_core.parts import BuryAdvice, CallAdvice, Choice, FollowAdvice, LeadAdvice, NameAdvice, ReadyAdvice, View
from erqiwang_core.playing import CardsFollowed
from erqiwang_core.scoring import Disbanded, Made, NearShutout, Outcome, Shutout, Surrendered, Upgrade
from erqiwang_core.settlement import SeatScore
from erqiwang_core.units import Seat

Lines: TypeAlias = dict[str, str]
"""What is told, by the name of the part; an empty text where a part holds nothing."""


def lines(seen: View) -> Lines:
    """A seat's view as text."""
    trump = _trump(seen)
    return {
        "match": _progress(seen),
        "turn": _turn(seen),
        "hand": write(seen.hand.cards, trump),
        "bidding": _auction(seen),
        "contract": _contract(seen),
        "kitty": write(seen.kitty.cards, trump),
        "buried": write(seen.buried.cards, trump),
        "table": _table(seen, trump),
        "captured": _captured(seen, trump),
        "history": f"{len(seen.history.tricks)} tricks" if seen.history.tricks else "",
        "proven": _inference(seen),
        "void of trump": _trump_void(seen),
        "disclosed": _disclosed(seen),
        "may": _choice(seen.advice.choice, trump) if seen.advice.choice is not None else "",
        "settled": _settled(seen),
        "scores": _scores(seen, trump),
        "account": _account(seen),
    }


def _trump(seen: View) -> Trump | None:
    """The trump to sort by, also once the deal is settled."""
    if seen.settlement.result is not None:
        return seen.settlement.result.settlement.trump
    return None if seen.contract.agreed is None else seen.contract.agreed.trump


def _progress(seen: View) -> str:
    progress = seen.progress
    totals = " ".join(map(str, progress.totals))
    return f"{progress.phase.value}, deal {progress.deal} of {progress.deals}, totals {totals}"


def _turn(seen: View) -> str:
    return "" if seen.turn.seat is None else f"seat {seen.turn.seat}, {seen.turn.countdown} s"


def _auction(seen: View) -> str:
    auction = seen.auction
    if auction.leader is None:
        return ""
    return f"{', '.join(map(_call, auction.calls))}; {auction.leader} leads, base {auction.base}"


def _call(called: Called) -> str:
    match called:
        case BidMade(seat, bid):
            return f"{seat} {bid}"
        case BidPassed(seat):
            return f"{seat} passes"


def _contract(seen: View) -> str:
    agreed = seen.contract.agreed
    if agreed is None:
        return ""
    trump = f", trump {write_trump(agreed.trump)}" if agreed.trump is not None else ""
    surrender = ", surrender open" if agreed.may_surrender else ""
    return f"declarer {agreed.declarer} at {agreed.bid}, base {agreed.base}{trump}{surrender}"


def _table(seen: View, trump: Trump | None) -> str:
    trick = seen.table.trick
    if trick is None:
        return ""
    failed = "failed throw, " if trick.failed_throw else ""
    return f"{seen.table.number}: {failed}{_plays(trick, trump)}; {trick.ahead} ahead"


def _plays(trick: Trick, trump: Trump | None) -> str:
    return ", ".join(f"{played.seat} {write(played.cards, trump)}" for played in trick.plays)


def _captured(seen: View, trump: Trump | None) -> str:
    captured = seen.captured
    if not captured.multiplier:
        return ""
    shown = seen.captured_cards.cards
    cards = f": {write(shown, trump)}" if shown else ""
    return f"{captured.points}, multiplier {captured.multiplier}{cards}"


def _inference(seen: View) -> str:
    if seen.inference.proven is None:
        return ""
    found = [
        f"{seat} {what} {' '.join(map(_group, groups))}"
        for seat, proven in seen.inference.proven.items()
        for what, groups in (("void", proven.void), ("no pair", proven.no_pair))
        if groups
    ]
    return "; ".join(found)


_GROUPS: Final = {
    Group.TRUMPS: "trump",
    Group.DIAMONDS: "♦",
    Group.CLUBS: "♣",
    Group.HEARTS: "♥",
    Group.SPADES: "♠",
}


def _group(group: Group) -> str:
    return _GROUPS[group]


def _trump_void(seen: View) -> str:
    void = seen.trump_void
    counts = [f"{seat} holds {held.trumps} trumps, {held.pairs} pairs" for seat, held in seen.trump_counts.counts]
    announced = f"seats {' '.join(map(str, void.announced))}" if void.announced else ""
    return "; ".join(filter(None, [announced, *counts, *map(_statement, void.statements)]))


def _statement(stated: Statement) -> str:
    return f"{stated.seat} says {stated.trumps} trumps, {'a pair' if stated.has_pair else 'no pair'}"


def _disclosed(seen: View) -> str:
    told = seen.disclosed.disclosure
    if told is None:
        return ""
    holding = told.holding
    numbers = {"jokers": told.jokers, "7s": told.sevens, "2s": told.twos}
    if holding is not None:
        numbers |= {"trumps": holding.trumps, "pairs": holding.pairs, "tractors": holding.tractors}
    return ", ".join(f"{number} {what}" for what, number in numbers.items() if number is not None)


def _choice(choice: Choice, trump: Trump | None) -> str:
    match choice:
        case CallAdvice(bids, may_pass, suggestion):
            span = f"bid {bids[0]} to {bids[-1]}" if bids else "not bid"
            return f"{span}{' or pass' if may_pass else ''}; suggested: {_suggested_call(suggestion)}"
        case NameAdvice(trumps, may_surrender, suggested):
            named = " ".join(f"{write_trump(choice)} ({pairs} pairs)" for choice, pairs in trumps)
            surrender = " or surrender" if may_surrender else ""
            return f"name {named}{surrender}; suggested: {write_trump(suggested)}"
        case BuryAdvice(number, cards):
            return f"bury {number}; suggested: {write(cards, trump)}"
        case LeadAdvice(cards):
            return f"lead; suggested: {write(cards, trump)}"
        case FollowAdvice(number, must, may, cards):
            whole = f"any {number} of {write(may, trump)}"
            return f"follow with {whole}; must: {write(must, trump) or 'none'}; suggested: {write(cards, trump)}"
        case ReadyAdvice():
            return "say ready"


def _suggested_call(call: Bid | Pass) -> str:
    match call:
        case Bid(points):
            return str(points)
        case Pass():
            return "pass"


def _settled(seen: View) -> str:
    result = seen.settlement.result
    if result is None:
        return ""
    settlement = result.settlement
    capture = settlement.kitty_capture
    captured = f" + kitty {capture.points} x {capture.multiplier}" if capture is not None else ""
    ready = "".join(f", {seat} ready" for seat, is_ready in result.ready.items() if is_ready)
    grade = f"grade {settlement.trick_points}{captured} = {settlement.grade}"
    buried = f", buried {write(settlement.buried, settlement.trump)}" if settlement.buried else ""
    stake = f"X = {settlement.base} x {settlement.multiplier} = {settlement.stake}"
    return f"{_outcome(settlement.outcome)}, {grade}, {stake}{buried}{ready}"


def _outcome(outcome: Outcome) -> str:
    match outcome:
        case Shutout():
            return "shutout"
        case NearShutout():
            return "near shutout"
        case Made():
            return "made"
        case Upgrade(levels):
            return f"upgrade {levels}"
        case Surrendered():
            return "surrender"
        case Disbanded():
            return "disbanded"


def _scores(seen: View, trump: Trump | None) -> str:
    result = seen.settlement.result
    if result is None:
        return ""
    return "; ".join(f"{seat} {_score(score, trump)}" for seat, score in result.settlement.seats.items())


def _score(score: SeatScore, trump: Trump | None) -> str:
    awards = ", ".join(f"{award.kind.value} {award.number}" for award in score.awards.awards)
    shown = f" ({awards}: {write(score.awards.cards, trump)})" if awards else ""
    return f"{score.base_chips:+} {score.award_chips:+}{shown} = {score.score:+}"


def _account(seen: View) -> str:
    account = seen.account.account
    if account is None:
        return ""
    by_deal = " / ".join(" ".join(map(str, deal)) for deal in account.deals)
    return f"{'disbanded, ' if account.disbanding else ''}deals {by_deal}, totals {' '.join(map(str, account.totals))}"


def news(told: Cause, trump: Trump | None) -> str:
    """What a notice says beside the parts that it changed; nothing where the move says it all."""
    match told:
        case DeclarerFound(declarer, bid, shown):
            kitty = f", who takes the kitty, shown to all: {write(shown)}" if shown is not None else ""
            return f"seat {declarer} is declarer at {bid}{kitty}"
        case Led(_, _, lead, failed_throw, attempted, void, statements):
            failed = ["a failed throw"] if failed_throw else []
            held = [f"attempted {write(attempted, trump)}"] if attempted is not None else []
            shape = f"{_shape(lead.shape)} of {_group(lead.group)}"
            return "; ".join([shape, *failed, *held, *_announced(void), *map(_statement, statements)])
        case CardsFollowed(taken=taken, void=void, statements=statements):
            ended = []
            if taken is not None:
                ended = [f"trick to {taken.winner}, {taken.points} points {'captured' if taken.captured else 'gone'}"]
            return "; ".join([*ended, *_announced(void), *map(_statement, statements)])
        case BuriedBy(void=void, statements=statements):
            return "; ".join([*_announced(void), *map(_statement, statements)])
        case (
            SeatTaken()
            | SeatLeft()
            | Dealt()
            | BidMade()
            | BidPassed()
            | TrumpNamed()
            | DealEnded()
            | SeatReady()
            | MatchOver()
        ):
            return ""


def _announced(void: tuple[Seat, ...]) -> list[str]:
    return [f"{seat} is void of trump" for seat in void]


def _shape(shape: Shape) -> str:
    match shape:
        case Single():
            return "single"
        case Pair():
            return "pair"
        case Tractor(length=length):
            return f"tractor({length})"
        case Throw(parts):
            return f"throw of {', '.join(map(_shape, parts))}"
