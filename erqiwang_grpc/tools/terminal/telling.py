"""Telling a match as it goes: a line for every call, one for every trick, and the settlement in full."""

from collections.abc import Sequence
from typing import Final, final

from erqiwang_core.bidding import DeclarerFound
from erqiwang_core.calls import BidMade, BidPassed
from erqiwang_core.disclosure import Disclosure, Statement
from erqiwang_core.kernel.hand import points
from erqiwang_core.kernel.shapes import Pair, Shape, Single, Throw, Tractor
from erqiwang_core.kernel.trick import Trick
from erqiwang_core.match import SeatLeft, SeatReady, SeatTaken
from erqiwang_core.naming import TrumpNamed
from erqiwang_core.notices import BuriedBy, Cause, DealEnded, Dealt, Led, MatchOver
from erqiwang_core.parts import Seen, View
from erqiwang_core.playing import CardsFollowed, SignalKind, TrickTaken
from erqiwang_core.units import Seat
from rich.console import Console
from rich.rule import Rule
from rich.text import Text

from erqiwang_grpc.tools import wording
from erqiwang_grpc.tools.terminal.cards import cards, trump_name, trump_of
from erqiwang_grpc.tools.terminal.names import name, names
from erqiwang_grpc.tools.terminal.settlements import account, settlement

SIGNALS: Final = {
    SignalKind.CAN_BEAT: "can beat 踩",
    SignalKind.NO_POINTS: "no points 没分",
    SignalKind.HAS_POINTS: "has points 有分",
}


@final
class Teller:
    """Tells a match on a console, as far as the views that it is handed show it; the first view is whose story it is."""

    def __init__(self, console: Console) -> None:
        self.console = console
        self._in_line = False

    def begin(self, views: Sequence[Seen]) -> None:
        """Where the match stands, to whoever comes in."""
        view = views[0]
        if not view.progress.deal:
            self.say("Waiting for the other seats to be taken.")
            return
        self._deal(views)
        if view.contract.agreed is not None:
            agreed = view.contract.agreed
            self.say(f"{name(view, agreed.declarer)} is the declarer at {agreed.bid}.")
            if agreed.trump is not None:
                self.say(Text.assemble("Trump is ", trump_name(agreed.trump), "."))
        if view.settlement.result is not None:
            self.console.print(settlement(view, view.settlement.result))

    def tell(self, cause: Cause, views: Sequence[Seen]) -> None:
        """What has happened; the views are those after it."""
        view = views[0]
        match cause:
            case SeatTaken(seat, player):
                self.say(f"{player} takes seat {seat}.")
            case SeatLeft(seat):
                self.say(f"Seat {seat} is free again.")
            case Dealt():
                self._deal(views)
            case BidMade(seat, bid):
                self.say(f"{name(view, seat)} bids {bid}")
            case BidPassed(seat):
                self.say(f"{name(view, seat)} passes 不叫")
            case DeclarerFound():
                self._declarer(cause, views)
            case TrumpNamed(trump):
                self.say(Text.assemble("Trump is ", trump_name(trump), "."))
            case BuriedBy():
                self._buried(cause, views)
            case Led():
                self._led(cause, view)
            case CardsFollowed():
                self._followed(cause, view)
            case DealEnded():
                if view.settlement.result is not None:
                    self.say("")
                    self.console.print(settlement(view, view.settlement.result))
            case SeatReady(seat):
                self.say(f"{name(view, seat)} is ready 准备.")
            case MatchOver():
                if view.account.account is not None:
                    self.say("")
                    self.console.print(account(view, view.account.account))

    def signalled(self, sender: Seat, signal: SignalKind, view: Seen) -> None:
        """A signal that one of the seats was told."""
        self._go_on(Text(f"  ({name(view, sender)} signals: {SIGNALS[signal]})"))

    def say(self, line: str | Text) -> None:
        """A line of its own."""
        self._end_line()
        self.console.print(line, soft_wrap=True, highlight=False)

    def _go_on(self, text: Text) -> None:
        """More of a line."""
        self.console.print(text, end="", soft_wrap=True, highlight=False)
        self._in_line = True

    def _end_line(self) -> None:
        """End a line that was begun."""
        if self._in_line:
            self.console.print()
        self._in_line = False

    def _deal(self, views: Sequence[Seen]) -> None:
        view = views[0]
        self.say("")
        self.console.print(Rule(f"Deal {view.progress.deal} of {view.progress.deals}"))
        for seen in _of_seats(views):
            if seen.hand.cards:
                self.say(Text.assemble(f"{name(seen, seen.seat)}: ", cards(seen.hand.cards, trump_of(seen))))
        if view.progress.first_bidder is not None:
            self.say(f"{name(view, view.progress.first_bidder)} opens the bidding.")

    def _declarer(self, found: DeclarerFound, views: Sequence[Seen]) -> None:
        view = views[0]
        self.say(f"{name(view, found.declarer)} is the declarer 庄家 at {found.bid}.")
        seen = next((each.kitty.cards for each in _of_seats(views) if each.kitty.cards), found.shown)
        if seen:
            shown = "The kitty 底牌, shown to all: " if found.shown else "The kitty 底牌: "
            self.say(Text.assemble(shown, cards(seen)))

    def _buried(self, told: BuriedBy, views: Sequence[Seen]) -> None:
        view, declarer = views[0], told.declarer
        buried = next((each.buried.cards for each in _of_seats(views) if each.buried.cards), None)
        line = Text(f"{name(view, declarer)} buries ")
        if buried:
            line.append_text(cards(buried, trump_of(view))).append(f", {wording.number_of(points(buried), 'point')}")
        else:
            line.append("8 cards")
        self.say(line.append("."))
        counts = next((each.disclosed.disclosure for each in _of_seats(views) if each.disclosed.disclosure), None)
        if counts is not None:
            self.say(f"{name(view, declarer)} discloses 亮牌: {disclosed(counts)}.")
        self._void(told.void, told.statements, view)

    def _led(self, led: Led, view: Seen) -> None:
        self._end_line()
        shape = _shape(led.lead.shape)
        self._go_on(
            Text.assemble(f"{view.table.number:>3}  {name(view, led.seat)} ", cards(led.cards, trump_of(view)), shape)
        )
        if led.failed_throw:
            attempted = (
                Text("") if led.attempted is None else Text.assemble(" of ", cards(led.attempted, trump_of(view)))
            )
            self._go_on(Text.assemble(" (a failed throw 甩错", attempted, ")"))
        self._void(led.void, led.statements, view)

    def _followed(self, followed: CardsFollowed, view: Seen) -> None:
        indent = "  " if self._in_line else "     "
        self._go_on(Text.assemble(f"{indent}{name(view, followed.seat)} ", cards(followed.cards, trump_of(view))))
        if followed.taken is not None:
            self._go_on(_taken(followed.taken, view))
        self._void(followed.void, followed.statements, view)
        if followed.taken is not None:
            self._end_line()

    def _void(self, void: Sequence[Seat], stated: Sequence[Statement], view: Seen) -> None:
        if void:
            self._go_on(Text(f"  (void of trump 报无主: {names(view, void)})"))
        for told in stated:
            pair = "a pair among them" if told.has_pair else "no pair"
            self._go_on(Text(f"  ({name(view, told.seat)} tells: {wording.number_of(told.trumps, 'trump')}, {pair})"))


def _of_seats(views: Sequence[Seen]) -> list[View]:
    """The views that hold a seat's own parts."""
    return [seen for seen in views if isinstance(seen, View)]


def _shape(shape: Shape) -> str:
    match shape:
        case Single():
            return ""
        case Pair() | Tractor():
            return f" ({wording.shape(shape)})"
        case Throw():
            return " (a throw 甩牌)"


def _taken(taken: TrickTaken, view: Seen) -> Text:
    if taken.captured:
        return Text(f"  → {name(view, taken.winner)} captures {taken.points}: {view.captured.points} in all")
    return Text(f"  → {name(view, taken.winner)}, {taken.points} gone")


def trick(view: Seen, number: int, played: Trick) -> Text:
    """One finished trick of the deal, for whoever looks back."""
    line = Text(f"{number:>3}")
    for each in played.plays:
        line.append_text(Text.assemble(f"  {name(view, each.seat)} ", cards(each.cards, trump_of(view))))
    return line.append(f"  → {name(view, played.ahead)}")


def disclosed(told: Disclosure) -> str:
    """The declarer's disclosure in words."""
    parts: list[str] = []
    if told.holding is not None:
        held = told.holding
        parts += [
            wording.number_of(held.trumps, "trump"),
            wording.number_of(held.pairs, "pair"),
            wording.number_of(held.tractors, "tractor"),
        ]
    for number, what in ((told.jokers, "jokers"), (told.sevens, "7s"), (told.twos, "2s")):
        if number is not None:
            parts.append(f"{number} {what}")
    return wording.listed(parts)
