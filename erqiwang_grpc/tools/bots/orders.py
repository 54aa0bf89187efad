"""Orders: the file that says which seats are played, one JSON object a line."""

import json
from dataclasses import dataclass
from math import inf
from typing import Final, final

from erqiwang_grpc.tools.levels import DEFAULT_LEVEL, LEVELS, default_style

_FIELDS: Final = ("token", "last_version", "room", "player", "level", "style", "pace", "seed")


class BadOrder(Exception):
    """A line that is no order. The text is for the user, and holds no token."""


@final
@dataclass(frozen=True, slots=True)
class Pace:
    """How long a bot thinks before it acts: a number of seconds between the two."""

    least: float
    most: float


@final
@dataclass(frozen=True, slots=True)
class WithToken:
    """Play the seat of a token that somebody else was given."""

    token: str
    last_version: int | None


@final
@dataclass(frozen=True, slots=True)
class InRoom:
    """Seat this player in a room, on a free seat or on the one that it has, and play it."""

    room: str
    player: str


@final
@dataclass(frozen=True, slots=True)
class Order:
    """One seat to play, and how."""

    line: int
    """The number of its line in the file, from 1."""
    where: WithToken | InRoom
    level: str
    style: str
    pace: Pace
    seed: str

    @property
    def name(self) -> str:
        """What the bot is called in what is printed."""
        return f"line {self.line}" if isinstance(self.where, WithToken) else f"line {self.line} ({self.where.player})"


def orders(text: str, pace: Pace, seed: int) -> tuple[Order, ...]:
    """The orders in a file. Empty lines, and lines that begin with #, are left out. Raises `BadOrder`."""
    found = tuple(
        _order(number, line.strip(), pace, seed)
        for number, line in enumerate(text.splitlines(), 1)
        if line.strip() and not line.strip().startswith("#")
    )
    seats = [order.where for order in found]
    for order in found:
        if seats.count(order.where) > 1:
            raise BadOrder(f"line {order.line}: the same seat is on another line too")
    return found


def _order(number: int, line: str, pace: Pace, seed: int) -> Order:
    try:
        said = json.loads(line)
    except ValueError as error:
        raise BadOrder(f"line {number} is no JSON: one object a line") from error
    if not isinstance(said, dict):
        raise BadOrder(f"line {number} is no JSON object")
    unknown = sorted(set(said) - set(_FIELDS))
    if unknown:
        raise BadOrder(f"line {number} has a field that is not known; fields are {', '.join(_FIELDS)}")
    level = said.get("level", DEFAULT_LEVEL)
    if not isinstance(level, str) or level not in LEVELS:
        raise BadOrder(f"line {number}: `level` is one of {', '.join(LEVELS)}")
    style = said.get("style", default_style(level))
    if not isinstance(style, str) or style not in LEVELS[level]:
        raise BadOrder(f"line {number}: at this level `style` is one of {', '.join(LEVELS[level])}")
    drawn_from = str(said.get("seed", f"{seed}/{number}"))
    return Order(number, _where(number, said), level, style, _pace(number, said.get("pace"), pace), drawn_from)


def _where(number: int, said: dict[str, object]) -> WithToken | InRoom:
    token, room, player = said.get("token"), said.get("room"), said.get("player")
    last = said.get("last_version")
    if isinstance(token, str) and token and room is None and player is None and (last is None or isinstance(last, int)):
        return WithToken(token, last)
    if isinstance(room, str) and room and isinstance(player, str) and player and token is None and last is None:
        return InRoom(room, player)
    raise BadOrder(f"line {number} needs `token`, and may have `last_version`, or else `room` and `player`")


def _pace(number: int, said: object, default: Pace) -> Pace:
    if said is None:
        return default
    match said:
        case [int() | float() as least, int() | float() as most] if 0 <= least <= most < inf:
            return Pace(float(least), float(most))
        case _:
            raise BadOrder(f"line {number}: `pace` is two numbers of seconds, such as [1, 4]")
