"""The client of a seat: attaches somewhere, folds what it is told, plays by its view alone, and repeats what was not answered."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Final, TypeAlias, final

from erqiwang_core.bidding import Bid, Pass
from erqiwang_core.match import Player, Ready
from erqiwang_core.naming import NameTrump, Surrender
from erqiwang_core.notices import fold
from erqiwang_core.parts import CallAdvice, NameAdvice, View
from erqiwang_core.players import RandomLegal
from erqiwang_core.playing import Play, ShowTrumps, Signal
from erqiwang_core.units import Seat

from erqiwang_grpc.events.actor import SeatActor
from erqiwang_grpc.rooms.command import Accepted, Answer, SeatAsks, SeatCommand
from erqiwang_grpc.rooms.fingerprint import command_key
from erqiwang_grpc.rooms.listener import Beginning, Told
from erqiwang_grpc.rooms.refusals import OutcomeUnknown, StoreUnavailable
from erqiwang_grpc.store import RoomId, Version
from tests.simulation.ear import Ear, Message
from tests.simulation.node import LOST, Lost, SimulatedNode, Stream
from tests.simulation.scene import Scene

Outcome: TypeAlias = Answer | Lost

_FOOLISH: Final[tuple[SeatCommand, ...]] = (
    Bid(70),
    Bid(5),
    Pass(),
    NameTrump(9),
    Surrender(),
    Play((0,)),
    Play(()),
    Ready(),
    Signal(1),
    ShowTrumps(),
)
_WITHOUT_ID: Final = 0.05
_EXPECTING: Final = 0.3
_OVER_STREAM: Final = 0.7
_GIVES_UP: Final = 0.05
_NOTICED: Final = 0.7
_THINKS: Final = (0.0, 0.0, 0.02, 0.5)


@final
class SeatClient:
    """The client of one seat. A `hasty` player surrenders where it may, so that a match ends soon."""

    def __init__(
        self, scene: Scene, nodes: Sequence[SimulatedNode], room: RoomId, seat: Seat, player: Player, *, hasty: bool
    ) -> None:
        self.version: int | None = None
        self.stream: Stream | None = None
        self._scene = scene
        self._nodes = nodes
        self._room = room
        self._seat = seat
        self._actor = SeatActor(seat, player)
        self._hasty = hasty
        self._view: View | None = None
        self._number = 0
        """The number of the stream that it listens to: what still comes of an older one is not heard."""
        self._changed = asyncio.Event()
        self._chosen: tuple[int | None, SeatCommand | None] | None = None
        """What it does at which version."""
        self._commands = 0
        self._accepted = 0
        """The version that its last command has brought about."""

    # What it is told

    def _hear(self, number: int, message: Message) -> None:
        if number != self._number:
            return
        match message:
            case Beginning(version=version, view=view):
                if self.version is not None and version < self.version:
                    self._scene.trace.fail(f"seat {self._seat} begins at {version}, and has seen {self.version}")
                self._view, self.version = view, version
            case Told(version=version):
                if self._view is None or version != (self.version or 0) + 1:
                    self._scene.trace.fail(f"seat {self._seat} is told version {version} after {self.version}")
                    return
                self._view, self.version = fold(self._view, message.notice(self._seat)), version
            case _:
                self._lose(number)
                return
        self._scene.trace.note(f"seat {self._room[:4]} {self._seat} at {self.version}")
        self._is_true()
        self._changed.set()

    def _is_true(self) -> None:
        """What it has folded is what the events make."""
        log = self._scene.ledger.logs[self._room]
        if self.version is None or self.version > log.head:
            self._scene.trace.fail(f"seat {self._seat} is at {self.version}, and the room at {log.head}")
        elif self._view != log.view(Version(self.version), self._seat):
            self._scene.trace.fail(
                f"seat {self._seat} folds another view of version {self.version} than its events make"
            )

    def is_at_head(self) -> bool:
        """Whether it has heard everything, on a stream that is open."""
        return self.stream is not None and self.version == self._scene.ledger.head(self._room)

    def _lose(self, number: int) -> None:
        if number == self._number:
            self._number += 1
            self.stream = None
            self._changed.set()

    # Its stream

    async def attach(self) -> None:
        """Try to attach at some node."""
        self._number += 1
        number, node, last = self._number, self._scene.luck.choice(self._nodes), self.version
        ear = Ear(self._scene, self._room, self._seat, lambda message: self._hear(number, message))
        if last is not None and self._scene.luck.random() < 0.1:
            last = None
        given = await node.call(
            f"attach {self._room[:4]} {self._seat} since {last}",
            lambda: node.attach(self._room, self._seat, ear, last),
        )
        if isinstance(given, Stream) and number == self._number and not given.process.is_dead:
            self.stream = given
            given.process.at_death.append(lambda: self._scene.loop.later(self._scene.clients, 0.1, self._lose, number))
        else:
            self._lose(number)
            await asyncio.sleep(self._scene.luck.random())

    def _leave(self) -> None:
        """Go away from the stream; its node notices later, or never."""
        stream, self.stream = self.stream, None
        self._number += 1
        luck = self._scene.luck
        if stream is not None and luck.random() < _NOTICED:
            self._scene.trace.note(f"seat {self._room[:4]} {self._seat} leaves {stream.node.name}")
            self._scene.loop.later(stream.process, luck.choice((0.0, 8.0 * luck.random())), stream.detach)

    # Its commands

    async def play(self) -> None:
        """Do the next thing: attach, look, act, or wait for something to happen."""
        scene = self._scene
        if self.stream is None:
            await self.attach()
            return
        if scene.happens(scene.chances.cut / 4):
            self._leave()
            await asyncio.sleep(scene.luck.choice((0.0, 0.5, 3.0)))
            return
        if scene.happens(scene.chances.foolish / 4):
            await self._fool()
        command = self._choice()
        if command is None:
            await self._wait()
            return
        await asyncio.sleep(scene.luck.choice(_THINKS))
        if command is self._choice() or scene.happens(0.3):
            answer = await self._say(command)
            if isinstance(answer, Accepted):
                self._accepted = answer.last
            elif not isinstance(answer, Lost):
                await self._wait()

    def _choice(self) -> SeatCommand | None:
        """What to do by the view; the same at one version. None if there is nothing, or if the view is not up to date."""
        view = self._view
        if view is None or (self.version or 0) < self._accepted:
            return None
        if self._chosen is None or self._chosen[0] != self.version:
            self._chosen = (self.version, self._drawn(view))
        return self._chosen[1]

    def _drawn(self, view: View) -> SeatCommand | None:
        choice = view.advice.choice
        if self._hasty and isinstance(choice, CallAdvice):
            return Pass() if choice.may_pass else Bid(choice.bids[0])
        if self._hasty and isinstance(choice, NameAdvice) and choice.may_surrender:
            return Surrender()
        return RandomLegal().act(view, self._scene.luck)

    async def _wait(self) -> None:
        self._changed.clear()
        limit = self._scene.loop.call_later(self._scene.luck.choice((2.0, 6.0)), self._changed.set)
        await self._changed.wait()
        limit.cancel()

    async def _fool(self) -> None:
        """Send something that is probably refused, or under an id that was used."""
        scene = self._scene
        command = scene.luck.choice(_FOOLISH)
        number = scene.luck.randint(0, self._commands) if scene.luck.random() < 0.3 else self._next()
        expected = scene.luck.choice((None, None, self.version, (self.version or 0) + scene.luck.randint(-2, 2)))
        asked = SeatAsks(self._actor, command, command_key(f"{self._seat}-{number}", command), expected)
        await self._insist(asked)
        if scene.luck.random() < 0.3:
            node = scene.luck.choice(self._nodes)
            await node.call("look", lambda: node.look(self._room, self._seat))

    def _next(self) -> int:
        self._commands += 1
        return self._commands

    async def _say(self, command: SeatCommand) -> Outcome:
        luck = self._scene.luck
        name = "" if luck.random() < _WITHOUT_ID else f"{self._seat}-{self._next()}"
        expected = self.version if luck.random() < _EXPECTING else None
        return await self._insist(SeatAsks(self._actor, command, command_key(name, command), expected))

    async def _insist(self, asked: SeatAsks) -> Outcome:
        """The answer to a command. One with an id is sent again, to any node, until there is one."""
        while True:
            answer = await self._send(asked)
            if not isinstance(answer, Lost | OutcomeUnknown | StoreUnavailable) or asked.key is None:
                return answer
            if self._scene.happens(_GIVES_UP):
                return LOST
            await asyncio.sleep(self._scene.luck.choice((0.0, 0.3, 2.0)))

    async def _send(self, asked: SeatAsks) -> Outcome:
        scene = self._scene
        if asked.key is not None and scene.happens(scene.chances.hedged):
            first, second = await asyncio.gather(self._act(asked), self._act(asked))
            return second if isinstance(first, Lost | OutcomeUnknown | StoreUnavailable) else first
        stream = self.stream
        if stream is None or scene.luck.random() > _OVER_STREAM:
            return await self._act(asked)
        given = await stream.node.call(self._told(asked), lambda: stream.command(scene, asked))
        if isinstance(given, Lost) and stream is self.stream:
            self._leave()
        return given

    async def _act(self, asked: SeatAsks) -> Outcome:
        node = self._scene.luck.choice(self._nodes)
        return await node.call(self._told(asked), lambda: node.carry_out(self._room, asked))

    def _told(self, asked: SeatAsks) -> str:
        name = "without id" if asked.key is None else asked.key.id
        return f"{self._room[:4]} {name} {type(asked.command).__name__} at {self.version}"
