"""What a seat and a platform may ask for, as it comes over the wire."""

from typing import get_args

import pytest
from erqiwang_core import match as matches
from erqiwang_core.bidding import Bid, Pass
from erqiwang_core.burying import Bury
from erqiwang_core.match import Ready
from erqiwang_core.naming import NameTrump, Surrender
from erqiwang_core.options import Countdowns, Deck, FourPlayer, Length, Payer, RoomOptions, ThreePlayer, card_cost
from erqiwang_core.playing import Play, Request, ShowTrumps, Signal, Signalled, TrumpsShown
from google.protobuf.message import Message
from hypothesis import given, strategies as st

from erqiwang_grpc.rooms.command import SeatCommand
from erqiwang_grpc.rooms.refusals import InvalidField, NoCommand
from erqiwang_grpc.rpc.wire import decode as read, encode, requests as decode
from erqiwang_grpc.rpc.wire.requests import LONGEST_COUNTDOWN
from erqiwang_grpc.v1 import bidding_pb2, burying_pb2, card_pb2, naming_pb2, playing_pb2, room_pb2, settlement_pb2
from erqiwang_grpc.v1.room_pb2 import FourPlayerGame, ThreePlayerGame
from erqiwang_grpc.v1.room_service_pb2 import RoomChoice
from erqiwang_grpc.v1.seat_service_pb2 import Command
from tests.deals.decks import never_shuffled
from tests.deals.plans import TABLES, Plan, examples, plans
from tests.deals.walk import positions
from tests.wire.arbitrary import messages


@pytest.mark.parametrize(
    ("message", "asked"),
    [
        (Command(bid=bidding_pb2.Bid(points=70)), Bid(70)),
        (Command(bid=bidding_pb2.Bid()), Bid(0)),
        (Command(bid=bidding_pb2.Bid(points=2**32 - 1)), Bid(2**32 - 1)),
        (Command(pass_bid=bidding_pb2.PassBid()), Pass()),
        (Command(name_trump=naming_pb2.NameTrump(trump=card_pb2.TRUMP_HEARTS)), NameTrump(3)),
        (Command(name_trump=naming_pb2.NameTrump()), NameTrump(0)),
        (Command(name_trump=naming_pb2.NameTrump(trump=card_pb2.Trump.ValueType(99))), NameTrump(99)),
        (Command(surrender=naming_pb2.Surrender()), Surrender()),
        (Command(bury=burying_pb2.Bury(cards=range(8))), Bury(tuple(range(8)))),
        (Command(play_cards=playing_pb2.PlayCards(cards=(9, 9, 2**32 - 1))), Play((9, 9, 2**32 - 1))),
        (Command(play_cards=playing_pb2.PlayCards()), Play(())),
        (Command(ready=settlement_pb2.Ready()), Ready()),
        (Command(signal=playing_pb2.Signal(signal=playing_pb2.SIGNAL_KIND_NO_POINTS)), Signal(2)),
        (Command(signal=playing_pb2.Signal(signal=playing_pb2.SignalKind.ValueType(-1))), Signal(-1)),
        (Command(show_trumps=playing_pb2.ShowTrumps()), ShowTrumps()),
        (Command(), NoCommand()),
    ],
    ids=repr,
)
def test_command(message: Command, asked: SeatCommand | NoCommand) -> None:
    assert decode.command(message) == asked


def test_there_is_a_message_for_everything_that_a_seat_may_ask() -> None:
    kinds = {*get_args(matches.Command), *get_args(Request)}
    assert len(kinds) == len(Command.DESCRIPTOR.oneofs_by_name["command"].fields)


@examples(0.1)
@given(plan=plans(), sent=st.lists(messages(Command), min_size=1, max_size=5))
def test_any_command_at_any_moment_is_answered_in_words_of_the_wire(plan: Plan, sent: list[Command]) -> None:
    for match in positions(plan):
        for message in sent:
            asked = decode.command(message)
            if isinstance(asked, NoCommand):
                continue
            for seat in match.chairs.seats():
                answered = (
                    matches.answer(match, seat, asked)
                    if isinstance(asked, Signal | ShowTrumps)
                    else matches.decide(match, seat, asked, never_shuffled)
                )
                if not isinstance(answered, tuple | Signalled | TrumpsShown):
                    assert read.refusal(encode.refusal(answered)) == answered


def test_options_come_over_the_wire_unchanged() -> None:
    for options in TABLES:
        message = room_pb2.RoomOptions.FromString(encode.room_options(options).SerializeToString())
        assert decode.room_options(message) == options
        assert decode.room_choice(RoomChoice(options=message)) == options


@pytest.mark.parametrize("options", [RoomOptions(payer=payer) for payer in Payer], ids=repr)
def test_a_cost_comes_over_the_wire(options: RoomOptions) -> None:
    cost = card_cost(options)
    message = encode.card_cost(cost)
    assert (message.owner, message.joiner) == (cost.owner, cost.joiner)


@pytest.mark.parametrize(
    ("choice", "options"),
    [
        pytest.param(RoomChoice(), RoomOptions(), id="nothing chosen"),
        pytest.param(RoomChoice(options=room_pb2.RoomOptions()), RoomOptions(), id="nothing set"),
        pytest.param(
            RoomChoice(options=room_pb2.RoomOptions(four_player=FourPlayerGame())),
            RoomOptions(FourPlayer(Deck.SHORT)),
            id="four players, no deck chosen",
        ),
        pytest.param(
            RoomChoice(options=room_pb2.RoomOptions(deals=12, payer=room_pb2.PAYER_EACH, no_review=True)),
            RoomOptions(length=Length.TWELVE, payer=Payer.EACH, review=False),
            id="some set",
        ),
        pytest.param(
            RoomChoice(options=room_pb2.RoomOptions(three_player=ThreePlayerGame(climb=True))),
            RoomOptions(ThreePlayer(climb=True)),
            id="climb",
        ),
        pytest.param(
            RoomChoice(options=room_pb2.RoomOptions(countdowns=room_pb2.Countdowns(bury=60))),
            RoomOptions(countdowns=Countdowns(bury=60)),
            id="one countdown set",
        ),
        pytest.param(RoomChoice(roomtype=""), RoomOptions(), id="empty roomtype"),
        pytest.param(
            RoomChoice(roomtype="10100"),
            RoomOptions(ThreePlayer(joker_bonus=True), Length.TWELVE),
            id="roomtype",
        ),
        pytest.param(RoomChoice(roomtype="01"), RoomOptions(payer=Payer.EACH), id="short roomtype"),
    ],
)
def test_choice(choice: RoomChoice, options: RoomOptions) -> None:
    assert decode.room_choice(choice) == options


@pytest.mark.parametrize(
    ("message", "name"),
    [
        (room_pb2.RoomOptions(deals=1), "deals"),
        (room_pb2.RoomOptions(deals=7), "deals"),
        (room_pb2.RoomOptions(payer=room_pb2.Payer.ValueType(3)), "payer"),
        (room_pb2.RoomOptions(four_player=FourPlayerGame(deck=room_pb2.Deck.ValueType(9))), "four_player.deck"),
        (room_pb2.RoomOptions(countdowns=room_pb2.Countdowns(bid=LONGEST_COUNTDOWN + 1)), "countdowns.bid"),
        (room_pb2.RoomOptions(countdowns=room_pb2.Countdowns(trump=2**32 - 1)), "countdowns.trump"),
        (room_pb2.RoomOptions(countdowns=room_pb2.Countdowns(bury=LONGEST_COUNTDOWN + 1)), "countdowns.bury"),
        (room_pb2.RoomOptions(countdowns=room_pb2.Countdowns(play=LONGEST_COUNTDOWN + 1)), "countdowns.play"),
    ],
    ids=repr,
)
def test_an_option_out_of_range_is_refused_by_name(message: room_pb2.RoomOptions, name: str) -> None:
    for path, refused in (
        (name, decode.room_options(message)),
        (f"choice.options.{name}", decode.room_choice(RoomChoice(options=message))),
    ):
        assert isinstance(refused, InvalidField)
        assert refused.path == path
        bounds = refused.bounds
        is_between = bounds.least <= bounds.given <= bounds.most
        assert bounds.given not in bounds.allowed if bounds.allowed else not is_between


@given(message=messages(room_pb2.RoomOptions))
def test_any_options_are_taken_or_refused(message: room_pb2.RoomOptions) -> None:
    options = decode.room_options(message)
    match options:
        case RoomOptions():
            assert decode.room_options(encode.room_options(options)) == options
        case InvalidField(name):
            *groups, last = name.split(".")
            held: Message = message
            for group in groups:
                held = getattr(held, group)
            assert last in held.DESCRIPTOR.fields_by_name, "refused by a name that is none"
