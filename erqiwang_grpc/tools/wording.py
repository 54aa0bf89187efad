"""Words for values of the core, to be used in sentences."""

from collections.abc import Iterable

from erqiwang_core.kernel.following import (
    Answer,
    Breach,
    GroupNotFollowed,
    PairsNotPlayed,
    TractorNotPlayed,
    WholeGroupNotPlayed,
)
from erqiwang_core.kernel.shapes import Pair, SeveralGroups, Shape, SideSuitThrow, Single, Throw, Tractor, tractors
from erqiwang_core.kernel.trump import Group
from erqiwang_core.notation import ThirdCopy, UnreadableCard, UnreadableTrump, write_card


def number_of(count: int, noun: str) -> str:
    """`1 pair`, `2 pairs`."""
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"


def listed(parts: Iterable[str]) -> str:
    """`a`, `a and b`, `a, b and c`."""
    *first, last = parts
    return f"{', '.join(first)} and {last}" if first else last


def group(of: Group) -> str:
    """The plural noun for the cards of a group."""
    return of.name.lower()


def shape(of: Shape) -> str:
    """The noun for a shape, with its article."""
    match of:
        case Single():
            return "a single"
        case Pair():
            return "a pair"
        case Tractor(length=length):
            return f"a tractor of {length} pairs"
        case Throw(parts):
            return f"a throw of {listed(shape(part) for part in parts)}"


def not_led(fault: SeveralGroups | SideSuitThrow) -> str:
    """Why cards may not be led together."""
    match fault:
        case SeveralGroups(groups):
            return f"they are {listed(group(each) for each in groups)}, and a lead is of one group"
        case SideSuitThrow(of):
            return f"they are no single, pair or tractor, and {group(of)} are no trumps: only trumps may be thrown"


def breach(of: Breach) -> str:
    """Why a play does not follow the lead."""
    match of:
        case WholeGroupNotPlayed(led):
            return f"all {group(led)} have to be played, because there are not enough of them"
        case GroupNotFollowed(led):
            return f"there are enough {group(led)}, so every card has to be one"
        case TractorNotPlayed(length):
            return f"a tractor of {length} pairs is held and has to be played"
        case PairsNotPlayed(number):
            return f"{number_of(number, 'pair')} can be played and {'has' if number == 1 else 'have'} to be"


def called(led: Shape, answer: Answer, led_group: Group) -> str:
    """What a play must contain to follow `led`, for a hand with enough cards of the led group."""
    runs, pairs = _pairs_called(led, answer)
    wanted = [f"a tractor of {length} pairs" for length in runs]
    if pairs:
        wanted.append(f"{number_of(pairs, 'more pair')}" if runs else number_of(pairs, "pair"))
    if wanted:
        return f"{listed(wanted)} among them"
    match led:
        case Single():
            return "whichever"
        case Pair() | Tractor() | Throw():
            return f"whichever, as there is no pair among the {group(led_group)}"


def _pairs_called(led: Shape, answer: Answer) -> tuple[list[int], int]:
    """The lengths of the tractors that must be played, and the number of other pairs."""
    match led:
        case Single():
            return [], 0
        case Pair() | Tractor():
            return [length for length in answer if length > 1], answer.count(1)
        case Throw():
            runs = [length for length, yes in zip(tractors(led), answer, strict=False) if yes]
            return runs, answer[-1] - sum(runs)


def unreadable(fault: UnreadableCard | ThirdCopy | UnreadableTrump) -> str:
    """Why a text cannot be read."""
    match fault:
        case UnreadableCard(word):
            return f"{word!r} is no card: write ♠7 or s7, h10, dK, and BJ or SJ for the big and the small joker"
        case ThirdCopy(kind):
            return f"{write_card(kind)} is there three times, and there are only two"
        case UnreadableTrump(word):
            return f"{word!r} is no trump: write ♠ or s, h, c, d, or 'no trump'"
