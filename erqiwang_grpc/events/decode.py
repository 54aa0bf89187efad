"""Decodes stored bytes into events. Bytes that `encode` would not have written are unreadable."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Final, TypeVar, final, get_args

from erqiwang_core.awards import Award, SeatAwards
from erqiwang_core.bidding import DeclarerFound
from erqiwang_core.burying import CardsBuried
from erqiwang_core.calls import BidMade, BidPassed, Called
from erqiwang_core.contract import Contract
from erqiwang_core.dealing import Shuffled
from erqiwang_core.disclosure import Disclosure, Statement, TrumpHolding
from erqiwang_core.kernel.cards import CARDS
from erqiwang_core.kernel.hand import cards_of
from erqiwang_core.kernel.shapes import Component, Lead, Pair, Shape, Single, Throw, Tractor
from erqiwang_core.kernel.trump import TRUMPS, Group, Trump
from erqiwang_core.match import (
    Account,
    Asker,
    DealStarted,
    Disbanding,
    MatchEnded,
    Outside,
    Player,
    SeatLeft,
    SeatReady,
    SeatTaken,
)
from erqiwang_core.naming import TrumpNamed, number
from erqiwang_core.options import (
    Countdowns,
    CountdownValues,
    Deck,
    FourPlayer,
    FourPlayerValues,
    Game,
    Length,
    OptionValues,
    Payer,
    RoomOptions,
    Start,
    ThreePlayer,
    ThreePlayerValues,
)
from erqiwang_core.playing import CardsFollowed, CardsLed, TrickTaken
from erqiwang_core.rules import RULES_VERSION, BidRow, game_rules
from erqiwang_core.scoring import KittyCapture, Outcome, Upgrade
from erqiwang_core.seats import BySeat
from erqiwang_core.settlement import DealSettled, SeatScore, Settlement
from erqiwang_core.units import Awards, CardId, CardSet, Chips, Level, Points, Seat
from google.protobuf.message import DecodeError, Message

from erqiwang_grpc.auth.keys import PlatformId
from erqiwang_grpc.events.encode import message
from erqiwang_grpc.events.model import Label, RoomOpened, StoredEvent
from erqiwang_grpc.events.numbers import AWARD_KINDS, DISBAND_REASONS, PLAIN_OUTCOMES
from erqiwang_grpc.stored.v1 import event_pb2, room_pb2, settlement_pb2

K = TypeVar("K")
V = TypeVar("V")

_GAMES: Final[tuple[type[Game], ...]] = get_args(Game)
_MOST_SEATS: Final = max(game_rules(game(), review=True).seats for game in _GAMES)


@final
@dataclass(frozen=True, slots=True)
class Unreadable:
    """This version of the program cannot read the stored bytes, or cannot read all that they say."""

    why: str
    is_newer: bool = False
    """Whether a newer version of the program has written them: they say something that this version has no name for."""


class UnclearError(Exception):
    """A stored message that `encode` would never have written."""


def read(body: bytes, rules_version: int) -> StoredEvent | Unreadable:
    """The event stored as `body`, decided by that rules version, or why it is unreadable. Never raises.

    Encoding the event again must give the same message. So a field, number or order of cards that this version does not
    know is noticed and not silently dropped.
    """
    if rules_version > RULES_VERSION:
        return Unreadable(
            f"it was decided by version {rules_version} of the rules, and this is version {RULES_VERSION}",
            is_newer=True,
        )
    stored = event_pb2.Event()
    try:
        stored.ParseFromString(body)
        event = _event(stored)
    except DecodeError:
        return Unreadable("it is no stored event")
    except UnclearError as error:
        return Unreadable(str(error), _is_newer(stored))
    if message(event) != stored:
        return Unreadable("it says something that is not known here", _is_newer(stored))
    return event


def _is_newer(stored: event_pb2.Event) -> bool:
    """Whether the message has a field that this version does not know, or names a later version of the rules.

    A new number in a field that is known comes with a later version of the rules.
    """
    return has_unknown_fields(stored) or stored.deal_started.rules_version > RULES_VERSION


def has_unknown_fields(stored: Message) -> bool:
    """Whether a message, or one in it, has a field that this version does not know."""
    known = type(stored)()
    known.CopyFrom(stored)
    known.DiscardUnknownFields()
    return known.ByteSize() < stored.ByteSize()


def _event(stored: event_pb2.Event) -> StoredEvent:
    match stored.WhichOneof("event"):
        case "room_opened":
            return room_opened(stored.room_opened)
        case "seat_taken":
            return SeatTaken(_seat(stored.seat_taken.seat), Player(stored.seat_taken.player))
        case "seat_left":
            return SeatLeft(_seat(stored.seat_left.seat))
        case "deal_started":
            return _deal_started(stored.deal_started)
        case "bid_made":
            return BidMade(_seat(stored.bid_made.seat), Points(stored.bid_made.points))
        case "bid_passed":
            return BidPassed(_seat(stored.bid_passed.seat))
        case "declarer_found":
            return _declarer_found(stored.declarer_found)
        case "trump_named":
            return TrumpNamed(_known(_TRUMPS, stored.trump_named.trump, "trump"))
        case "cards_buried":
            return _cards_buried(stored.cards_buried)
        case "cards_led":
            return _cards_led(stored.cards_led)
        case "cards_followed":
            return _cards_followed(stored.cards_followed)
        case "deal_settled":
            return DealSettled(stored.deal_settled.number, _settlement(stored.deal_settled.settlement))
        case "seat_ready":
            return SeatReady(_seat(stored.seat_ready.seat))
        case "match_ended":
            return _match_ended(stored.match_ended)
        case None:
            raise UnclearError("it is no event of a kind that is known here")


_TRUMPS: Final = {number(trump): trump for trump in TRUMPS}
_GROUPS: Final = {group.value: group for group in Group}
_LENGTHS: Final = {length.value: length for length in Length}
_KINDS: Final = {stored: kind for kind, stored in AWARD_KINDS.items()}
_REASONS: Final = {stored: reason for reason, stored in DISBAND_REASONS.items()}
_OUTCOMES: Final = {stored: result for result, stored in PLAIN_OUTCOMES.items()}


def _known(values: Mapping[K, V], stored: K, what: str) -> V:
    if stored not in values:
        raise UnclearError(f"there is no {what} {stored}")
    return values[stored]


def _seat(stored: int) -> Seat:
    if stored >= _MOST_SEATS:
        raise UnclearError(f"there is no seat {stored}")
    return Seat(stored)


def _seats(stored: Iterable[int]) -> tuple[Seat, ...]:
    return tuple(_seat(each) for each in stored)


def _cards(stored: bytes) -> CardSet:
    if stored and max(stored) >= CARDS:
        raise UnclearError(f"there is no card {max(stored)}")
    return cards_of(CardId(card) for card in stored)


def room_opened(stored: room_pb2.RoomOpened) -> RoomOpened:
    """The opening of a room. Raises `UnclearError` for a message that `encode` would not have written."""
    labels = tuple(Label(label.key, label.value) for label in stored.labels)
    keys = [label.key for label in labels]
    if keys != sorted(set(keys)):
        raise UnclearError("its labels are not in order")
    return RoomOpened(
        PlatformId(stored.platform), stored.owner, _room_options(stored.options), stored.reference, labels
    )


def _room_options(stored: room_pb2.RoomOptions) -> RoomOptions:
    countdowns: CountdownValues = (
        stored.countdown_bid,
        stored.countdown_trump,
        stored.countdown_bury,
        stored.countdown_play,
    )
    values: OptionValues = (
        _game(stored.game),
        _known(_LENGTHS, stored.deals, "match with a number of deals of"),
        Payer.EACH if stored.each_pays else Payer.OWNER,
        stored.review,
        Countdowns(*countdowns),
        Start.PLATFORM if stored.platform_starts else Start.LAST_SEAT,
        not stored.no_hints,
    )
    return RoomOptions(*values)


def _game(stored: room_pb2.Game) -> Game:
    match stored.WhichOneof("game"):
        case "three_player":
            three: ThreePlayerValues = (stored.three_player.joker_bonus, stored.three_player.climb)
            return ThreePlayer(*three)
        case "four_player":
            four: FourPlayerValues = (Deck.FULL if stored.four_player.full_deck else Deck.SHORT,)
            return FourPlayer(*four)
        case None:
            raise UnclearError("it is no game that is known here")


def _deal_started(stored: room_pb2.DealStarted) -> DealStarted:
    if not 1 <= stored.rules_version <= RULES_VERSION:
        raise UnclearError(f"version {stored.rules_version} of the rules is not known here")
    game = _game(stored.game)
    order = tuple(CardId(card) for card in stored.order)
    if sorted(order) != list(game_rules(game, stored.review, stored.rules_version).deck):
        raise UnclearError("its cards are no permutation of the deck")
    return DealStarted(
        number=stored.number,
        first_bidder=_seat(stored.first_bidder),
        game=game,
        review=stored.review,
        rules_version=stored.rules_version,
        shuffled=Shuffled(order, stored.salt, stored.commitment),
    )


def _declarer_found(stored: event_pb2.DeclarerFound) -> DeclarerFound:
    shown = _cards(stored.shown) if stored.HasField("shown") else None
    return DeclarerFound(_seat(stored.declarer), Points(stored.bid), shown)


def _cards_buried(stored: event_pb2.CardsBuried) -> CardsBuried:
    return CardsBuried(
        cards=_cards(stored.cards),
        disclosure=_disclosure(stored.disclosure) if stored.HasField("disclosure") else None,
        void=_seats(stored.void_seats),
        statements=_statements(stored.statements),
    )


def _disclosure(stored: event_pb2.Disclosure) -> Disclosure:
    held = stored.holding
    return Disclosure(
        holding=TrumpHolding(held.trumps, held.pairs, held.tractors) if stored.HasField("holding") else None,
        jokers=stored.jokers if stored.HasField("jokers") else None,
        sevens=stored.sevens if stored.HasField("sevens") else None,
        twos=stored.twos if stored.HasField("twos") else None,
    )


def _statements(stored: Iterable[event_pb2.Statement]) -> tuple[Statement, ...]:
    return tuple(Statement(_seat(told.seat), told.trumps, told.has_pair) for told in stored)


def _cards_led(stored: event_pb2.CardsLed) -> CardsLed:
    return CardsLed(
        seat=_seat(stored.seat),
        cards=_cards(stored.cards),
        lead=Lead(_known(_GROUPS, stored.group, "group"), _shape(stored.components), stored.count),
        attempted=_cards(stored.attempted) if stored.HasField("attempted") else None,
        void=_seats(stored.void_seats),
        statements=_statements(stored.statements),
    )


def _shape(stored: Iterable[event_pb2.Component]) -> Shape:
    parts = tuple(_component(part.pairs, Level(part.level)) for part in stored)
    return parts[0] if len(parts) == 1 else Throw(parts)


def _component(pairs: int, level: Level) -> Component:
    match pairs:
        case 0:
            return Single(level)
        case 1:
            return Pair(level)
        case length:
            return Tractor(length, level)


def _cards_followed(stored: event_pb2.CardsFollowed) -> CardsFollowed:
    taken = stored.taken
    return CardsFollowed(
        seat=_seat(stored.seat),
        cards=_cards(stored.cards),
        ahead=_seat(stored.ahead),
        taken=_taken(taken) if stored.HasField("taken") else None,
        void=_seats(stored.void_seats),
        statements=_statements(stored.statements),
    )


def _taken(stored: event_pb2.TrickTaken) -> TrickTaken:
    return TrickTaken(_seat(stored.winner), Points(stored.points), stored.captured)


def _settlement(stored: settlement_pb2.Settlement) -> Settlement:
    capture = stored.kitty_capture
    return Settlement(
        outcome=_outcome(stored),
        contract=_contract(stored.contract) if stored.HasField("contract") else None,
        trump=_trump(stored.trump),
        trick_points=Points(stored.trick_points),
        kitty_capture=_kitty_capture(capture) if stored.HasField("kitty_capture") else None,
        buried=_cards(stored.buried),
        base=Chips(stored.base),
        stake=Chips(stored.stake),
        seats=BySeat(tuple(_seat_score(seat) for seat in stored.seats)),
    )


def _outcome(stored: settlement_pb2.Settlement) -> Outcome:
    if stored.outcome == settlement_pb2.OUTCOME_UPGRADE:
        return Upgrade(stored.levels)
    return _known(_OUTCOMES, stored.outcome, "outcome")


def _trump(stored: int) -> Trump | None:
    return _known(_TRUMPS, stored, "trump") if stored else None


def _contract(stored: settlement_pb2.Contract) -> Contract:
    row = BidRow(
        bid=Points(stored.bid),
        base=Chips(stored.base),
        step=Points(stored.step),
        target=Points(stored.target),
        surrender=Chips(stored.surrender) if stored.HasField("surrender") else None,
        kitty_shown=stored.kitty_shown,
    )
    return Contract(_seat(stored.declarer), row, tuple(_call(call) for call in stored.calls))


def _call(stored: settlement_pb2.Call) -> Called:
    seat = _seat(stored.seat)
    return BidMade(seat, Points(stored.points)) if stored.HasField("points") else BidPassed(seat)


def _kitty_capture(stored: settlement_pb2.KittyCapture) -> KittyCapture:
    return KittyCapture(Points(stored.points), stored.multiplier)


def _seat_score(stored: settlement_pb2.SeatScore) -> SeatScore:
    awards = tuple(Award(_known(_KINDS, award.kind, "award"), Awards(award.number)) for award in stored.awards)
    return SeatScore(
        awards=SeatAwards(awards, _cards(stored.award_cards), stored.jokers),
        award_chips=Chips(stored.award_chips),
        base_chips=Chips(stored.base_chips),
    )


def disbanding(stored: settlement_pb2.Disbanding) -> Disbanding:
    """Who disbanded a match, and why. Raises `UnclearError` for a message that `encode` would not have written."""
    return Disbanding(_asker(stored), _known(_REASONS, stored.reason, "reason"), stored.text)


def _asker(stored: settlement_pb2.Disbanding) -> Asker:
    match stored.WhichOneof("asker"):
        case "seat":
            return _seat(stored.seat)
        case "platform":
            return Outside.PLATFORM
        case "house":
            return Outside.HOUSE
        case None:
            raise UnclearError("nobody asked for the end")


def _match_ended(stored: settlement_pb2.MatchEnded) -> MatchEnded:
    account = Account(
        disbanding=disbanding(stored.disbanding) if stored.HasField("disbanding") else None,
        deals=tuple(_chips(deal.scores) for deal in stored.deals),
        totals=_chips(stored.totals),
    )
    return MatchEnded(account, _settlement(stored.cut_short) if stored.HasField("cut_short") else None)


def _chips(stored: Iterable[int]) -> BySeat[Chips]:
    return BySeat(tuple(Chips(chips) for chips in stored))
