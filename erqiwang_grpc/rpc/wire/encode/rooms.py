"""Encodes the options, labels and cost of a room."""

from erqiwang_core.options import CardCost, FourPlayer, RoomOptions, ThreePlayer

from erqiwang_grpc.events.model import RoomOpened
from erqiwang_grpc.rpc.wire.numbers import DECKS, PAYERS, STARTS
from erqiwang_grpc.v1 import room_pb2


def room_options(options: RoomOptions) -> room_pb2.RoomOptions:
    """The options of a room. Every default is filled in."""
    message = room_pb2.RoomOptions(
        deals=options.deals,
        payer=PAYERS[options.payer],
        no_review=not options.review,
        countdowns=room_pb2.Countdowns(
            bid=options.countdowns.bid,
            trump=options.countdowns.trump,
            bury=options.countdowns.bury,
            play=options.countdowns.play,
        ),
        start=STARTS[options.start],
    )
    match options.game:
        case ThreePlayer(joker_bonus, climb):
            message.three_player.CopyFrom(room_pb2.ThreePlayerGame(joker_bonus=joker_bonus, climb=climb))
        case FourPlayer(deck):
            message.four_player.CopyFrom(room_pb2.FourPlayerGame(deck=DECKS[deck]))
    return message


def labels(opened: RoomOpened) -> dict[str, str]:
    """The platform's labels of a room. Only the platform is told them."""
    return {label.key: label.value for label in opened.labels}


def card_cost(cost: CardCost) -> room_pb2.CardCost:
    """The cost of a room, in room cards."""
    return room_pb2.CardCost(owner=cost.owner, joiner=cost.joiner)
