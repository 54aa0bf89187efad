"""Cards as coloured text; without the colours where the output is no terminal."""

from typing import Final

from erqiwang_core.kernel.cards import FACES, Joker, Suit, Suited, kind
from erqiwang_core.kernel.hand import EMPTY
from erqiwang_core.kernel.trump import NoTrump, SuitTrump, Trump, order
from erqiwang_core.notation import in_order, write_card, write_trump
from erqiwang_core.parts import Seen
from erqiwang_core.units import CardId, CardSet
from rich.style import Style
from rich.text import Text

_SUIT_STYLES: Final = {
    Suit.SPADES: Style(bold=True),
    Suit.HEARTS: Style(bold=True, color="red"),
    Suit.CLUBS: Style(bold=True, color="green"),
    Suit.DIAMONDS: Style(bold=True, color="yellow"),
}
_JOKER_STYLE: Final = Style(bold=True, color="magenta")


def card(number: CardId) -> Text:
    """One card."""
    return Text(write_card(kind(number)), _style(number))


def _style(number: CardId) -> Style:
    face = FACES[kind(number)]
    match face:
        case Suited(suit, _):
            return _SUIT_STYLES[suit]
        case Joker():
            return _JOKER_STYLE


def cards(held: CardSet, trump: Trump | None = None) -> Text:
    """Those cards as a player holds them; `nothing` where there are none."""
    return marked(held, trump, EMPTY, EMPTY) if held else Text("nothing")


def marked(held: CardSet, trump: Trump | None, must: CardSet, may: CardSet) -> Text:
    """A hand in which `[♠A]` has to be played, `♠A` may be, and `(♠A)` may not; with no `may` nothing is marked."""
    tables = order(trump or NoTrump())
    words: list[Text] = []
    for number in in_order(tables, held):
        bit = 1 << number
        if must & bit:
            words.append(Text.assemble("[", card(number), "]"))
        elif may and not may & bit:
            words.append(Text.assemble(("(", "dim"), (write_card(kind(number)), "dim"), (")", "dim")))
        else:
            words.append(card(number))
    return Text(" ").join(words)


def trump_name(trump: Trump) -> Text:
    """A trump choice, as one of its cards would be coloured."""
    match trump:
        case SuitTrump(suit):
            return Text(write_trump(trump), _SUIT_STYLES[suit])
        case NoTrump():
            return Text(write_trump(trump))


def trump_of(view: Seen) -> Trump | None:
    """The trump of the deal that a view shows, once it is named."""
    return None if view.contract.agreed is None else view.contract.agreed.trump
