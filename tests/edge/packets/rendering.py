"""A match of old clients as text: every packet that is sent and told.

    > 0 jiaofen {"call":70}     seat 0 sends this; its sender, which is always the same, is left out
    0 1 2 jiaofen {…}           these seats are told this, with the data as it is written
    1 again room/enter_room {…} what a client of the seat would be told that entered now

A packet of the game is called by its rpc alone, any other by its route too.
"""

import json
from itertools import groupby
from typing import Final, final

from erqiwang_grpc.edge.packets.to_seat import GAME
from erqiwang_grpc.edge.packets.writing import Named, written
from erqiwang_grpc.v1 import seat_service_pb2 as pb
from tests.edge.packets.old_client import OldTable
from tests.edge.packets.stage import Stage, packet, sender

_ENOUGH: Final = 2
"""How often the tables of one kind of moment are shown."""


@final
class Transcript:
    """Writes down what happens on a stage."""

    def __init__(self, stage: Stage, remark: str, roomtype: str) -> None:
        self.stage = stage
        self.lines = [
            f"# {remark}",
            f"roomtype: {roomtype}",
            f"sender of seat 0: {_json(sender(0))}",
            "",
        ]
        self._shown: dict[str, int] = {}
        self.told()

    @property
    def first(self) -> OldTable:
        """The table as the client of seat 0 knows it."""
        return self.stage.sittings[0].table

    def moment(self) -> str:
        """The kind of moment that it is."""
        table = self.first
        match table.step:
            case 1:
                return f"bidding {sum(call is not None for call in table.calls)}"
            case 2:
                return "naming"
            case 3:
                return "burying"
            case 5:
                return f"following {len(table.plays)}" if table.plays else f"leading {table.round}"
            case _:
                return f"settled {table.idx}"

    async def play_deal(self, *, again: bool) -> None:
        """Play until the deal is settled; with `again` each kind of moment is shown as a client sees it that enters."""
        while self.first.step != 6:
            if again:
                await self.show_again()
            await self.step()
        await self.show_again()

    async def play_on(self) -> None:
        """Play the match to its end."""
        for sitting in self.stage.sittings:
            if sitting.player.next() is not None:
                await self.step()
                await self.show_again()
                break
        while await self.step():
            pass
        await self.show_again()

    async def step(self) -> bool:
        """Let one seat act; gives whether one had something to do."""
        before = [len(sitting.told) for sitting in self.stage.sittings]
        acting = next((s for s in self.stage.sittings if s.player.next() is not None), None)
        if acting is None:
            return False
        choice = acting.player.next()
        assert choice is not None
        rpc, asked = choice
        self._sent(acting.seat, rpc, asked)
        await self.stage.stand(acting.seat, packet(acting.seat, rpc, **asked))
        assert [len(sitting.told) for sitting in self.stage.sittings] != before
        self.told()
        return True

    async def ask(self, seat: int, rpc: str, /, **asked: object) -> None:
        """Let a seat send a packet by hand, whatever becomes of it."""
        self._sent(seat, rpc, asked)
        answer = await self.stage.sittings[seat].ask(packet(seat, rpc, **asked))
        match answer:
            case None if self.first.step == 5 and seat != self.first.banker and asked.get("tip") in (1, 2, 3):
                other = self.stage.sittings[3 - self.first.banker - seat]
                while not (await other.hear()).HasField("signal_received"):
                    pass
            case None:
                while not (await self.stage.sittings[seat].hear()).HasField("refused"):
                    pass
            case pb.SeatMessage():
                await self.stage.hear_of(answer.accepted.last_version)
            case refused:
                self.lines.append(f"{seat} {_line(refused)}")
        self.told()

    async def disband(self) -> None:
        """The platform disbands the match."""
        room = await self.stage.platform.disband_room(self.stage.table.room_id)
        self.lines.append("> the platform disbands")
        await self.stage.hear_of(room.room.version)
        self.told()
        await self.show_again()

    async def show_again(self) -> None:
        """What each seat would be told now on entering, unless there was enough of this kind of moment."""
        moment = self.moment().replace("leading", "leading" if self.first.round == 1 else "between").split()[0]
        if moment == "following":
            moment = self.moment()
        self._shown[moment] = self._shown.get(moment, 0) + 1
        if self._shown[moment] <= _ENOUGH or self.first.is_over:
            rows = [(s.seat, _line(each)) for s in self.stage.sittings for each in await self.stage.again(s.seat)]
            self.lines.extend(_alike(rows, "again "))

    def told(self) -> None:
        """Write down what the seats were told and was not written yet; what several are told alike, once."""
        new: list[tuple[int, int, str]] = []
        for sitting in self.stage.sittings:
            for told in sitting.told[sitting.shown :]:
                version = told.message.notice.version or told.message.snapshot.version or sitting.version
                new.extend((version, sitting.seat, _line(each)) for each in told.packets)
            sitting.shown = len(sitting.told)
        new.sort(key=lambda row: row[0])
        for _, rows in groupby(new, key=lambda row: row[0]):
            self.lines.extend(_alike([(seat, line) for _, seat, line in rows]))

    def _sent(self, seat: int, rpc: str, asked: dict[str, object]) -> None:
        self.lines.append(f"> {seat} {rpc} {_json(asked)}")

    def text(self) -> str:
        """The whole transcript."""
        return "\n".join(self.lines) + "\n"


def _alike(rows: list[tuple[int, str]], word: str = "") -> list[str]:
    """The rows of all seats, those that several have alike once."""
    alike: dict[str, list[int]] = {}
    for seat, line in rows:
        alike.setdefault(line, []).append(seat)
    return [f"{' '.join(map(str, seats))} {word}{line}" for line, seats in alike.items()]


def _line(told: Named) -> str:
    whole = written(told)
    name = told.name.rpc if told.name.route == GAME else f"{told.name.route}/{told.name.rpc}"
    return f"{name} {_json(whole['data'])}"


def _json(value: object) -> str:
    return json.dumps(value, separators=(",", ":"))
