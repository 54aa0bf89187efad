"""Tells a match event by event: a line for each call and each trick, and every settlement in full."""

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
from erqiwang_core.refusals import Phase
from erqiwang_core.rules import game_rules
from erqiwang_core.units import Seat
from rich.console import Console
from rich.rule import Rule
from rich.text import Text

from erqiwang_grpc.names import printable
from erqiwang_grpc.tools import wording
from erqiwang_grpc.tools.terminal.card_text import cards, trump_name, trump_of
from erqiwang_grpc.tools.terminal.lines import Lines
from erqiwang_grpc.tools.terminal.seat_names import name, names
from erqiwang_grpc.tools.terminal.settlement_text import account, settlement

SIGNALS: Final = {
    SignalKind.CAN_BEAT: "can beat 踩",
    SignalKind.NO_POINTS: "no points 没分",
    SignalKind.HAS_POINTS: "has points 有分",
}

FAILED_THROW: Final = " (a failed throw 甩错)"


@final
class Teller:
    """Prints a match on a console. It tells only what the given views show; at least one must be given each time.

    What all views share is read from the first one. Hands and buried cards are printed from every view that has them.
    """

    def __init__(self, console: Console) -> None:
        self.console = console
        self._lines = Lines(console)

    def begin(self, views: Sequence[Seen]) -> None:
        """Print how the match stands, for a person who joins it."""
        view = views[0]
        if view.progress.phase is Phase.OPEN:
            self.say("Waiting for the other seats to be taken.")
            return
        if view.progress.deal:
            self._deal(views)
            self._bidding_so_far(view)
            self._play_so_far(views)
        if view.settlement.result is not None:
            self.console.print(settlement(view, view.settlement.result))
        if view.account.account is not None:
            self.console.print(account(view, view.account.account))

    def _bidding_so_far(self, view: Seen) -> None:
        for call in view.auction.calls:
            self._called(call, view)
        agreed = view.contract.agreed
        if agreed is not None:
            self.say(f"{name(view, agreed.declarer)} is the declarer 庄家 at {agreed.bid}.")
        if agreed is not None and agreed.trump is not None:
            self.say(Text.assemble("Trump is ", trump_name(agreed.trump), "."))
        if isinstance(view, View) and view.kitty.cards:
            self.say(Text.assemble("The kitty 底牌: ", cards(view.kitty.cards, trump_of(view))))

    def _play_so_far(self, views: Sequence[Seen]) -> None:
        view = views[0]
        agreed = view.contract.agreed
        if agreed is None or view.progress.phase is not Phase.PLAYING:
            return
        self._buried(agreed.declarer, views)
        self._void(view.trump_void.announced, view.trump_void.statements, view)
        self.say(f"The defenders have captured {view.captured.points}.")
        lying = view.table.trick
        if lying is not None:
            done = len(lying.plays) == len(view.chairs.players)
            self.say(trick(view, view.table.number, lying, finished=done))

    def _called(self, call: BidMade | BidPassed, view: Seen) -> None:
        match call:
            case BidMade(seat, bid):
                self.say(f"{name(view, seat)} bids {bid}")
            case BidPassed(seat):
                self.say(f"{name(view, seat)} passes 不叫")

    def tell(self, cause: Cause, views: Sequence[Seen]) -> None:
        """Print an event. The views are those after the event."""
        view = views[0]
        match cause:
            case SeatTaken(seat, player):
                self.say(f"{printable(player)} takes seat {seat}.")
            case SeatLeft(seat):
                self.say(f"Seat {seat} is free again.")
            case Dealt():
                self._deal(views)
            case BidMade() | BidPassed():
                self._called(cause, view)
            case DeclarerFound():
                self._declarer(cause, views)
            case TrumpNamed(trump):
                self.say(Text.assemble("Trump is ", trump_name(trump), "."))
            case BuriedBy():
                self._buried(cause.declarer, views)
                self._void(cause.void, cause.statements, views[0])
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
        """Print a signal that a seat received, at the end of the line in progress. `view` is that seat's."""
        self._go_on(Text(f"  ({name(view, sender)} signals: {SIGNALS[signal]})"))

    def say(self, line: str | Text) -> None:
        """Print a line of its own."""
        self._lines.say(Text(line) if isinstance(line, str) else line)

    def _go_on(self, text: Text) -> None:
        self._lines.go_on(text)

    def end_line(self) -> None:
        """End the line, if one was begun."""
        self._lines.end()

    def _deal(self, views: Sequence[Seen]) -> None:
        view = views[0]
        self.say("")
        self.console.print(Rule(f"Deal {view.progress.deal} of {view.progress.deals}"))
        for seen in _of_seats(views):
            if seen.hand.cards:
                self.say(Text.assemble(f"{name(seen, seen.seat)}: ", cards(seen.hand.cards, trump_of(seen))))
        if view.progress.first_bidder is not None and view.progress.phase is Phase.BIDDING and not view.auction.calls:
            self.say(f"{name(view, view.progress.first_bidder)} opens the bidding.")

    def _declarer(self, found: DeclarerFound, views: Sequence[Seen]) -> None:
        view = views[0]
        self.say(f"{name(view, found.declarer)} is the declarer 庄家 at {found.bid}.")
        seen = next((each.kitty.cards for each in _of_seats(views) if each.kitty.cards), found.shown)
        if seen:
            shown = "The kitty 底牌, shown to all: " if found.shown else "The kitty 底牌: "
            self.say(Text.assemble(shown, cards(seen)))

    def _buried(self, declarer: Seat, views: Sequence[Seen]) -> None:
        view = views[0]
        buried = next((each.buried.cards for each in _of_seats(views) if each.buried.cards), None)
        line = Text(f"{name(view, declarer)} buries ")
        if buried:
            line.append_text(cards(buried, trump_of(view))).append(f", {wording.number_of(points(buried), 'point')}")
        else:
            kitty_size = game_rules(view.options.game, view.options.review).kitty_size
            line.append(wording.number_of(kitty_size, "card"))
        self.say(line.append("."))
        counts = next((each.disclosed.disclosure for each in _of_seats(views) if each.disclosed.disclosure), None)
        if counts is not None:
            self.say(f"{name(view, declarer)} discloses 亮牌: {disclosed(counts)}.")

    def _led(self, led: Led, view: Seen) -> None:
        self.end_line()
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
        indent = "  " if self._lines.in_line else "     "
        self._go_on(Text.assemble(f"{indent}{name(view, followed.seat)} ", cards(followed.cards, trump_of(view))))
        if followed.taken is not None:
            self._go_on(_taken(followed.taken, view))
        self._void(followed.void, followed.statements, view)
        if followed.taken is not None:
            self.end_line()

    def _void(self, void: Sequence[Seat], stated: Sequence[Statement], view: Seen) -> None:
        if void:
            self._go_on(Text(f"  (void of trump 报无主: {names(view, void)})"))
        for told in stated:
            pair = "a pair among them" if told.has_pair else "no pair"
            self._go_on(Text(f"  ({name(view, told.seat)} tells: {wording.number_of(told.trumps, 'trump')}, {pair})"))


def _of_seats(views: Sequence[Seen]) -> list[View]:
    """The views of seats. The public's view has no hand."""
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


def trick(view: Seen, number: int, played: Trick, *, finished: bool) -> Text:
    """A trick of the deal on one line, with its winner, or if it is not `finished`, with the seat that is ahead.

    `number` is its place in the deal, from 1.
    """
    line = Text(f"{number:>3}")
    for place, each in enumerate(played.plays):
        line.append_text(Text.assemble(f"  {name(view, each.seat)} ", cards(each.cards, trump_of(view))))
        if not place:
            line.append(FAILED_THROW if played.failed_throw else _shape(played.lead.shape))
    return line.append(f"  → {name(view, played.ahead)}" if finished else f"  ({name(view, played.ahead)} is ahead)")


def disclosed(told: Disclosure) -> str:
    """The declarer's disclosure (亮牌) in words."""
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
