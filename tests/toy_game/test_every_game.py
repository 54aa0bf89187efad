"""What lists the games by hand, and no type checker sees, lists every one."""

from argparse import ArgumentParser
from typing import Final, get_args

import erqiwang_core
from erqiwang_core.options import Game
from erqiwang_core.rules import game_rules

from erqiwang_grpc.tools import table_arguments
from erqiwang_grpc.tools.torture import tables
from erqiwang_grpc.tools.verify import Claim
from tests.deals import plans

KINDS: Final[tuple[type[Game], ...]] = get_args(Game)


def test_the_public_face_of_the_core_has_it() -> None:
    assert {kind.__name__ for kind in KINDS} <= set(erqiwang_core.__all__)


def test_property_tests_play_it() -> None:
    assert {type(game) for game in plans.GAMES} == set(KINDS)


def test_torture_plays_it() -> None:
    assert {type(options.game) for options in tables.GAMES} == set(KINDS)


def test_the_command_line_offers_it() -> None:
    parser = ArgumentParser()
    table_arguments.add_room_options(parser)
    chosen = [table_arguments.room_options(parser.parse_args(["--game", name])).game for name in table_arguments.GAMES]
    assert {type(game) for game in chosen} == set(KINDS)
    assert len(chosen) == len(KINDS)


def test_its_deck_is_known_to_verify() -> None:
    games = {*plans.GAMES, *(kind() for kind in KINDS)}
    decks = [game_rules(game, review=True).deck for game in games]
    assert all(Claim(b"", b"", deck).deck is not None for deck in decks)
