"""The view: all that a viewer may see of a match, part by part (rules §12).

Each part is built up from what the viewer may know. No part is made by leaving something out of a complete view, so
nothing hidden gets in by being forgotten.
"""

from typing import Final, overload

from erqiwang_core import bidding, burying, deal as deals, naming, playing
from erqiwang_core.bidding import Bidding, Contested, Opening
from erqiwang_core.burying import Burying
from erqiwang_core.contract import Contract
from erqiwang_core.deal import Deal
from erqiwang_core.disclosure import trump_count
from erqiwang_core.kernel.following import may, must
from erqiwang_core.kernel.hand import EMPTY
from erqiwang_core.kernel.trump import Trump
from erqiwang_core.match import Gathering, Match, Over, Running, finished, on_table, phase, scores, totals, waits_for
from erqiwang_core.naming import Naming
from erqiwang_core.options import Countdowns
from erqiwang_core.parts import (
    AccountPart,
    Advice,
    Agreed,
    Auction,
    Buried,
    BuryAdvice,
    CallAdvice,
    Captured,
    CapturedCards,
    Chairs,
    ContractPart,
    Disclosed,
    FollowAdvice,
    Hand,
    History,
    Inference,
    Kitty,
    LeadAdvice,
    NameAdvice,
    Progress,
    PublicView,
    ReadyAdvice,
    Result,
    SettlementPart,
    Table,
    TrumpCounts,
    TrumpVoid,
    Turn,
    View,
)
from erqiwang_core.playing import Playing
from erqiwang_core.scoring import multiplier, outcome
from erqiwang_core.settlement import Settled
from erqiwang_core.units import Chips, Points, Seat
from erqiwang_core.viewer import Public, Viewer


@overload
def view(match: Match, viewer: Seat) -> View: ...
@overload
def view(match: Match, viewer: Public) -> PublicView: ...
def view(match: Match, viewer: Viewer) -> View | PublicView:
    """All that `viewer` may see of a match: a `View` for a seat, a `PublicView` for the public (rules §12)."""
    return _of_public(match) if isinstance(viewer, Public) else _of_seat(match, viewer)


def _of_public(match: Match) -> PublicView:
    return PublicView(
        options=match.options,
        chairs=chairs(match),
        progress=progress(match),
        turn=turn(match),
        auction=auction(match),
        contract=contract(match),
        table=table(match),
        captured=captured(match),
        history=history(match),
        inference=inference(match),
        trump_void=trump_void(match),
        settlement=settlement(match),
        account=account(match),
    )


def _of_seat(match: Match, seat: Seat) -> View:
    return View(
        seat=seat,
        options=match.options,
        chairs=chairs(match),
        progress=progress(match),
        turn=turn(match),
        hand=hand(match, seat),
        auction=auction(match),
        contract=contract(match),
        kitty=kitty(match, seat),
        buried=buried(match, seat),
        table=table(match),
        captured=captured(match),
        captured_cards=captured_cards(match, seat),
        history=history(match),
        inference=inference(match),
        trump_void=trump_void(match),
        trump_counts=trump_counts(match, seat),
        disclosed=disclosed(match, seat),
        advice=advice(match, seat),
        settlement=settlement(match),
        account=account(match),
    )


def current_deal(match: Match) -> Deal | None:
    """The deal in progress, or the last one settled; None before the first deal."""
    match match:
        case Gathering():
            return None
        case Running(deal=deal):
            return deal
        case Over(last=last):
            return last


def chairs(match: Match) -> Chairs:
    """The player on each seat."""
    return Chairs(match.chairs.map(lambda chair: chair.player))


def progress(match: Match) -> Progress:
    """The phase, the number of the deal, and the scores so far."""
    deal = current_deal(match)
    return Progress(
        phase=phase(match),
        deal=deal.dealt.number if deal else 0,
        deals=match.options.deals,
        totals=totals(len(match.chairs), scores(match)),
        first_bidder=deal.dealt.first_bidder if deal else None,
        commitment=deal.dealt.shuffled.commitment if deal else b"",
    )


_NOBODY: Final = Turn(None, 0, 0)


def turn(match: Match) -> Turn:
    """The seat that must act, with its countdown in seconds."""
    if not isinstance(match, Running):
        return _NOBODY
    seat = deals.turn(match.deal)
    if seat is None:
        return _NOBODY
    return Turn(seat, _countdown(match.options.countdowns, match.deal), deals.turns(match.deal) + 1)


def _countdown(countdowns: Countdowns, deal: Deal) -> int:
    match deal:
        case Bidding():
            return countdowns.bid
        case Naming():
            return countdowns.trump
        case Burying():
            return countdowns.bury
        case Playing():
            return countdowns.play
        case Settled():
            return 0


def hand(match: Match, seat: Seat) -> Hand:
    """The cards in the seat's hand; empty before the first deal and once a deal is settled."""
    if not isinstance(match, Running):
        return Hand(EMPTY)
    match match.deal:
        case Bidding(dealt=dealt):
            return Hand(dealt.hands[seat])
        case Naming(hands=hands) | Burying(hands=hands) | Playing(hands=hands):
            return Hand(hands[seat])
        case Settled():
            return Hand(EMPTY)


_NO_AUCTION: Final = Auction((), None, None, Chips(0))


def auction(match: Match) -> Auction:
    """The calls so far, during the bidding."""
    if not isinstance(match, Running) or not isinstance(match.deal, Bidding):
        return _NO_AUCTION
    deal = match.deal
    match deal.auction:
        case Opening():
            return _NO_AUCTION
        case Contested(leader, standing, _):
            return Auction(deal.calls, leader, standing, deal.dealt.rules.row(standing).base)


_NO_CONTRACT: Final = ContractPart(None)


def contract(match: Match) -> ContractPart:
    """Declarer, bid and trump of the deal in progress, once there is a declarer."""
    if not isinstance(match, Running):
        return _NO_CONTRACT
    match match.deal:
        case Bidding() | Settled():
            return _NO_CONTRACT
        case Naming(contract=agreed):
            return _agreed(agreed, None, may_surrender=agreed.row.surrender is not None)
        case Burying(contract=agreed, order=tables) | Playing(contract=agreed, order=tables):
            return _agreed(agreed, tables.trump, may_surrender=False)


def _agreed(agreed: Contract, trump: Trump | None, *, may_surrender: bool) -> ContractPart:
    return ContractPart(Agreed(agreed.declarer, agreed.row.bid, agreed.row.base, may_surrender, trump))


_NO_KITTY: Final = Kitty(EMPTY)


def kitty(match: Match, seat: Seat) -> Kitty:
    """The kitty, for the declarer while it names trump and buries."""
    if not isinstance(match, Running):
        return _NO_KITTY
    match match.deal:
        case Naming(dealt=dealt, contract=agreed) | Burying(dealt=dealt, contract=agreed):
            return Kitty(dealt.kitty) if agreed.declarer == seat else _NO_KITTY
        case Bidding() | Playing() | Settled():
            return _NO_KITTY


_NOT_BURIED: Final = Buried(EMPTY)


def buried(match: Match, seat: Seat) -> Buried:
    """The buried cards, for the declarer during play."""
    deal = _in_play(match)
    if deal is None or deal.contract.declarer != seat:
        return _NOT_BURIED
    return Buried(deal.buried)


def _in_play(match: Match) -> Playing | None:
    if isinstance(match, Running) and isinstance(match.deal, Playing):
        return match.deal
    return None


_BARE: Final = Table(0, None)


def table(match: Match) -> Table:
    """The trick on the table, and its number."""
    deal = current_deal(match)
    trick = on_table(deal) if deal else None
    if deal is None or trick is None:
        return _BARE
    under_way = len(trick.plays) < len(match.chairs)
    return Table(len(finished(deal)) + under_way, trick)


_NOT_CAPTURED: Final = Captured(Points(0), 0)


def captured(match: Match) -> Captured:
    """The points that the defenders have captured in the deal in progress, and the running multiplier."""
    if not isinstance(match, Running):
        return _NOT_CAPTURED
    match match.deal:
        case Bidding() | Settled():
            return _NOT_CAPTURED
        case Naming(contract=agreed) | Burying(contract=agreed):
            return Captured(Points(0), multiplier(outcome(agreed.row, Points(0))))
        case Playing(contract=agreed, points=points):
            return Captured(points, multiplier(outcome(agreed.row, points)))


_NO_CAPTURED_CARDS: Final = CapturedCards(EMPTY)


def captured_cards(match: Match, seat: Seat) -> CapturedCards:
    """The captured point cards, for the defenders during play."""
    deal = _in_play(match)
    if deal is None or deal.contract.declarer == seat:
        return _NO_CAPTURED_CARDS
    return CapturedCards(deal.captured)


_NO_HISTORY: Final = History(0, ())


def history(match: Match) -> History:
    """All finished tricks of the deal, in a review room."""
    deal = current_deal(match)
    if deal is None or not match.options.review:
        return _NO_HISTORY
    return History(0, finished(deal))


_NO_INFERENCE: Final = Inference(None)


def inference(match: Match) -> Inference:
    """What the plays have proven about each seat, in a review room during play."""
    deal = _in_play(match)
    if deal is None or not deal.rules.review:
        return _NO_INFERENCE
    return Inference(deal.proven)


_NOT_VOID: Final = TrumpVoid((), ())


def trump_void(match: Match) -> TrumpVoid:
    """The seats announced void of trump, and the statements that followed."""
    deal = _in_play(match)
    if deal is None or not deal.void:
        return _NOT_VOID
    return TrumpVoid(deal.void, deal.statements)


_NOT_COUNTED: Final = TrumpCounts(())


def trump_counts(match: Match, seat: Seat) -> TrumpCounts:
    """The number of trumps and trump pairs of each other seat, if the rules open it now."""
    deal = _in_play(match)
    if deal is None or not playing.counts_open(deal):
        return _NOT_COUNTED
    others = tuple((other, held) for other, held in deal.hands.items() if other != seat)
    return TrumpCounts(tuple((other, trump_count(deal.order, held)) for other, held in others))


_NOT_DISCLOSED: Final = Disclosed(None)


def disclosed(match: Match, seat: Seat) -> Disclosed:
    """The declarer's disclosure, for the defenders during play."""
    deal = _in_play(match)
    if deal is None or deal.contract.declarer == seat:
        return _NOT_DISCLOSED
    return Disclosed(deal.disclosure)


_NO_ADVICE: Final = Advice(None)
_READY_ADVICE: Final = Advice(ReadyAdvice())


def advice(match: Match, seat: Seat) -> Advice:
    """What the seat may do now, if it is its turn or the next deal waits for it."""
    if not isinstance(match, Running):
        return _NO_ADVICE
    if isinstance(match.deal, Settled):
        return _READY_ADVICE if waits_for(match, seat) else _NO_ADVICE
    if deals.turn(match.deal) != seat:
        return _NO_ADVICE
    match match.deal:
        case Bidding() as deal:
            may_pass = isinstance(deal.auction, Contested)
            return Advice(CallAdvice(bidding.legal_bids(deal), may_pass, bidding.suggested_call(deal)))
        case Naming() as deal:
            held = deal.hands[seat]
            pairs = tuple((trump, naming.pairs_named(trump, held)) for trump in deal.dealt.rules.trumps)
            may_surrender = deal.contract.row.surrender is not None
            return Advice(NameAdvice(pairs, may_surrender, naming.suggested_trump(deal)))
        case Burying() as deal:
            return Advice(BuryAdvice(deal.dealt.rules.kitty_size, burying.suggested_burial(deal)))
        case Playing() as deal:
            return Advice(_play_advice(deal, seat))


def _play_advice(deal: Playing, seat: Seat) -> LeadAdvice | FollowAdvice:
    lead, suggestion = deal.to_follow, playing.suggested_play(deal)
    if lead is None:
        return LeadAdvice(suggestion)
    held = deal.hands[seat]
    return FollowAdvice(lead.count, must(deal.order, lead, held), may(deal.order, lead, held), suggestion)


_NOT_SETTLED: Final = SettlementPart(None)


def settlement(match: Match) -> SettlementPart:
    """The settlement of the deal, with the order of its deck and the salt that open the commitment."""
    deal = current_deal(match)
    if not isinstance(deal, Settled):
        return _NOT_SETTLED
    shuffled = deal.dealt.shuffled
    return SettlementPart(Result(deal.settlement, deal.ready, shuffled.order, shuffled.salt))


_NO_ACCOUNT: Final = AccountPart(None)


def account(match: Match) -> AccountPart:
    """The settlement of the match, once it is over."""
    return AccountPart(match.account) if isinstance(match, Over) else _NO_ACCOUNT
