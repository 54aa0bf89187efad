"""Arguments of several tools: the game, its options, and its players."""

from argparse import ArgumentParser, ArgumentTypeError, Namespace
from collections.abc import Callable
from typing import Final

from erqiwang_core.options import Deck, FourPlayer, Game, Length, RoomOptions, ThreePlayer
from erqiwang_core.players import Budgets, Policy
from erqiwang_core.rules import game_rules
from erqiwang_core.seats import BySeat, by_seat

from erqiwang_grpc.commands.arguments import BadArguments
from erqiwang_grpc.tools.levels import LEVELS, PLAIN

POLICIES: Final[dict[str, Callable[[Budgets], Policy]]] = {
    "sensible": LEVELS["sensible"]["careful"],
    "sensible:bold": LEVELS["sensible"]["bold"],
    "strong": LEVELS["strong"]["careful"],
    "strong:bold": LEVELS["strong"]["bold"],
    "random": LEVELS["easy"][PLAIN],
}
"""The policies by name. Each seat gets one of its own for each match, so that a policy may remember and have settings."""

GAMES: Final = ("three", "four")
"""The names of the games, the default first."""


def add_room_options(parser: ArgumentParser) -> None:
    """Add the options of a room."""
    room = parser.add_argument_group("the room")
    room.add_argument("--game", choices=GAMES, default=GAMES[0], help="how many play (default: three)")
    room.add_argument("--deck", choices=("short", "full"), help="four players: without 3s and 4s, or with them")
    room.add_argument("--length", type=int, choices=(6, 12), default=6, help="deals in a match (default: 6)")
    room.add_argument("--no-review", action="store_true", help="past tricks and counts may not be looked back at")
    room.add_argument("--climb", action="store_true", help="three players: low bids are worth more (爬坡)")
    room.add_argument("--joker-bonus", action="store_true", help="three players: every joker counts (傍王)")


def room_options(arguments: Namespace) -> RoomOptions:
    """The room options in the arguments. Raises `BadArguments` if an option belongs to the other game."""
    return RoomOptions(game=_game(arguments), length=Length(arguments.length), review=not arguments.no_review)


def _game(arguments: Namespace) -> Game:
    if arguments.game == "three":
        if arguments.deck is not None:
            raise BadArguments("--deck is an option of the four-player game")
        return ThreePlayer(joker_bonus=arguments.joker_bonus, climb=arguments.climb)
    if arguments.climb or arguments.joker_bonus:
        raise BadArguments("--climb and --joker-bonus are options of the three-player game")
    return FourPlayer(Deck(arguments.deck or "short"))


def seats_of(options: RoomOptions) -> int:
    """How many seats the room's game has."""
    return game_rules(options.game, options.review).seats


def policy_names(text: str) -> tuple[str, ...]:
    """The names in a comma-separated list of policies. Each must be a known policy."""
    names = tuple(name.strip() for name in text.split(","))
    for name in names:
        if name not in POLICIES:
            raise ArgumentTypeError(f"there is no policy {name!r}: choose from {', '.join(POLICIES)}")
    return names


def names_by_seat(names: tuple[str, ...], options: RoomOptions) -> BySeat[str]:
    """The policy of each seat, from one name for all or one for each. Raises `BadArguments` for any other number."""
    seats = seats_of(options)
    if len(names) not in (1, seats):
        raise BadArguments(f"--policy takes one name, or one for each of {seats} seats: {len(names)} were given")
    return by_seat(seats, lambda seat: names[seat % len(names)])
