"""Whole matches over real streams, with every option that a room may have, to an account that all seats agree on."""

import asyncio
from functools import partial
from random import Random
from typing import Final

import pytest
from erqiwang_core.match import Over
from erqiwang_core.players import Policy, RandomLegal, Sensible

from erqiwang_grpc.client import SeatClient, deck_is_opened
from erqiwang_grpc.rpc.wire import encode
from erqiwang_grpc.v1 import room_pb2, room_service_pb2, view_pb2
from tests.service.tables import Chooser, Service, attached, play, policy, seated, suggested

EVERY_TWO_BITS: Final = ("00000", "11111", "10100", "01010", "00111", "11001", "01101", "10010")
"""Of the 32 room types so many that each two bits are met in each of their four ways."""
DECKS: Final = {"short": room_pb2.DECK_SHORT, "full": room_pb2.DECK_FULL}
PLAYERS: Final[dict[str, Policy]] = {"sensible": Sensible(), "random legal": RandomLegal()}


def test_the_room_types_meet_each_two_bits_in_each_way() -> None:
    for one in range(5):
        for other in range(one):
            assert len({(text[one], text[other]) for text in EVERY_TWO_BITS}) == 4


@pytest.mark.parametrize("roomtype", EVERY_TWO_BITS)
async def test_three_players_on_the_advice(service: Service, roomtype: str) -> None:
    await match_is_played(service, room_service_pb2.RoomChoice(roomtype=roomtype), suggested)


@pytest.mark.parametrize(("name", "no_review"), [("sensible", False), ("random legal", True)])
async def test_three_players_of_the_core(service: Service, name: str, no_review: bool) -> None:
    options = room_pb2.RoomOptions(no_review=no_review)
    await match_is_played(service, room_service_pb2.RoomChoice(options=options), policy(PLAYERS[name], Random(7)))


@pytest.mark.parametrize(("deck", "no_review"), [("short", True), ("full", False)])
async def test_four_players(service: Service, deck: str, no_review: bool) -> None:
    options = room_pb2.RoomOptions(four_player=room_pb2.FourPlayerGame(deck=DECKS[deck]), no_review=no_review)
    await match_is_played(service, room_service_pb2.RoomChoice(options=options), policy(RandomLegal(), Random(4)))


async def match_is_played(service: Service, choice: room_service_pb2.RoomChoice, choose: Chooser) -> None:
    """Play to the account, and hold the account to what every seat and the platform were told on the way."""
    quote = await service.platform.quote(choice)
    room_type = choice.roomtype if choice.HasField("roomtype") else None
    table = await seated(service.platform, choice.options, roomtype=room_type)
    async with attached(service, table) as seats:
        settlements = [SettledDeals() for _ in seats]
        await asyncio.gather(
            *(
                play(seat, choose, before=partial(deals.look, seat))
                for seat, deals in zip(seats, settlements, strict=True)
            )
        )
        account = seats[0].view.parts.account.account
        assert len(account.deals) == quote.deals
        assert all(sum(deal.scores) == 0 for deal in account.deals)
        assert list(account.totals) == [
            sum(scores) for scores in zip(*(deal.scores for deal in account.deals), strict=True)
        ]
        assert sum(account.totals) == 0
        assert not account.HasField("disbanding")
        assert all(seat.view.parts.account.account == account for seat in seats)
        for seat, deals in zip(seats, settlements, strict=True):
            deals.look(seat)
            assert deals.scores == [list(deal.scores) for deal in account.deals]
            assert_the_last_deck_is_proven(seat.view)
    room = await service.platform.room(table.room_id)
    assert room.state == room_pb2.ROOM_STATE_FINISHED
    assert list(room.totals) == list(account.totals)
    assert room.version == seats[0].version
    match = service.room(table.room_id).match
    assert isinstance(match, Over)
    assert account == encode.account(match.account)


class SettledDeals:
    """The scores of each deal as one seat saw it settled."""

    def __init__(self) -> None:
        self.scores: list[list[int]] = []

    def look(self, seat: SeatClient) -> None:
        parts = seat.view.parts
        if parts.settlement.HasField("settlement") and len(self.scores) < parts.progress.deal:
            assert deck_is_opened(seat.view)
            self.scores.append([each.score for each in parts.settlement.settlement.seats])


def assert_the_last_deck_is_proven(view: view_pb2.View) -> None:
    """The commitment opens, and neither another deck nor another salt opens it."""
    assert deck_is_opened(view)
    deck = view.parts.settlement.deck
    for one in (0, len(deck) - 2):
        other = view_pb2.View()
        other.CopyFrom(view)
        other.parts.settlement.deck[one], other.parts.settlement.deck[one + 1] = deck[one + 1], deck[one]
        assert not deck_is_opened(other)
    salted = view_pb2.View()
    salted.CopyFrom(view)
    salted.parts.settlement.salt = bytes([view.parts.settlement.salt[0] ^ 1]) + view.parts.settlement.salt[1:]
    assert not deck_is_opened(salted)
