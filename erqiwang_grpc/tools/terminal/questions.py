"""Questions to a person: says what the seat must do, and understands what is typed."""

from dataclasses import dataclass
from enum import Enum
from typing import Final, TypeAlias, final

from erqiwang_core.bidding import Bid, Pass
from erqiwang_core.burying import Bury
from erqiwang_core.kernel.cards import KINDS
from erqiwang_core.kernel.hand import EMPTY, cards_of, count, ids, union, within
from erqiwang_core.match import Command, Ready
from erqiwang_core.naming import NameTrump, Surrender, number
from erqiwang_core.notation import UnreadableTrump, read, read_trump
from erqiwang_core.parts import BuryAdvice, CallAdvice, Choice, FollowAdvice, LeadAdvice, NameAdvice, ReadyAdvice, View
from erqiwang_core.players.reading import rules_of
from erqiwang_core.playing import Play, Request, ShowTrumps, Signal, SignalKind
from erqiwang_core.units import CardId, CardSet
from rich.text import Text

from erqiwang_grpc.tools import wording
from erqiwang_grpc.tools.terminal.card_text import cards, marked, trump_name, trump_of
from erqiwang_grpc.tools.terminal.chinese import in_english, number as number_in
from erqiwang_grpc.tools.terminal.refusal_text import not_now

HELP: Final = """\
Cards: s7 or ♠7, h10, dK, cA, 黑桃7; BJ and SJ (大王, 小王) are the jokers;
the same card twice is a pair. Enter alone takes what is suggested.
When you follow, [those] cards are put in for you, (those) may not be played.
  65 · pass          bid, or pass 不叫, when it is your turn to
  s · no trump       name trump (黑桃, 无主)
  surrender          give the deal up 投降, if that is allowed
  s7 s7              bury, lead or follow with those cards
  ready              go on to the next deal 准备
  signal 1 · 2 · 3   tell the other defenders: I can beat 踩, no points 没分,
                     points 有分
  trumps             see the others' trumps 明牌, once a seat has none
  hint               what a sensible player would do 支招, unless the room forbids it
  hand · table       look at your cards 手牌, at the trick that lies there 桌面
  history            look at the past tricks 历史
  captured           look at the points captured 捡分
  help · quit        帮助 · 退出"""


class Look(Enum):
    """What a person may look at without asking the server."""

    HELP = "help"
    HAND = "hand"
    TABLE = "table"
    HISTORY = "history"
    CAPTURED = "captured"


class Ask(Enum):
    """What a person may ask the server that changes nothing."""

    HINT = "hint"


class Quit(Enum):
    """The person wants to leave."""

    QUIT = "quit"


@final
@dataclass(frozen=True, slots=True)
class Unclear:
    """A line that cannot be understood, or that is no answer to what the seat is asked now."""

    why: str
    """The reason, for the person, as a sentence without a capital letter and a full stop."""


Typed: TypeAlias = Command | Request | Look | Ask | Quit | Unclear
"""What a person can mean by a line."""

_SIGNALS: Final = {
    "1": SignalKind.CAN_BEAT,
    "beat": SignalKind.CAN_BEAT,
    "2": SignalKind.NO_POINTS,
    "none": SignalKind.NO_POINTS,
    "3": SignalKind.HAS_POINTS,
    "points": SignalKind.HAS_POINTS,
}


def typed(line: str, view: View) -> Typed:
    """What a person with this view means by a line. The server decides whether a command is allowed."""
    line = in_english(line)
    words = line.lower().split()
    match words:
        case ["help" | "?"]:
            return Look.HELP
        case ["hand" | "table" | "history" | "captured"]:
            return Look(words[0])
        case ["hint"]:
            return Ask.HINT
        case ["quit" | "exit"]:
            return Quit.QUIT
        case ["trumps"]:
            return ShowTrumps()
        case ["ready"]:
            return Ready()
        case ["signal", which] if which in _SIGNALS:
            return Signal(_SIGNALS[which])
        case ["signal", *_]:
            return Unclear("signal 1 (can beat), 2 (no points) or 3 (points)")
        case _:
            return _chosen(line, view)


def _chosen(line: str, view: View) -> Typed:
    choice = view.advice.choice
    if choice is None:
        return Unclear(not_now(view) if line and _kinds(line) else "it is not your turn; help lists what you can type")
    if not line:
        return suggestion(choice)
    kind, kinds = _kind(choice), _kinds(line)
    if kinds and kind not in kinds:
        return Unclear(not_now(view))
    match choice:
        case CallAdvice():
            return _call(line)
        case NameAdvice():
            return _name(line)
        case BuryAdvice(size, _):
            return _bury(line, view, size)
        case LeadAdvice():
            return _play(line, view, EMPTY, 0)
        case FollowAdvice(size, must, _, _):
            return _play(line, view, must, size)
        case ReadyAdvice():
            return Unclear("the deal is settled: ready, or Enter alone, goes on to the next")


def suggestion(choice: Choice) -> Command:
    """The command for Enter alone: what the advice suggests."""
    match choice:
        case CallAdvice(suggestion=call):
            return call
        case NameAdvice(suggestion=trump):
            return NameTrump(number(trump))
        case BuryAdvice(suggestion=burial):
            return Bury(ids(burial))
        case LeadAdvice(suggestion=play) | FollowAdvice(suggestion=play):
            return Play(ids(play))
        case ReadyAdvice():
            return Ready()


def hinted(hint: Command, view: View) -> Text:
    """A hint, as the person could type it."""
    match hint:
        case Bid(points):
            return Text(str(points))
        case Pass():
            return Text("pass")
        case NameTrump(trump):
            named = next(each for each in rules_of(view).trumps if number(each) == trump)
            return trump_name(named)
        case Surrender():
            return Text("surrender")
        case Bury(chosen) | Play(chosen):
            return cards(cards_of(CardId(card) for card in chosen), trump_of(view))
        case Ready():
            return Text("ready")


class _Kind(Enum):
    """What a line can be an answer to."""

    CALL = "call"
    NAME = "name"
    CARDS = "cards"


def _kind(choice: Choice) -> _Kind | None:
    """The kind of answer that a choice needs; None if the seat only has to be ready."""
    match choice:
        case CallAdvice():
            return _Kind.CALL
        case NameAdvice():
            return _Kind.NAME
        case BuryAdvice() | LeadAdvice() | FollowAdvice():
            return _Kind.CARDS
        case ReadyAdvice():
            return None


def _kinds(line: str) -> set[_Kind]:
    """The kinds of answer that a line would be at some time; empty if it is never understood."""
    answers = {
        _Kind.CALL: line.lower() in _PASS or number_in(line) is not None,
        _Kind.NAME: line.lower() == _SURRENDER or not isinstance(read_trump(line), UnreadableTrump),
        _Kind.CARDS: isinstance(read(line), int),
    }
    return {kind for kind, is_one in answers.items() if is_one}


_PASS: Final = ("pass", "p")
_SURRENDER: Final = "surrender"


def _call(line: str) -> Typed:
    if line.lower() in _PASS:
        return Pass()
    points = number_in(line)
    if points is not None:
        return Bid(points)
    return Unclear(f"{line!r} is no bid: type a number of points, or pass")


def _name(line: str) -> Typed:
    if line.lower() == _SURRENDER:
        return Surrender()
    trump = read_trump(line)
    return Unclear(wording.unreadable(trump)) if isinstance(trump, UnreadableTrump) else NameTrump(number(trump))


def _bury(line: str, view: View, size: int) -> Typed:
    chosen = _cards(line, view)
    if isinstance(chosen, Unclear):
        return chosen
    if count(chosen) != size:
        return Unclear(f"{wording.number_of(count(chosen), 'card')} named, and {size} are to be buried")
    return Bury(ids(chosen))


def _play(line: str, view: View, must: CardSet, size: int) -> Typed:
    """A play of the named cards. If they are fewer than `size`, the cards in `must` are added."""
    chosen = _cards(line, view)
    if isinstance(chosen, Unclear):
        return chosen
    return Play(ids(union(chosen, must) if count(chosen) < size else chosen))


def _cards(line: str, view: View) -> CardSet | Unclear:
    named = read(line)
    if not isinstance(named, int):
        return Unclear(wording.unreadable(named))
    held = held_copies(view.hand.cards, named)
    if within(held, view.hand.cards):
        return held
    missing = CardSet(held & ~view.hand.cards)
    return Unclear(f"you do not hold {cards(missing).plain}")


def held_copies(hand: CardSet, named: CardSet) -> CardSet:
    """The named cards, with copies that the hand holds: a text does not say which of the two copies it means.

    A card of which the hand has no copy left stays as it was named.
    """
    chosen: list[CardId] = []
    for card in ids(named):
        other = CardId((card + KINDS) % (2 * KINDS))
        free = [copy for copy in (card, other) if hand >> copy & 1 and copy not in chosen]
        chosen.append(free[0] if free else card)
    return cards_of(chosen)


def question(view: View, *, show_hand: bool = True) -> Text | None:
    """The question to the seat, below its hand if `show_hand`; None if the seat has nothing to do."""
    choice = view.advice.choice
    if choice is None:
        return None
    held = [_hand(view, choice)] if show_hand and not isinstance(choice, ReadyAdvice) else []
    return Text("\n").join([*held, *_asked(view, choice)])


def _hand(view: View, choice: Choice) -> Text:
    must, may = (choice.must, choice.may) if isinstance(choice, FollowAdvice) else (EMPTY, EMPTY)
    return Text.assemble("Your hand: ", marked(view.hand.cards, trump_of(view), must, may))


def _asked(view: View, choice: Choice) -> list[Text]:
    match choice:
        case CallAdvice(bids, may_pass, call):
            can = ", ".join([*(str(bid) for bid in bids), *(["pass"] if may_pass else [])])
            entered = "pass" if isinstance(call, Pass) else str(call.points)
            return [Text(f"Bid 叫分: {can}"), Text(f"Enter: {entered}")]
        case NameAdvice(trumps, may_surrender, trump):
            names = [
                Text.assemble(trump_name(each), f" ({wording.number_of(pairs, 'pair')})") for each, pairs in trumps
            ]
            can_surrender = Text(", or surrender 投降") if may_surrender else Text("")
            return [
                Text.assemble("Name trump 选主: ", Text(", ").join(names), can_surrender),
                Text.assemble("Enter: ", trump_name(trump)),
            ]
        case BuryAdvice(size, burial):
            return [Text(f"Bury {size} cards 埋牌."), Text.assemble("Enter: ", cards(burial, trump_of(view)))]
        case LeadAdvice(play):
            return [Text("You lead."), Text.assemble("Enter: ", cards(play, trump_of(view)))]
        case FollowAdvice(size, must, _, play):
            fixed = Text("") if not must else Text.assemble(", among them ", cards(must, trump_of(view)))
            return [
                Text.assemble(f"Follow with {wording.number_of(size, 'card')}", fixed, "."),
                Text.assemble("Enter: ", cards(play, trump_of(view))),
            ]
        case ReadyAdvice():
            return [Text("Ready for the next deal 准备? Enter: ready")]
