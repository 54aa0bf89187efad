"""A table of old clients on a real server, without sockets between: each seat's stream is translated here.

What a seat is told, and the packets made of it, are kept in order, so that laws can look at them and a transcript can show
them.
"""

import json
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from random import Random
from typing import Final, final

from erqiwang_grpc.client import Platform
from erqiwang_grpc.edge.packets.from_seat import Frame, read
from erqiwang_grpc.edge.packets.translator import Act, Signal, Translator
from erqiwang_grpc.edge.packets.who import Who
from erqiwang_grpc.edge.packets.writing import ENTER, Named, text
from erqiwang_grpc.v1 import seat_service_pb2 as pb
from tests.edge.packets.old_client import Manner, OldPlayer, OldTable
from tests.service.tables import PLAYERS, RawSeat, Served, Table, seen

AGENT: Final = "agent-1"
GAME_ID: Final = "erqiwang"
ROOM_CODE: Final = 123456


def sender(seat: int) -> dict[str, object]:
    """What every packet of a seat begins with."""
    return {
        "agentid": AGENT,
        "playerid": 100_001 + seat,
        "gameid": GAME_ID,
        "roomcode": ROOM_CODE,
        "seat": seat,
    }


def known(seat: int) -> Who:
    """The same, as the platform has told it."""
    return Who(AGENT, 100_001 + seat, GAME_ID, ROOM_CODE)


def packet(seat: int, rpc: str, /, **asked: object) -> dict[str, object]:
    """A packet of the game from a seat."""
    return {"app": "youle", "route": "erqiwang", "rpc": rpc, "data": {**sender(seat), **asked}}


@final
@dataclass(slots=True)
class Told:
    """A message of the seat, and the packets made of it."""

    message: pb.SeatMessage
    packets: tuple[Named, ...]


@final
@dataclass(slots=True)
class Sitting:
    """One seat: its stream, its translator, and the client behind it."""

    seat: int
    stream: RawSeat
    translator: Translator
    player: OldPlayer
    told: list[Told] = field(default_factory=list)
    shown: int = 0
    """How many of what was told a transcript has shown."""

    @property
    def table(self) -> OldTable:
        return self.player.table

    async def hear(self) -> pb.SeatMessage:
        """Take in the next message."""
        message = await self.stream.next()
        assert message is not None, f"the stream has ended: {self.stream.refused}"
        packets = self.translator.hear(message)
        self.told.append(Told(message, packets))
        for each in packets:
            whole = json.loads(text(each))
            if whole["data"]["success"]:
                self.table.take(whole)
        return message

    async def hear_of(self, version: int) -> None:
        """Listen until the seat was told of a version of the room."""
        while self.version < version:
            await self.hear()

    @property
    def version(self) -> int:
        versions = [told.message.notice.version or told.message.snapshot.version for told in self.told]
        return max(versions, default=0)

    async def ask(self, whole: dict[str, object]) -> Named | pb.SeatMessage | None:
        """Send a packet. Gives the packet that refuses it here, or the server's answer; None for a signal."""
        frame = read(json.dumps(whole))
        assert isinstance(frame, Frame), frame
        outcome = self.translator.ask(frame)
        match outcome:
            case Named():
                return outcome
            case Signal(signal):
                await self.stream.say(pb.PlayRequest(command=pb.Command(signal=signal)))
                return None
            case Act(command_id, command):
                await self.stream.say(pb.PlayRequest(command_id=command_id, command=command))
        while True:
            message = await self.hear()
            if message.WhichOneof("message") in {"accepted", "refused", "trumps_shown"}:
                return message


@final
class Stage:
    """Three seats of a match, and what drives them."""

    def __init__(self, service: Served, platform: Platform, table: Table, sittings: Sequence[Sitting]) -> None:
        self.service = service
        self.platform = platform
        self.table = table
        self.sittings = sittings

    async def step(self) -> int:
        """Let one seat that has something to do do it, and let all be told; gives the seat, -1 if there is none."""
        for sitting in self.sittings:
            choice = sitting.player.next()
            if choice is not None:
                rpc, asked = choice
                await self.stand(sitting.seat, packet(sitting.seat, rpc, **asked))
                return sitting.seat
        return -1

    async def stand(self, seat: int, whole: dict[str, object]) -> None:
        """Send a packet that must stand, and let all be told."""
        answer = await self.sittings[seat].ask(whole)
        assert isinstance(answer, pb.SeatMessage), answer
        assert answer.HasField("accepted"), answer
        await self.hear_of(answer.accepted.last_version)

    async def hear_of(self, version: int) -> None:
        for sitting in self.sittings:
            await sitting.hear_of(version)

    async def again(self, seat: int) -> tuple[Named, ...]:
        """What a client of the seat is told that enters now, beside the one that is there."""
        snapshot = await seen(self.service, self.table, seat)
        return Translator(ENTER, "again", known(seat)).hear(pb.SeatMessage(snapshot=snapshot))

    def play(self, manner: Manner) -> None:
        """All seats play like this from now on."""
        for sitting in self.sittings:
            sitting.player.manner = manner


@asynccontextmanager
async def stage(
    service: Served, roomtype: str, manner: Manner, *, seed: int = 0, who: Sequence[Who] | None = None
) -> AsyncIterator[Stage]:
    """A table of old clients. They sit down one after another, and each enters its seat before the next one sits."""
    async with service.platform as platform:
        room = (await platform.create_room(PLAYERS[0], roomtype=roomtype)).room
        seated = []
        sittings: list[Sitting] = []
        for seat in range(3):
            taken = await platform.take_seat(room.room_id, PLAYERS[seat])
            seated.append(taken)
            enters = Translator(ENTER, f"old-{seat}", known(seat) if who is None else who[seat])
            player = OldPlayer(OldTable(seat), manner, Random(seed * 3 + seat))
            sitting = Sitting(seat, RawSeat(service, taken.token), enters, player)
            sittings.append(sitting)
            await sitting.stream.say(pb.PlayRequest(attach=pb.Attach(last_version=taken.last_version)))
            await sitting.hear()
        table = Table(room.room_id, tuple(taken.token for taken in seated), tuple(seated))
        on_stage = Stage(service, platform, table, sittings)
        await on_stage.hear_of(sittings[-1].version)
        try:
            yield on_stage
        finally:
            for sitting in sittings:
                sitting.stream.call.cancel()
