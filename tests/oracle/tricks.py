"""The twin's tricks: throws that stand, forced cards, winners and kitty captures (rules §6, §8, §9)."""

from collections.abc import Iterable

from tests.oracle.faces import TRUMPS, Cards, face, group, level, of_group, paired
from tests.oracle.shapes import Part, led, part, runs, top


def stands(throw: Cards, others: Iterable[Cards], trump: str) -> bool:
    """Whether no other hand holds a higher component of the shape of any the throw is made of."""
    components = led(throw, trump)
    assert components is not None, "trumps may always be led"
    assert not isinstance(components, Part), "a throw"
    return not any(holds_higher(of_group(hand, TRUMPS, trump), each, trump) for hand in others for each in components)


def holds_higher(trumps: Cards, component: Part, trump: str) -> bool:
    """Whether those trumps hold a component of the same shape and strictly higher."""
    match component.pairs:
        case 0:
            tops = [level(face(card), trump) for card in trumps]
        case 1:
            tops = [level(printed, trump) for printed in paired(trumps)]
        case length:
            tops = [top(run, trump) for run in runs(paired(trumps), length, trump)]
    return any(reached > component.top for reached in tops)


def forced(throw: Cards, trump: str) -> int:
    """The card that a failed throw comes to: of the lowest level the one of lowest id."""
    lowest = min(level(face(card), trump) for card in throw)
    return min(card for card in throw if level(face(card), trump) == lowest)


def winner(plays: list[Cards], trump: str) -> int:
    """Which play takes the trick, the lead being play 0; who plays all trumps on a side suit is void of it."""
    lead = led(plays[0], trump)
    if not isinstance(lead, Part):
        return 0
    best = 0
    for number, play in enumerate(plays):
        if _worth(play, plays[0], trump) > _worth(plays[best], plays[0], trump):
            best = number
    return best


def _worth(play: Cards, lead: Cards, trump: str) -> tuple[int, int]:
    """(0, 0) for what never wins, (1, level) for the led suit, (2, level) for a ruff."""
    shown, shape = part(play, trump), part(lead, trump)
    if shown is None or shape is None or shown.pairs != shape.pairs:
        return 0, 0
    groups = {group(face(card), trump) for card in play}
    if groups == {group(face(card), trump) for card in lead}:
        return 1, shown.top
    return (2, shown.top) if groups == {TRUMPS} else (0, 0)


def capture_multiplier(winning: Cards, trump: str) -> int:
    """What the buried points count for defenders who took the last trick with those cards: 0 with a side suit."""
    if of_group(winning, TRUMPS, trump) != winning:
        return 0
    shape = led(winning, trump)
    assert shape is not None, "trumps may always be led"
    components = (shape,) if isinstance(shape, Part) else shape
    return max(1 if component.pairs == 0 else 2 * component.pairs for component in components)
