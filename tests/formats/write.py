"""Make the stored example anew: `make store`.

Only for a change of what is on disk that is meant. Until the first release no older store need open; from then on the old
example stays, and a new one goes beside it.
"""

import asyncio
import sqlite3
from pathlib import Path
from random import Random
from typing import Final

from erqiwang_core.match import Disband, DisbandReason, LeaveSeat, Match, Outside, Player, Running, TakeSeat
from erqiwang_core.options import Countdowns, Deck, FourPlayer, Length, Payer, RoomOptions, Start, ThreePlayer
from erqiwang_core.settlement import Settled

from erqiwang_grpc.archive.records import MatchRecord, match_record
from erqiwang_grpc.commands.export import line
from erqiwang_grpc.events.actor import HOUSE
from erqiwang_grpc.events.model import Label
from erqiwang_grpc.rooms.command import Accepted, HouseAsks
from erqiwang_grpc.rooms.registry import Rooms
from erqiwang_grpc.rooms.room import Room
from erqiwang_grpc.store import RoomId, StoreReader
from erqiwang_grpc.store.sqlite import SqliteStore, open_store
from tests.durability.played import administer, node_on, opened, play, seated

FOLDER: Final = Path(__file__).parent
STORE: Final = FOLDER / "store.sqlite"
RECORDS: Final = FOLDER / "records.jsonl"
"""What the example holds, as `erqiwang export` writes it, and its rooms that were never begun."""

_THREE: Final = RoomOptions(
    ThreePlayer(joker_bonus=True, climb=True),
    Length(12),
    Payer.EACH,
    countdowns=Countdowns(bid=9, trump=8, bury=7, play=6),
)
_FOUR: Final = RoomOptions(FourPlayer(Deck.FULL), review=False, start=Start.PLATFORM, hints=False)
_LABELS: Final = (Label("mode", "ranked 排位"), Label("season", "7"))
_ABSENT: Final = Disband(1, DisbandReason.ABSENT, "三缺一 🀄")


async def fill(path: Path) -> None:
    """A store with a match of each game, both cut short in their second deal, one that goes on, and two empty rooms.

    One of these was filled by nobody in time.
    """
    store = await open_store(path)
    assert isinstance(store, SqliteStore), store
    rooms = Rooms(node_on(store))
    for name, options, end in (("three", _THREE, _ABSENT), ("four", _FOUR, Disband())):
        room = await seated(rooms, name, options, reference=f"order {name}", labels=_LABELS)
        await until_second_deal(room)
        await play(room, 20, Random(2))
        assert isinstance(await administer(room, end), Accepted)
    await play(await seated(rooms, "going on"), 12)
    empty = await opened(rooms, "empty")
    for command in (TakeSeat(1, Player("二王")), LeaveSeat(1)):
        assert isinstance(await administer(empty, command), Accepted)
    unfilled = await opened(rooms, "expired")
    expired = HouseAsks(HOUSE, Disband(Outside.HOUSE, DisbandReason.EXPIRED))
    assert isinstance(await unfilled.carry_out(expired), Accepted)
    await store.compact()
    await store.close()


async def until_second_deal(room: Room) -> None:
    while not is_in_second_deal(room.match):
        await play(room, 1, Random(room.version))


def is_in_second_deal(match: Match) -> bool:
    return isinstance(match, Running) and bool(match.by_deal) and not isinstance(match.deal, Settled)


async def told(reader: StoreReader) -> str:
    """The records of every room of a store, in the order of their ids."""
    rooms = await reader.rooms(RoomId(""), 100)
    assert isinstance(rooms, tuple)
    lines = ""
    for room in rooms:
        entries = await reader.read(room)
        assert isinstance(entries, tuple), entries
        record = match_record(entries)
        assert isinstance(record, MatchRecord), record
        lines += line(record) + "\n"
    return lines


async def write() -> None:
    """Write both files."""
    STORE.unlink(missing_ok=True)
    await fill(STORE)
    store = await open_store(STORE)
    assert isinstance(store, SqliteStore)
    RECORDS.write_text(await told(store), encoding="utf-8")
    await store.close()
    STORE.with_name(STORE.name + ".lock").unlink()
    STORE.chmod(0o644)
    # No file of a journal beside it: who reads a checked-in file may not make any.
    db = sqlite3.connect(STORE)
    db.execute("PRAGMA journal_mode = DELETE")
    db.close()


if __name__ == "__main__":
    asyncio.run(write())
