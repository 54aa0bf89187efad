"""Actions: the numbers by which an agent acts, one small step each. They are the same in both games.

A call, a trump and a surrender are one step. A burial or a play is several: one step for each card, and then `DONE`.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final, TypeAlias, final

from erqiwang_core import Bid, Bury, CardSet, Command, NameTrump, Pass, Play, Ready, Surrender
from erqiwang_core.kernel.cards import KINDS, kind
from erqiwang_core.kernel.trump import TRUMPS
from erqiwang_core.naming import number
from erqiwang_core.notation import write_card, write_trump
from erqiwang_core.units import CardId, Kind


@final
@dataclass(frozen=True, slots=True)
class Choose:
    """Choose one card of this kind for the burial or the play.

    The two copies of a card are the same to the rules, so a step names no copy: `copy_of` picks one.
    """

    kind: Kind


@final
@dataclass(frozen=True, slots=True)
class Done:
    """Bury or play the chosen cards."""


Action: TypeAlias = Choose | Done | Pass | Bid | NameTrump | Surrender
"""What one step does."""

BIDS: Final = tuple(range(0, 125, 5))
"""Every bid of any game, in points, lowest first."""

ACTIONS: Final[tuple[Action, ...]] = (
    *(Choose(Kind(each)) for each in range(KINDS)),
    Done(),
    Pass(),
    *(Bid(points) for points in BIDS),
    *(NameTrump(number(trump)) for trump in TRUMPS),
    Surrender(),
)
"""Every action by its number. The numbers 0 to 53 are the kinds of cards."""

_NUMBERS: Final = {action: place for place, action in enumerate(ACTIONS)}

DONE: Final = _NUMBERS[Done()]


def number_of(action: Action) -> int:
    """The number of an action."""
    return _NUMBERS[action]


def numbers_of(command: Command) -> tuple[int, ...]:
    """The actions that carry out a command, in order; none for `Ready`, which the environment says by itself."""
    match command:
        case Bury(cards) | Play(cards):
            return (*(kind(CardId(card)) for card in cards), DONE)
        case Bid() | Pass() | NameTrump() | Surrender():
            return (_NUMBERS[command],)
        case Ready():
            return ()


def write(number: int) -> str:
    """An action in words, such as `♠7`, `done`, `bid 70` or `trump ♥`."""
    action = ACTIONS[number]
    match action:
        case Choose(card):
            return write_card(card)
        case Done():
            return "done"
        case Pass():
            return "pass"
        case Bid(points):
            return f"bid {points}"
        case NameTrump(trump):
            return f"trump {write_trump(TRUMPS[trump - 1])}"
        case Surrender():
            return "surrender"


def copy_of(card: Kind, among: CardSet) -> CardSet:
    """A set of one card: the copy of lowest id of that kind in `among`, which must hold one."""
    return next(copy for copy in _copies(card) if copy & among)


def _copies(card: Kind) -> Iterator[CardSet]:
    yield CardSet(1 << card)
    yield CardSet(1 << card + KINDS)
