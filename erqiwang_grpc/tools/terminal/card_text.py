"""Cards as text in the colours of their suits. The console drops the colours if the output is no terminal."""

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
    """One card, as in `♠A`, in the colour of its suit."""
    return Text(write_card(kind(number)), _style(number))


def _style(number: CardId) -> Style:
    face = FACES[kind(number)]
    match face:
        case Suited(suit, _):
            return _SUIT_STYLES[suit]
        case Joker():
            return _JOKER_STYLE


def cards(held: CardSet, trump: Trump | None = None) -> Text:
    """The cards as a player sorts them, trumps first; `nothing` if there are none. Without `trump`, for no trump."""
    return marked(held, trump, EMPTY, EMPTY) if held else Text("nothing")


def marked(held: CardSet, trump: Trump | None, must: CardSet, may: CardSet) -> Text:
    """A hand with marks: `[♠A]` must be played, `♠A` may be played, and `(♠A)` may not.

    If `may` is empty, no card is marked `(♠A)`.
    """
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
    """The name of a trump choice, in the colour of its suit."""
    match trump:
        case SuitTrump(suit):
            return Text(write_trump(trump), _SUIT_STYLES[suit])
        case NoTrump():
            return Text(write_trump(trump))


def trump_of(view: Seen) -> Trump | None:
    """The trump of the deal in a view; None until it is named."""
    return None if view.contract.agreed is None else view.contract.agreed.trump
