"""Encodes events for the store. They hold all that was decided, and nothing that replaying them gives again."""

from collections.abc import Iterable

from erqiwang_core.awards import Award
from erqiwang_core.bidding import DeclarerFound
from erqiwang_core.burying import CardsBuried
from erqiwang_core.calls import BidMade, BidPassed, Called
from erqiwang_core.contract import Contract
from erqiwang_core.disclosure import Disclosure, Statement
from erqiwang_core.kernel.hand import ids
from erqiwang_core.kernel.shapes import Component, Pair, Shape, Single, Throw, Tractor
from erqiwang_core.match import DealStarted, Disbanding, MatchEnded, Outside, SeatLeft, SeatReady, SeatTaken
from erqiwang_core.naming import TrumpNamed, number
from erqiwang_core.options import Deck, FourPlayer, Game, Payer, RoomOptions, Start, ThreePlayer
from erqiwang_core.playing import CardsFollowed, CardsLed, TrickTaken
from erqiwang_core.scoring import KittyCapture, Upgrade
from erqiwang_core.settlement import DealSettled, SeatScore, Settlement
from erqiwang_core.units import CardSet

from erqiwang_grpc.events.model import RoomOpened, StoredEvent
from erqiwang_grpc.events.numbers import AWARD_KINDS, DISBAND_REASONS, outcome
from erqiwang_grpc.stored.v1 import event_pb2, room_pb2, settlement_pb2


def write(event: StoredEvent) -> bytes:
    """The bytes of an event as they are stored."""
    return message(event).SerializeToString(deterministic=True)


def message(event: StoredEvent) -> event_pb2.Event:
    """The stored message of an event."""
    match event:
        case CardsFollowed():
            return event_pb2.Event(cards_followed=_cards_followed(event))
        case CardsLed():
            return event_pb2.Event(cards_led=_cards_led(event))
        case BidMade(seat, points):
            return event_pb2.Event(bid_made=room_pb2.BidMade(seat=seat, points=points))
        case BidPassed(seat):
            return event_pb2.Event(bid_passed=room_pb2.BidPassed(seat=seat))
        case DeclarerFound(declarer, bid, shown):
            found = event_pb2.DeclarerFound(declarer=declarer, bid=bid, shown=_optional_cards(shown))
            return event_pb2.Event(declarer_found=found)
        case TrumpNamed(trump):
            return event_pb2.Event(trump_named=event_pb2.TrumpNamed(trump=number(trump)))
        case CardsBuried():
            return event_pb2.Event(cards_buried=_cards_buried(event))
        case DealSettled(number_, settlement):
            settled = settlement_pb2.DealSettled(number=number_, settlement=_settlement(settlement))
            return event_pb2.Event(deal_settled=settled)
        case SeatReady(seat):
            return event_pb2.Event(seat_ready=room_pb2.SeatReady(seat=seat))
        case DealStarted():
            return event_pb2.Event(deal_started=_deal_started(event))
        case SeatTaken(seat, player):
            return event_pb2.Event(seat_taken=room_pb2.SeatTaken(seat=seat, player=player))
        case SeatLeft(seat):
            return event_pb2.Event(seat_left=room_pb2.SeatLeft(seat=seat))
        case MatchEnded():
            return event_pb2.Event(match_ended=_match_ended(event))
        case RoomOpened():
            return event_pb2.Event(room_opened=opened_message(event))


def _cards(cards: CardSet) -> bytes:
    return bytes(ids(cards))


def _optional_cards(cards: CardSet | None) -> bytes | None:
    return None if cards is None else _cards(cards)


def opened_message(event: RoomOpened) -> room_pb2.RoomOpened:
    """The stored message of a room's opening."""
    return room_pb2.RoomOpened(
        platform=event.platform,
        owner=event.owner,
        options=_room_options(event.options),
        reference=event.reference,
        labels=[room_pb2.Label(key=label.key, value=label.value) for label in event.labels],
    )


def _room_options(options: RoomOptions) -> room_pb2.RoomOptions:
    game, length, payer, review, countdowns, start, hints = options.values()
    bid, trump, bury, play = countdowns.values()
    return room_pb2.RoomOptions(
        game=_game(game),
        deals=length.value,
        each_pays=payer is Payer.EACH,
        review=review,
        countdown_bid=bid,
        countdown_trump=trump,
        countdown_bury=bury,
        countdown_play=play,
        platform_starts=start is Start.PLATFORM,
        no_hints=not hints,
    )


def _game(game: Game) -> room_pb2.Game:
    match game:
        case ThreePlayer():
            joker_bonus, climb = game.values()
            return room_pb2.Game(three_player=room_pb2.ThreePlayer(joker_bonus=joker_bonus, climb=climb))
        case FourPlayer():
            (deck,) = game.values()
            return room_pb2.Game(four_player=room_pb2.FourPlayer(full_deck=deck is Deck.FULL))


def _deal_started(event: DealStarted) -> room_pb2.DealStarted:
    shuffled = event.shuffled
    return room_pb2.DealStarted(
        number=event.number,
        first_bidder=event.first_bidder,
        game=_game(event.game),
        review=event.review,
        rules_version=event.rules_version,
        order=bytes(shuffled.order),
        salt=shuffled.salt,
        commitment=shuffled.commitment,
    )


def _cards_buried(event: CardsBuried) -> event_pb2.CardsBuried:
    return event_pb2.CardsBuried(
        cards=_cards(event.cards),
        disclosure=None if event.disclosure is None else _disclosure(event.disclosure),
        void_seats=event.void,
        statements=_statements(event.statements),
    )


def _disclosure(told: Disclosure) -> event_pb2.Disclosure:
    held = told.holding
    holding = held and event_pb2.Disclosure.Holding(trumps=held.trumps, pairs=held.pairs, tractors=held.tractors)
    return event_pb2.Disclosure(holding=holding, jokers=told.jokers, sevens=told.sevens, twos=told.twos)


def _statements(statements: Iterable[Statement]) -> list[event_pb2.Statement]:
    return [event_pb2.Statement(seat=told.seat, trumps=told.trumps, has_pair=told.has_pair) for told in statements]


def _cards_led(event: CardsLed) -> event_pb2.CardsLed:
    return event_pb2.CardsLed(
        seat=event.seat,
        cards=_cards(event.cards),
        group=event.lead.group,
        components=_components(event.lead.shape),
        count=event.lead.count,
        attempted=_optional_cards(event.attempted),
        void_seats=event.void,
        statements=_statements(event.statements),
    )


def _components(shape: Shape) -> list[event_pb2.Component]:
    parts = shape.components if isinstance(shape, Throw) else (shape,)
    return [event_pb2.Component(pairs=_pairs(part), level=part.level) for part in parts]


def _pairs(part: Component) -> int:
    match part:
        case Single():
            return 0
        case Pair():
            return 1
        case Tractor(length):
            return length


def _cards_followed(event: CardsFollowed) -> event_pb2.CardsFollowed:
    return event_pb2.CardsFollowed(
        seat=event.seat,
        cards=_cards(event.cards),
        ahead=event.ahead,
        taken=None if event.taken is None else _taken(event.taken),
        void_seats=event.void,
        statements=_statements(event.statements),
    )


def _taken(taken: TrickTaken) -> event_pb2.TrickTaken:
    return event_pb2.TrickTaken(winner=taken.winner, points=taken.points, captured=taken.captured)


def _settlement(settled: Settlement) -> settlement_pb2.Settlement:
    return settlement_pb2.Settlement(
        outcome=outcome(settled.outcome),
        levels=settled.outcome.levels if isinstance(settled.outcome, Upgrade) else 0,
        contract=None if settled.contract is None else _contract(settled.contract),
        trump=0 if settled.trump is None else number(settled.trump),
        trick_points=settled.trick_points,
        kitty_capture=None if settled.kitty_capture is None else _kitty_capture(settled.kitty_capture),
        buried=_cards(settled.buried),
        base=settled.base,
        stake=settled.stake,
        seats=[_seat_score(seat) for seat in settled.seats],
    )


def _contract(contract: Contract) -> settlement_pb2.Contract:
    row = contract.row
    return settlement_pb2.Contract(
        declarer=contract.declarer,
        bid=row.bid,
        base=row.base,
        step=row.step,
        target=row.target,
        surrender=row.surrender,
        kitty_shown=row.kitty_shown,
        calls=[_call(called) for called in contract.calls],
    )


def _call(called: Called) -> settlement_pb2.Call:
    match called:
        case BidMade(seat, points):
            return settlement_pb2.Call(seat=seat, points=points)
        case BidPassed(seat):
            return settlement_pb2.Call(seat=seat)


def _kitty_capture(capture: KittyCapture) -> settlement_pb2.KittyCapture:
    return settlement_pb2.KittyCapture(points=capture.points, multiplier=capture.multiplier)


def _seat_score(seat: SeatScore) -> settlement_pb2.SeatScore:
    return settlement_pb2.SeatScore(
        awards=[_award(award) for award in seat.awards.awards],
        award_cards=_cards(seat.awards.cards),
        jokers=seat.awards.jokers,
        award_chips=seat.award_chips,
        base_chips=seat.base_chips,
    )


def _award(award: Award) -> settlement_pb2.Award:
    return settlement_pb2.Award(kind=AWARD_KINDS[award.kind], number=award.number)


def disbanding_message(asked: Disbanding) -> settlement_pb2.Disbanding:
    """The stored message of who disbanded a match, and why."""
    stored = settlement_pb2.Disbanding(reason=DISBAND_REASONS[asked.reason], text=asked.text)
    match asked.asker:
        case Outside.PLATFORM:
            stored.platform = True
        case Outside.HOUSE:
            stored.house = True
        case seat:
            stored.seat = seat
    return stored


def _match_ended(event: MatchEnded) -> settlement_pb2.MatchEnded:
    account = event.account
    return settlement_pb2.MatchEnded(
        disbanding=None if account.disbanding is None else disbanding_message(account.disbanding),
        deals=[settlement_pb2.DealScores(scores=scores.values) for scores in account.deals],
        totals=account.totals.values,
        cut_short=None if event.cut_short is None else _settlement(event.cut_short),
    )
