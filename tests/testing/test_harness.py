"""The harness: what it promises beyond the examples of its page, and what a test is told where something is wrong."""

import asyncio
from collections.abc import Collection, Mapping
from pathlib import Path
from random import Random

import pytest
from erqiwang_core.options import Deck, FourPlayer, Game, RoomOptions, ThreePlayer
from erqiwang_core.players import RandomLegal
from erqiwang_core.rules import game_rules

from erqiwang_grpc import shuffling
from erqiwang_grpc.client import suggested
from erqiwang_grpc.shuffling import opens
from erqiwang_grpc.testing import (
    NotStarted,
    holding,
    is_over,
    policy,
    seated,
    seated_table,
    seeded,
    served,
    served_apart,
)
from erqiwang_grpc.v1 import bidding_pb2, room_pb2, seat_service_pb2 as pb, view_pb2

SHORT = game_rules(ThreePlayer(), review=True)


@pytest.mark.parametrize(
    ("options", "roomtype", "seats"),
    [
        pytest.param(None, None, 3, id="nothing said"),
        pytest.param(RoomOptions(FourPlayer(Deck.FULL)), None, 4, id="the core's options"),
        pytest.param(room_pb2.RoomOptions(four_player=room_pb2.FourPlayerGame()), None, 4, id="the schema's options"),
        pytest.param(None, "10000", 3, id="a roomtype"),
    ],
)
async def test_every_seat_is_taken_and_attached_and_the_first_deal_is_dealt(
    options: RoomOptions | room_pb2.RoomOptions | None, roomtype: str | None, seats: int
) -> None:
    async with seated_table(options, roomtype=roomtype) as table:
        assert list(table.seats) == list(range(seats))
        assert len(table.tokens) == seats
        for number, seat in table.seats.items():
            assert seat.view.seat == number
            assert seat.view.parts.progress.phase == view_pb2.PHASE_BIDDING
        assert table.turn == 0
    host, port = table.address.split(":")
    with pytest.raises(ConnectionRefusedError):
        await asyncio.open_connection(host, int(port))


async def test_a_seed_deals_the_same_cards_and_no_seed_others() -> None:
    hands: list[tuple[int, ...]] = []
    for shuffle in (seeded(3), seeded(3), shuffling.shuffle, shuffling.shuffle):
        async with seated_table(shuffle=shuffle) as table:
            hands.append(tuple(table.seats[0].view.parts.hand.cards))
    assert hands[0] == hands[1]
    assert len(set(hands)) == 3


@pytest.mark.parametrize("game", [ThreePlayer(), FourPlayer(Deck.SHORT), FourPlayer(Deck.FULL)], ids=str)
def test_holding_deals_the_whole_deck_and_opens_its_commitment(game: Game) -> None:
    played = game_rules(game, review=True)
    asked = {0: played.deck[: played.hand_size], 2: (played.deck[-1],)}
    shuffle = holding(asked, seed=5)
    for _ in range(3):
        shuffled = shuffle(played)
        assert sorted(shuffled.order) == list(played.deck)
        assert set(shuffled.order[: played.hand_size]) == set(asked[0])
        assert played.deck[-1] in shuffled.order[2 * played.hand_size : 3 * played.hand_size]
        assert opens(shuffled.commitment, shuffled.salt, shuffled.order)


@pytest.mark.parametrize(
    ("hands", "why"),
    [
        pytest.param({3: (0,)}, "there is no seat 3", id="a seat too many"),
        pytest.param({-1: (0,)}, "there is no seat -1", id="a seat before the first"),
        pytest.param({0: (2,)}, "card 2 is not in this game's deck", id="not in the deck"),
        pytest.param({0: (0, 0)}, "card 0 is given twice", id="twice to one"),
        pytest.param({0: (0,), 1: (0,)}, "card 0 is given twice", id="to two"),
        pytest.param({0: SHORT.deck[:29]}, "seat 0 is given 29 cards, and a hand has 28", id="more than a hand"),
    ],
)
async def test_cards_that_cannot_be_dealt_fail_the_test_by_name(hands: Mapping[int, Collection[int]], why: str) -> None:
    with pytest.raises(ValueError, match=why):
        async with seated_table(shuffle=holding(hands)):
            pass


async def test_fewer_players_than_seats_are_named() -> None:
    with pytest.raises(ValueError, match="the room has 3 seats, and there are 2 players"):
        async with seated_table(players=("Ann", "Ben")):
            pass


async def test_after_a_step_every_seat_stands_at_the_same_version() -> None:
    async with seated_table(shuffle=seeded(1)) as table:
        choose = policy(RandomLegal(), Random(1))
        while table.seats[0].view.parts.progress.deal == 1:
            answer = await table.step(choose)
            assert {seat.version for seat in table.seats.values()} == {answer.last_version}


async def test_a_command_that_is_refused_fails_the_test() -> None:
    def too_low(view: view_pb2.View) -> pb.Command | None:
        return None if suggested(view) is None else pb.Command(bid=bidding_pb2.Bid(points=1))

    async with seated_table() as table:
        with pytest.raises(AssertionError, match="the command was not accepted"):
            await table.step(too_low)
        with pytest.raises(AssertionError, match="the command was not accepted"):
            await table.play(too_low)


async def test_nobody_is_to_act_in_a_match_that_is_over() -> None:
    async with seated_table(own=(1,)) as table:
        await table.platform.disband_room(table.room_id)
        await table.until(lambda: all(map(is_over, (seat.view for seat in table.seats.values()))))
        with pytest.raises(AssertionError, match="all seats wait"):
            table.turn  # noqa: B018  # asking is the test


async def test_a_seat_of_the_tests_own_has_no_client_here() -> None:
    async with seated_table(own=(1,)) as table:
        assert list(table.seats) == [0, 2]
        async with table.service.client(table.tokens[1]) as own:
            assert own.view.seat == 1
            assert own.ended is None
            assert table.seats[0].ended is None


async def test_what_fails_while_seats_are_played_fails_the_test_at_the_end() -> None:
    async with seated_table() as table:
        with pytest.raises(AssertionError, match="the stream has ended"):
            async with table.playing(), table.service.client(table.tokens[0]):
                await table.seats[0].until(lambda: table.seats[0].ended is not None)


async def test_what_a_test_does_wrong_itself_is_told_as_it_is() -> None:
    def wrong(_: view_pb2.View) -> pb.Command | None:
        raise LookupError("no such card")

    async with seated_table() as table:
        with pytest.raises(LookupError, match="no such card"):
            await table.step(wrong)


async def test_several_tables_sit_on_one_server() -> None:
    async with served() as service:
        async with seated_table(on=service) as one, seated_table(on=service) as other:
            assert one.room_id != other.room_id
            assert len(await one.platform.rooms()) == 2
        assert (await seated(service.platform)).room_id not in (one.room_id, other.room_id)


async def test_a_server_that_does_not_start_says_so(tmp_path: Path) -> None:
    log = tmp_path / "log"
    with pytest.raises(NotStarted):
        async with served_apart(tmp_path, "--port", "no-port", log=log):
            pass
    assert "no-port" in log.read_text()
