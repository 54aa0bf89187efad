"""Encodes the options, labels and cost of a room."""

from erqiwang_core.options import CardCost, FourPlayer, RoomOptions, ThreePlayer

from erqiwang_grpc.events.model import RoomOpened
from erqiwang_grpc.rpc.wire.numbers import DECKS, PAYERS, STARTS
from erqiwang_grpc.v1 import room_pb2


def room_options(options: RoomOptions) -> room_pb2.RoomOptions:
    """The options of a room. Every default is filled in."""
    game, length, payer, review, countdowns, start, hints = options.values()
    bid, trump, bury, play = countdowns.values()
    message = room_pb2.RoomOptions(
        deals=length.value,
        payer=PAYERS[payer],
        no_review=not review,
        countdowns=room_pb2.Countdowns(bid=bid, trump=trump, bury=bury, play=play),
        start=STARTS[start],
        no_hints=not hints,
    )
    match game:
        case ThreePlayer():
            joker_bonus, climb = game.values()
            message.three_player.CopyFrom(room_pb2.ThreePlayerGame(joker_bonus=joker_bonus, climb=climb))
        case FourPlayer():
            (deck,) = game.values()
            message.four_player.CopyFrom(room_pb2.FourPlayerGame(deck=DECKS[deck]))
    return message


def labels(opened: RoomOpened) -> dict[str, str]:
    """The platform's labels of a room. Only the platform is told them."""
    return {label.key: label.value for label in opened.labels}


def card_cost(cost: CardCost) -> room_pb2.CardCost:
    """The cost of a room, in room cards."""
    return room_pb2.CardCost(owner=cost.owner, joiner=cost.joiner)
