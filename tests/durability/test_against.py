"""A whole valid chain can be forged by whoever can write the file; what a platform kept of `WatchRooms` shows it."""

import asyncio
import json
from collections.abc import Callable
from dataclasses import replace
from itertools import groupby
from pathlib import Path

import pytest
from erqiwang_core.match import DealStarted
from google.protobuf.json_format import MessageToJson

from erqiwang_grpc import events as stored, shuffling
from erqiwang_grpc.__main__ import main
from erqiwang_grpc.archive import feed as watching
from erqiwang_grpc.archive.feed import Place
from erqiwang_grpc.archive.summaries import mended
from erqiwang_grpc.auth.keys import PlatformId
from erqiwang_grpc.clocks import SystemMonotonic
from erqiwang_grpc.commands import export
from erqiwang_grpc.events.index import ENDED
from erqiwang_grpc.events.model import RoomOpened
from erqiwang_grpc.rooms.registry import Rooms
from erqiwang_grpc.rpc.wire import encode
from erqiwang_grpc.store import START, Appended, Batch, Entry, Rewritten, RoomId, Summary, TimeNs, Version
from erqiwang_grpc.store.sqlite import STORE_FILE, SqliteStore, open_store
from erqiwang_grpc.store.wakeup import Bell, ProcessWakeup
from erqiwang_grpc.v1 import room_service_pb2 as pb
from tests.durability.played import PLAYERS, free, node_on, opened, play, seated

Forgery = Callable[[tuple[Entry, ...]], tuple[Entry, ...]]


async def written(folder: Path) -> RoomId:
    """A store with a room in its first deal and one that nobody has filled, and the lines that its platform kept."""
    store = await open_store(folder / STORE_FILE)
    assert isinstance(store, SqliteStore)
    rooms = Rooms(node_on(store))
    room, _ = await seated(rooms, "played"), await opened(rooms, "unfilled")
    await play(room, 3)
    kept = await heard(store)
    (folder / "kept.jsonl").write_text("".join(f"{line(event)}\n" for event in kept))
    await store.close()
    return room.id


async def heard(store: SqliteStore) -> list[pb.RoomEvent]:
    """What a platform is told of all that has happened."""
    looks = iter([False, False, True])
    found: list[pb.RoomEvent] = []
    feed = watching.feed(
        store,
        ProcessWakeup(),
        PlatformId("local"),
        Place(START, 0),
        Bell(),
        lambda: next(looks),
        SystemMonotonic(),
        free,
        100,
    )
    rooms: dict[RoomId, RoomOpened] = {}
    async for happened in feed:
        assert isinstance(happened, tuple)
        for each in happened:
            if isinstance(each.event, RoomOpened):
                rooms[each.entry.room] = each.event
            found.append(encode.room_event(each.entry, each.event, rooms[each.entry.room], ""))
    return found


def line(event: pb.RoomEvent) -> str:
    """As a platform's JSON library writes it: the names of fields in camel case, and no field that is empty."""
    return json.dumps(json.loads(MessageToJson(event)))


@pytest.fixture
def room(tmp_path: Path) -> RoomId:
    return asyncio.run(written(tmp_path))


def forge(folder: Path, room: RoomId, forgery: Forgery) -> None:
    """Write the room anew, with checksums that fit, in the place of the old one."""
    asyncio.run(_forge(folder, room, forgery))


async def _forge(folder: Path, room: RoomId, forgery: Forgery) -> None:
    store = await open_store(folder / STORE_FILE)
    assert isinstance(store, SqliteStore)
    entries = await store.read(room)
    assert isinstance(entries, tuple)
    opening = stored.read(entries[0].body, entries[0].rules_version)
    assert isinstance(opening, RoomOpened)
    ended = Summary((ENDED,), TimeNs(0), TimeNs(0), b"")
    assert await store.summarise(room, entries[-1].version, ended) == Rewritten()
    assert await store.delete_rooms(ENDED, TimeNs(2**62), 10) == (room,)
    at = Version(0)
    for _, group in groupby(forgery(entries), key=lambda entry: (entry.actor, entry.command, entry.time)):
        found = list(group)
        one = found[0]
        bodies = tuple(each.body for each in found)
        batch = Batch(one.time, one.actor, one.command, one.rules_version, bodies, ended)
        appended = await store.append(room, at, batch)
        assert isinstance(appended, Appended)
        at = appended.version
    await mended(store, room)
    await store.close()


def another_owner(entries: tuple[Entry, ...]) -> tuple[Entry, ...]:
    opening = stored.read(entries[0].body, entries[0].rules_version)
    assert isinstance(opening, RoomOpened)
    return (replace(entries[0], body=stored.write(replace(opening, owner="mallory"))), *entries[1:])


def another_kitty(entries: tuple[Entry, ...]) -> tuple[Entry, ...]:
    """Two cards of the deal's last eight and of a hand change places, under a commitment of their own."""
    return tuple(_exchanged(entry) for entry in entries)


def _exchanged(entry: Entry) -> Entry:
    event = stored.read(entry.body, entry.rules_version)
    if not isinstance(event, DealStarted):
        return entry
    one, *others, last = event.shuffled.order
    order = (last, *others, one)
    shuffled = replace(event.shuffled, order=order, commitment=shuffling.commitment(event.shuffled.salt, order))
    return replace(entry, body=stored.write(replace(event, shuffled=shuffled)))


def cut_short(entries: tuple[Entry, ...]) -> tuple[Entry, ...]:
    """As if the last seat had never been taken."""
    return entries[:3]


def nothing(_: tuple[Entry, ...]) -> tuple[Entry, ...]:
    return ()


FORGERIES = [
    pytest.param(another_owner, "created.owner was told as 'alice' and is stored as 'mallory'", id="a renamed owner"),
    pytest.param(another_kitty, "deal_started.commitment was told as", id="an exchanged kitty"),
    pytest.param(cut_short, "event 5 (deal_started, line 5) is not there", id="events that are gone"),
    pytest.param(nothing, "the platform was told of it, and it is not there", id="a room that is gone"),
]


def verified(folder: Path, *more: str) -> int:
    return main(["export", "--verify", "--data", str(folder), *more])


def against(folder: Path) -> list[str]:
    return ["--against", str(folder / "kept.jsonl")]


@pytest.mark.usefixtures("room")
def test_a_store_agrees_with_what_its_platform_was_told(tmp_path: Path) -> None:
    kept = (tmp_path / "kept.jsonl").read_text().splitlines()
    assert len(kept) == 6
    assert verified(tmp_path, *against(tmp_path)) == export.DONE
    assert verified(tmp_path, *against(tmp_path), "--platform", "local") == export.DONE
    (tmp_path / "kept.jsonl").write_text("\n".join([*kept[::-1], "", *kept]))
    assert verified(tmp_path, *against(tmp_path)) == export.DONE, "in any order, and twice"


@pytest.mark.parametrize(("forgery", "found"), FORGERIES)
def test_a_forged_chain_is_whole_and_only_what_was_kept_shows_it(
    tmp_path: Path, room: RoomId, forgery: Forgery, found: str, capsys: pytest.CaptureFixture[str]
) -> None:
    forge(tmp_path, room, forgery)
    assert verified(tmp_path) == export.DONE, "the checksums fit, and the core decides the same"
    capsys.readouterr()
    assert verified(tmp_path, *against(tmp_path)) == export.FAULTY
    told = capsys.readouterr().err
    assert found in told
    assert f"room {room}: " in told


@pytest.mark.usefixtures("room")
def test_a_room_given_to_another_platform_is_found_by_the_name_of_the_one_that_kept_it(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert verified(tmp_path, *against(tmp_path), "--platform", "rival") == export.FAULTY
    assert "it is 'local''s, and 'rival' was told of it" in capsys.readouterr().err


@pytest.mark.usefixtures("room")
def test_an_event_put_between_two_that_were_kept_is_found(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    kept = (tmp_path / "kept.jsonl").read_text().splitlines()
    (tmp_path / "kept.jsonl").write_text("\n".join(kept[:2] + kept[3:]))
    assert verified(tmp_path, *against(tmp_path)) == export.FAULTY
    assert "event 3 (seat_taken) was never told, though later ones were" in capsys.readouterr().err


SPOILT = [
    ("no json", "line 7 is no RoomEvent"),
    ('{"roomId": "r", "version": "x"}', "line 7 is no RoomEvent"),
    ('{"roomId": "r", "unknown": 1}', "line 7 is no RoomEvent"),
]


@pytest.mark.parametrize(("text", "found"), SPOILT)
@pytest.mark.usefixtures("room")
def test_a_line_that_is_no_event_is_named(
    tmp_path: Path, text: str, found: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with (tmp_path / "kept.jsonl").open("a") as kept:
        kept.write(text)
    assert verified(tmp_path, *against(tmp_path)) == export.FAULTY
    assert found in capsys.readouterr().err


@pytest.mark.usefixtures("room")
def test_a_file_that_contradicts_itself_is_found(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    kept = (tmp_path / "kept.jsonl").read_text()
    (tmp_path / "kept.jsonl").write_text(kept + kept.splitlines()[0].replace(PLAYERS[0], "mallory"))
    assert verified(tmp_path, *against(tmp_path)) == export.FAULTY
    assert "lines 1 and 7 contradict one another" in capsys.readouterr().err


@pytest.mark.usefixtures("room")
def test_a_file_that_is_not_there_is_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert verified(tmp_path, "--against", str(tmp_path / "none")) == export.CANNOT_READ
    assert "none" in capsys.readouterr().err
