"""The fingerprint of a command is stored: its form is pinned here, and a change of it must be meant."""

from typing import Final, get_args

import pytest
from erqiwang_core import match as matches
from erqiwang_core.bidding import Bid, Pass
from erqiwang_core.burying import Bury
from erqiwang_core.match import (
    Disband,
    DisbandReason,
    HouseCommand,
    LeaveSeat,
    Outside,
    Player,
    Ready,
    StartMatch,
    TakeSeat,
)
from erqiwang_core.naming import NameTrump, Surrender
from erqiwang_core.options import Countdowns, Deck, FourPlayer, Length, Payer, RoomOptions, Start, ThreePlayer
from erqiwang_core.playing import Play, Request, ShowTrumps, Signal

from erqiwang_grpc.auth.keys import PlatformId
from erqiwang_grpc.events import Label, RoomOpened
from erqiwang_grpc.rooms.command import SeatCommand
from erqiwang_grpc.rooms.fingerprint import command_key, fingerprint, form
from tests.deals.plans import TABLES

FORMS: Final[list[tuple[SeatCommand | HouseCommand | RoomOpened, str]]] = [
    (Bid(70), "bid 70"),
    (Pass(), "pass"),
    (NameTrump(4), "name_trump 4"),
    (Surrender(), "surrender"),
    (Bury((3, 1, 2)), "bury 3 1 2"),
    (Play((17,)), "play 17"),
    (Play(()), "play "),
    (Ready(), "ready"),
    (Signal(2), "signal 2"),
    (ShowTrumps(), "show_trumps"),
    (TakeSeat(1, Player("bob")), "take_seat 1 bob"),
    (LeaveSeat(1), "leave_seat 1"),
    (StartMatch(), "start_match"),
    (Disband(), "disband platform unsaid "),
    (Disband(2, DisbandReason.ABSENT, "a b"), "disband 2 absent a b"),
    (Disband(Outside.HOUSE, DisbandReason.EXPIRED), "disband house expired "),
    (
        RoomOpened(PlatformId("local"), "alice", RoomOptions()),
        "open_room three_player 0 0 6 owner review 15 20 40 20 last_seat hints local 0: 0 alice",
    ),
    (
        RoomOpened(PlatformId("local"), "alice", RoomOptions(ThreePlayer(joker_bonus=True), Length.TWELVE, Payer.EACH)),
        "open_room three_player 1 0 12 each review 15 20 40 20 last_seat hints local 0: 0 alice",
    ),
    (
        RoomOpened(PlatformId("p"), "a", RoomOptions(), "order 7", (Label("mode", "ranked 排位"), Label("x", ""))),
        "open_room three_player 0 0 6 owner review 15 20 40 20 last_seat hints p 7:order 7 2 mode=9:ranked 排位 x=0: a",
    ),
    (
        RoomOpened(
            PlatformId("p"),
            "a b",
            RoomOptions(
                FourPlayer(Deck.FULL),
                review=False,
                countdowns=Countdowns(1, 2, 3, 4),
                start=Start.PLATFORM,
                hints=False,
            ),
        ),
        "open_room four_player full 6 owner no_review 1 2 3 4 platform no_hints p 0: 0 a b",
    ),
]


@pytest.mark.parametrize(("command", "expected"), FORMS, ids=[expected for _, expected in FORMS])
def test_form(command: SeatCommand | HouseCommand | RoomOpened, expected: str) -> None:
    assert form(command) == expected


def test_every_command_is_pinned() -> None:
    kinds = {*get_args(matches.Command), *get_args(Request), *get_args(HouseCommand), RoomOpened}
    assert {type(command) for command, _ in FORMS} == kinds


def test_no_two_tables_have_one_form() -> None:
    assert len({form(RoomOpened(PlatformId("p"), "alice", options)) for options in TABLES}) == len(TABLES)


def test_fingerprint_is_blake2b_over_the_form() -> None:
    assert fingerprint(Bid(70)).hex() == "51f3863cae6be169d4cac89d11e37984"


def test_a_command_without_an_id_has_no_key() -> None:
    assert command_key("", Bid(70)) is None
    key = command_key("one", Bid(70))
    assert key is not None
    assert (key.id, key.fingerprint) == ("one", fingerprint(Bid(70)))
