"""A table: its platform creates a room, seats players, now and then seats one again or disbands; the seats play."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from enum import Enum
from typing import Final, final

from erqiwang_core.match import Disband, HouseCommand, LeaveSeat, Outside, Over, Player, StartMatch, TakeSeat
from erqiwang_core.options import Deck, FourPlayer, Game, RoomOptions, Start, ThreePlayer
from erqiwang_core.units import Seat

from erqiwang_grpc.events.actor import PLATFORM
from erqiwang_grpc.events.model import RoomOpened
from erqiwang_grpc.rooms.command import Accepted, Answer, HouseAsks
from erqiwang_grpc.rooms.fingerprint import command_key
from erqiwang_grpc.rooms.refusals import OutcomeUnknown, StoreUnavailable
from erqiwang_grpc.rooms.registry import room_id
from tests.simulation.node import PLATFORM_NAME, Lost, SimulatedNode
from tests.simulation.scene import Scene
from tests.simulation.seat import SeatClient

PLAYERS: Final = tuple(map(Player, ("alice", "bob", "carol", "dave")))
_GAMES: Final[tuple[Game, ...]] = (
    ThreePlayer(),
    ThreePlayer(joker_bonus=True, climb=True),
    FourPlayer(),
    FourPlayer(Deck.FULL),
)
_SHORT: Final = (12, 25, 50)
_LONG: Final = 100_000


class Kind(Enum):
    """How far a table goes."""

    HASTY = "to the end of its match, by players who surrender"
    SHORT = "so many versions"
    WHOLE = "to the end of its match"
    UNFILLED = "never begins, and expires"


_KINDS: Final = (*[Kind.HASTY] * 40, *[Kind.SHORT] * 160, Kind.WHOLE)


@final
class Table:
    """One table."""

    def __init__(self, scene: Scene, nodes: Sequence[SimulatedNode], name: str) -> None:
        luck = scene.luck
        self._scene = scene
        self._nodes = nodes
        self.kind = (
            Kind.UNFILLED if scene.chances.limits.fill_minutes == 1 and luck.random() < 0.2 else luck.choice(_KINDS)
        )
        self._name = name
        self._options = RoomOptions(
            luck.choice(_GAMES),
            review=luck.random() < 0.5,
            start=luck.choice((Start.LAST_SEAT, Start.LAST_SEAT, Start.PLATFORM)),
        )
        self._most = luck.choice(_SHORT) if self.kind is Kind.SHORT else _LONG
        self.room = room_id(PLATFORM_NAME, name)
        self.opening = RoomOpened(PLATFORM_NAME, "alice", self._options, name)
        scene.ledger.openings[self.room] = self.opening
        self.clients: list[SeatClient] = []
        self._asked = 0

    async def run(self) -> None:
        """Create it and play until it is done."""
        await self._create()
        if self.kind is Kind.UNFILLED:
            await self._leave_unfilled()
            return
        seats = list(range(3 if isinstance(self._options.game, ThreePlayer) else 4))
        self.clients = [
            SeatClient(self._scene, self._nodes, self.room, Seat(seat), PLAYERS[seat], hasty=self.kind is Kind.HASTY)
            for seat in seats
        ]
        self._scene.luck.shuffle(seats)
        for seat in seats:
            await self._insist(TakeSeat(seat, PLAYERS[seat]))
        if self._options.start is Start.PLATFORM:
            await self._insist(StartMatch())
        await asyncio.gather(self._meddle(), *map(self._play, self.clients))

    @property
    def is_done(self) -> bool:
        """Whether its match is over, or it is played far enough."""
        log = self._scene.ledger.logs[self.room]
        return log.head >= self._most or isinstance(log.at(log.head).match, Over)

    async def _play(self, client: SeatClient) -> None:
        while not self.is_done:
            await client.play()

    async def settle(self) -> None:
        """Attach every seat, so that it hears what it has missed."""
        for client in self.clients:
            while client.stream is None:
                await client.attach()

    async def _leave_unfilled(self) -> None:
        """Seat somebody, free the seat again, and wait until the house ends the match."""
        await self._insist(TakeSeat(0, PLAYERS[0]))
        if self._scene.luck.random() < 0.5:
            await self._insist(LeaveSeat(0))
        while not self.is_done:  # noqa: ASYNC110  # simulated time costs nothing
            await asyncio.sleep(1.0)

    async def _meddle(self) -> None:
        """Now and then seat a player again, or end the match."""
        scene = self._scene
        while not self.is_done:
            await asyncio.sleep(1.0 + 4.0 * scene.luck.random())
            if scene.happens(0.1):
                seat = scene.luck.randrange(len(self.clients))
                await self._insist(TakeSeat(seat, PLAYERS[scene.luck.choice((seat, 3))]))
            if scene.happens(0.02):
                await self._insist(scene.luck.choice((Disband(), Disband(0), Disband(Outside.PLATFORM))))

    # Calls of the platform

    async def _create(self) -> None:
        key = command_key(self._name, self.opening)
        assert key is not None
        while True:
            node = self._scene.luck.choice(self._nodes)
            given = await node.call(f"create {self.room[:4]}", lambda: node.create(self.opening, key))  # noqa: B023  # it is awaited
            if isinstance(given, str):
                return
            if not isinstance(given, Lost | OutcomeUnknown | StoreUnavailable):
                self._scene.trace.fail(f"a room is not created: {given}")
                return
            await asyncio.sleep(self._scene.luck.random())

    async def _insist(self, command: HouseCommand) -> Answer:
        """The answer to a command, sent again under its id until there is one."""
        self._asked += 1
        asked = HouseAsks(PLATFORM, command, command_key(f"platform {self._asked}", command))
        while True:
            node = self._scene.luck.choice(self._nodes)
            given = await self._ask(node, asked)
            if not isinstance(given, Lost | OutcomeUnknown | StoreUnavailable):
                return given
            await asyncio.sleep(self._scene.luck.random())

    async def _ask(self, node: SimulatedNode, asked: HouseAsks) -> Answer | Lost:
        what = f"{self.room[:4]} {type(asked.command).__name__}"
        if not self._scene.happens(self._scene.chances.hedged):
            return await node.call(what, lambda: node.carry_out(self.room, asked))
        other = self._scene.luck.choice(self._nodes)
        first, second = await asyncio.gather(
            node.call(what, lambda: node.carry_out(self.room, asked)),
            other.call(what, lambda: other.carry_out(self.room, asked)),
        )
        return first if isinstance(first, Accepted) else second
