"""A person's seat: prints what the seat is told, asks what it must do, and does what the person types."""

from __future__ import annotations

import asyncio
from enum import Enum
from typing import Final, final

from erqiwang_core.kernel.trick import Trick
from erqiwang_core.match import Command
from erqiwang_core.players.reading import may_signal
from erqiwang_core.playing import Request, Signal, Signalled, TrumpsShown
from erqiwang_core.refusals import Phase
from erqiwang_core.units import Seat
from rich.console import Console
from rich.text import Text

from erqiwang_grpc.names import printable
from erqiwang_grpc.rpc.wire.encode.commands import command
from erqiwang_grpc.rpc.wire.requests import command as decoded
from erqiwang_grpc.tools.terminal.card_text import cards, trump_of
from erqiwang_grpc.tools.terminal.hearing import Attached, Heard, Hearing, Noticed, Present, RefusedTo
from erqiwang_grpc.tools.terminal.keyboard import Keyboard
from erqiwang_grpc.tools.terminal.questions import HELP, Ask, Look, Quit, Typed, Unclear, hinted, question, typed
from erqiwang_grpc.tools.terminal.refusal_text import explained
from erqiwang_grpc.tools.terminal.seat_names import name, names
from erqiwang_grpc.tools.terminal.telling import Teller, trick
from erqiwang_grpc.v1 import playing_pb2, seat_service_pb2 as pb

_TICK_SECONDS: Final = 1.0


class Ending(Enum):
    """How a person's game ended."""

    OVER = "over"
    """The match is over."""
    LEFT = "left"
    """The person left, or the input ended."""
    LOST = "lost"
    """The server ended the stream for good."""


@final
class Person:
    """One seat, played by a person at the terminal."""

    def __init__(self, seat: Hearing, console: Console) -> None:
        self._seat = seat
        self._console = console
        self._teller = Teller(console)
        self._keyboard = Keyboard()
        self._prompted = False
        self._asked_at = 0
        """The version at which the last question was printed in full; 0 to print it in full next time."""
        self._sending: set[asyncio.Task[object]] = set()

    async def play(self) -> Ending:
        """Play until the match is over, the person leaves, or the stream ends for good."""
        self._teller.say("Type help for a list of what you can type.")
        hearing = asyncio.create_task(self._seat.next())
        typing = asyncio.create_task(self._keyboard.line())
        losing = asyncio.create_task(self._next_loss())
        try:
            while True:
                await asyncio.wait(
                    {hearing, typing, losing}, timeout=_TICK_SECONDS, return_when=asyncio.FIRST_COMPLETED
                )
                # Messages come before typed lines, because a line answers the newest question.
                if hearing.done():
                    heard = hearing.result()
                    if heard is None:
                        return self._lost()
                    self._hear(heard)
                    if self._seat.view.progress.phase is Phase.OVER and self._seat.is_up_to_date:
                        return Ending.OVER
                    hearing = asyncio.create_task(self._seat.next())
                elif losing.done() and self._seat.client.ended is None:
                    self._tell_loss()
                    losing = asyncio.create_task(self._next_loss())
                elif typing.done():
                    if self._obey(typing.result()) is Quit.QUIT:
                        return Ending.LEFT
                    typing = asyncio.create_task(self._keyboard.line())
                else:
                    self._tick()
        finally:
            hearing.cancel()
            typing.cancel()
            losing.cancel()

    async def _next_loss(self) -> None:
        """Wait until the seat is connected, and then until the connection is lost."""
        client = self._seat.client
        await client.until(lambda: client.connected)
        await client.until(lambda: not client.connected)

    def _tell_loss(self) -> None:
        self._break_prompt()
        self._say("The connection is lost. Trying again; what you type meanwhile is sent when it is back.")
        self._asked_at = 0

    def _lost(self) -> Ending:
        self._break_prompt()
        ended = self._seat.client.ended
        self._say("The stream has ended." if ended is None else f"The stream has ended: {printable(ended.why)}.")
        return Ending.LOST

    def _hear(self, heard: Heard) -> None:
        view = self._seat.view
        if isinstance(heard, Present) and all(heard.seats):
            return
        self._break_prompt()
        match heard:
            case Attached():
                self._asked_at = 0
                self._teller.begin((view,))
            case Noticed(cause=cause):
                self._teller.tell(cause, (view,))
            case Signalled(sender, signal):
                self._teller.signalled(sender, signal, view)
            case TrumpsShown(trumps=held):
                for seat, trumps in held:
                    self._say(Text.assemble(f"{name(view, seat)} holds ", cards(trumps, trump_of(view))))
            case RefusedTo(refusal):
                self._say(explained(refusal, view))
            case Present(present):
                away = (Seat(seat) for seat, there in enumerate(present) if not there)
                self._say(f"Not there: {names(view, away)}.")
        self._ask()

    def _obey(self, line: str | None) -> Quit | None:
        """Do what a line says; None is the end of the input. Gives `Quit` if the person leaves."""
        self._prompted = False
        meant: Typed = Quit.QUIT if line is None else typed(line, self._seat.view)
        if isinstance(meant, Quit):
            self._say("You leave the table.")
            return meant
        if isinstance(meant, Unclear):
            self._say(f"{meant.why[:1].upper()}{meant.why[1:]}.")
            self._ask()
        elif isinstance(meant, Ask):
            self._keep(asyncio.create_task(self._hint()))
        elif isinstance(meant, Look):
            self._look(meant)
            self._asked_at = 0
            self._ask(show_hand=meant is not Look.HAND)
        else:
            self._send(meant)
        return None

    def _send(self, meant: Command | Request) -> None:
        """Send a command without waiting for the answer: its events, or its refusal, are read from the stream."""
        if isinstance(meant, Signal):
            self._seat.client.signal(playing_pb2.SignalKind.ValueType(meant.signal))
            # If the seat may not signal, the server refuses, and the refusal is printed instead.
            if may_signal(self._seat.view):
                self._say("Signalled: the other defenders hear it, and there is no receipt.")
                self._ask()
            return
        self._keep(asyncio.create_task(self._seat.client.act(command(meant))))

    def _keep(self, sending: asyncio.Task[object]) -> None:
        self._sending.add(sending)
        sending.add_done_callback(self._sending.discard)

    async def _hint(self) -> None:
        """Ask for a hint and say it, unless the table has moved on. A refusal is read from the stream, and told there."""
        given = await self._seat.client.hint()
        if not isinstance(given, pb.Hint) or given.version != self._seat.version:
            return
        meant = decoded(given.command)
        if isinstance(meant, Command):
            self._break_prompt()
            self._say(Text.assemble("A sensible player would 支招: ", hinted(meant, self._seat.view)))
            self._ask()

    def _look(self, at: Look) -> None:
        view = self._seat.view
        match at:
            case Look.HELP:
                self._say(HELP)
            case Look.HAND:
                self._say(Text.assemble("Your hand: ", cards(view.hand.cards, trump_of(view))))
                if view.buried.cards:
                    self._say(Text.assemble("You have buried: ", cards(view.buried.cards, trump_of(view))))
            case Look.TABLE:
                lying = view.table.trick
                self._say("Nothing lies on the table." if lying is None else self._lying(lying))
            case Look.HISTORY:
                self._history()
            case Look.CAPTURED:
                caught = view.captured
                self._say(f"The defenders have captured {caught.points} points: multiplier {caught.multiplier}.")
                if view.captured_cards.cards:
                    self._say(Text.assemble("Their point cards: ", cards(view.captured_cards.cards, trump_of(view))))

    def _lying(self, lying: Trick) -> Text:
        view = self._seat.view
        return trick(view, view.table.number, lying, finished=len(lying.plays) == len(view.chairs.players))

    def _history(self) -> None:
        view = self._seat.view
        if not view.options.review:
            self._say("This room does not show past tricks (不查牌).")
        elif not view.history.tricks:
            self._say("No trick is finished yet.")
        for number, played in enumerate(view.history.tricks, start=1):
            self._say(trick(view, number, played, finished=True))
        for seat, held in view.trump_counts.counts:
            self._say(f"{name(view, seat)} holds {held.trumps} trumps, {held.pairs} pairs among them.")

    # The prompt

    def _ask(self, *, show_hand: bool = True) -> None:
        """Ask what the seat must do, if every event was told. For a question that was already printed, only prompt."""
        if not self._seat.is_up_to_date:
            return
        asked = question(self._seat.view, show_hand=show_hand)
        if asked is not None:
            if self._asked_at != self._seat.version:
                self._say(asked)
            self._asked_at = self._seat.version
            self._teller.end_line()
            self._console.print(f"{self._countdown()}> ", end="", markup=False, highlight=False)
            self._prompted = True

    def _tick(self) -> None:
        """Print the countdown over the old one, and leave what is being typed. Nothing happens when it runs out."""
        if self._prompted and self._console.is_terminal:
            save, restore = "\x1b7", "\x1b8"
            self._console.file.write(f"{save}\r{self._countdown()}{restore}")
            self._console.file.flush()

    def _countdown(self) -> str:
        """The seconds left for the turn, or blanks if the room has no countdown. The width is always the same."""
        turn = self._seat.client.view.parts.turn
        if not turn.countdown:
            return "[     ] "
        left = turn.countdown - (self._seat.client.server_time_ns - turn.began.ToNanoseconds()) / 1e9
        return f"[{max(0, min(turn.countdown, round(left))):>3} s] "

    def _break_prompt(self) -> None:
        if self._prompted:
            self._console.print()
        self._prompted = False

    def _say(self, what: str | Text) -> None:
        self._teller.say(what)
