"""Notation: reads and writes cards as short text.

`♠7` or `s7` is the 7 of spades, `🃏` or `BJ` the big joker, `🃟` or `SJ` the small joker. Spaces between cards are
optional (`♠7 ♥10`, `s7h10`). Suit letters are small, because `SJ` is the small joker and `sJ` the J of spades. Chinese
is read too: `黑桃7`, `红桃十`, `大王`.
"""

import re
from dataclasses import dataclass
from typing import Final, final

from erqiwang_core.kernel.cards import FACES, KINDS, Face, Joker, Rank, Suit, Suited, kind, kind_of
from erqiwang_core.kernel.hand import ids
from erqiwang_core.kernel.trump import NoTrump, Order, SuitTrump, Trump, order
from erqiwang_core.units import CardId, CardSet, Kind


@final
@dataclass(frozen=True, slots=True)
class UnreadableCard:
    """The text has something else where a card is expected."""

    word: str


@final
@dataclass(frozen=True, slots=True)
class ThirdCopy:
    """The text names a card three times; each card has only two copies."""

    kind: Kind


@final
@dataclass(frozen=True, slots=True)
class UnreadableTrump:
    """The text names no trump choice."""

    word: str


_SUIT_SIGNS: Final = {Suit.SPADES: "♠", Suit.HEARTS: "♥", Suit.CLUBS: "♣", Suit.DIAMONDS: "♦"}
_SUIT_LETTERS: Final = {Suit.SPADES: "s", Suit.HEARTS: "h", Suit.CLUBS: "c", Suit.DIAMONDS: "d"}
_RANK_SIGNS: Final = {Rank.ACE: "A", Rank.JACK: "J", Rank.QUEEN: "Q", Rank.KING: "K"}
_JOKER_SIGNS: Final = {Joker.BIG: "🃏", Joker.SMALL: "🃟"}
_JOKER_LETTERS: Final = {Joker.BIG: "BJ", Joker.SMALL: "SJ"}
_NO_TRUMP: Final = "no trump"
_NO_TRUMP_WORDS: Final = (_NO_TRUMP, "notrump", "nt", "无主", "無主", "全常主")

_CHINESE_SUITS: Final = {
    "黑桃": Suit.SPADES,
    "红桃": Suit.HEARTS,
    "红心": Suit.HEARTS,
    "紅桃": Suit.HEARTS,
    "紅心": Suit.HEARTS,
    "梅花": Suit.CLUBS,
    "草花": Suit.CLUBS,
    "方块": Suit.DIAMONDS,
    "方片": Suit.DIAMONDS,
    "方塊": Suit.DIAMONDS,
}
_CHINESE_JOKERS: Final = {"大王": Joker.BIG, "小王": Joker.SMALL}
_CHINESE_RANKS: Final = {numeral: Rank(value) for value, numeral in enumerate("二三四五六七八九十", start=2)}

_SUITS: Final = {sign: suit for signs in (_SUIT_SIGNS, _SUIT_LETTERS) for suit, sign in signs.items()} | _CHINESE_SUITS
_JOKERS: Final = {
    sign: joker for signs in (_JOKER_SIGNS, _JOKER_LETTERS) for joker, sign in signs.items()
} | _CHINESE_JOKERS
_RANKS: Final = {_RANK_SIGNS.get(rank, str(rank.value)): rank for rank in Rank} | {"T": Rank.TEN} | _CHINESE_RANKS

# Some keyboards add U+FE0F to a suit's sign, which asks for its coloured form. It is skipped.
_CARD: Final = re.compile(
    rf"(?P<joker>{'|'.join(_JOKERS)})|(?P<suit>{'|'.join(_SUITS)})\ufe0f?(?P<rank>(?i:{'|'.join(_RANKS)}))"
)
_BETWEEN: Final = re.compile(r"[\s,，、]*")
_WORD: Final = re.compile(r"[^\s,，、]+")


def write_card(card: Kind) -> str:
    """The text of one card, such as `♠7` or `🃏`."""
    face = FACES[card]
    match face:
        case Joker():
            return _JOKER_SIGNS[face]
        case Suited(suit, rank):
            return _SUIT_SIGNS[suit] + _RANK_SIGNS.get(rank, str(rank.value))


def write(cards: CardSet, trump: Trump | None = None) -> str:
    """The text of a set of cards, sorted as by `in_order`. Without a `trump`, jokers, 7s and 2s come first."""
    return " ".join(write_card(kind(card)) for card in in_order(order(trump or NoTrump()), cards))


def in_order(tables: Order, cards: CardSet) -> tuple[CardId, ...]:
    """The cards as a player sorts them: trumps, spades, hearts, clubs, diamonds, each from the highest down."""

    def place(card: CardId) -> tuple[int, int, int, int]:
        # Cards of one level are sorted by kind, so that the two cards of a pair are neighbours.
        group = tables.group[card % KINDS]
        return (-group if group else -len(tables.cards), -tables.strength[card % KINDS], -(card % KINDS), card)

    return tuple(sorted(ids(cards), key=place))


def read(text: str) -> CardSet | UnreadableCard | ThirdCopy:
    """The cards that `text` names. A card named once is the first deck's copy; named twice, it is both copies."""
    found = 0
    place = _end(_BETWEEN, text, 0)
    while place < len(text):
        face = _face_at(text, place)
        if face is None:
            return UnreadableCard(_word_at(text, place))
        number = kind_of(face)
        copy = 1 << number if not found >> number & 1 else 1 << KINDS + number
        if found & copy:
            return ThirdCopy(number)
        found |= copy
        place = _end(_BETWEEN, text, _end(_CARD, text, place))
    return CardSet(found)


def _face_at(text: str, place: int) -> Face | None:
    found = _CARD.match(text, place)
    if found is None:
        return None
    if found["joker"]:
        return _JOKERS[found["joker"]]
    return Suited(_SUITS[found["suit"]], _RANKS[found["rank"].upper()])


def _word_at(text: str, place: int) -> str:
    return text[place : _end(_WORD, text, place)]


def _end(pattern: re.Pattern[str], text: str, place: int) -> int:
    found = pattern.match(text, place)
    return found.end() if found else place


def write_trump(trump: Trump) -> str:
    """The text of a trump choice, which `read_trump` reads back."""
    match trump:
        case SuitTrump(suit):
            return _SUIT_SIGNS[suit]
        case NoTrump():
            return _NO_TRUMP


def read_trump(text: str) -> Trump | UnreadableTrump:
    """The trump choice that `text` names: a suit by its sign, letter or name, or `no trump` (`nt`, 无主)."""
    word = " ".join(text.replace("\ufe0f", "").lower().replace("-", " ").split())
    if word in _NO_TRUMP_WORDS:
        return NoTrump()
    if word in _CHINESE_SUITS:
        return SuitTrump(_CHINESE_SUITS[word])
    for suit in Suit:
        if word in (_SUIT_SIGNS[suit], _SUIT_LETTERS[suit], suit.name.lower()):
            return SuitTrump(suit)
    return UnreadableTrump(text)
