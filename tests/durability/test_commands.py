"""The operator's commands on a data folder: what they show, keep, delete and copy, and what they never show."""

import asyncio
import hashlib
import io
import json
import re
import shutil
from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import groupby
from pathlib import Path
from random import Random

import pytest
from erqiwang_core.match import Disband, Player, Running, evolve
from erqiwang_core.notices import Led
from erqiwang_core.options import FourPlayer, RoomOptions
from erqiwang_core.players import Policy, RandomLegal, contest, shuffles
from erqiwang_core.rules import game_rules
from erqiwang_core.seats import BySeat, by_seat
from erqiwang_core.settlement import DealSettled
from erqiwang_core.units import Chips, Seat
from erqiwang_core.view import view
from erqiwang_core.viewer import PUBLIC
from google.protobuf.json_format import ParseDict

from erqiwang_grpc import events as stored
from erqiwang_grpc.__main__ import main
from erqiwang_grpc.archive.retention import delete_old_matches
from erqiwang_grpc.auth.files import FIRST_PLATFORM, PLATFORM_KEYS, SIGNING_KEYS, Opened, open_key_files
from erqiwang_grpc.auth.keys import Scope
from erqiwang_grpc.auth.tokens import Epoch, UnixSeconds, claims_for
from erqiwang_grpc.commands import backup, export
from erqiwang_grpc.events.index import ENDED
from erqiwang_grpc.rooms.command import Accepted
from erqiwang_grpc.rooms.limits import DAY
from erqiwang_grpc.rooms.registry import Rooms
from erqiwang_grpc.rooms.room import Room
from erqiwang_grpc.rpc.server import Server, Settings
from erqiwang_grpc.rpc.wire import encode
from erqiwang_grpc.store import NOTHING, Appended, Batch, Entry, RoomId, Store, TimeNs, Version
from erqiwang_grpc.store.memory import MemoryStore
from erqiwang_grpc.store.sqlite import STORE_FILE, SqliteStore, open_store
from erqiwang_grpc.tools.replay import Onlookers
from erqiwang_grpc.v1 import record_pb2
from tests.deals.walk import Change
from tests.durability.played import Clock, administer, node_on, play, seated
from tests.durability.test_records import recorded
from tests.service.tables import eventually
from tests.store.contract import PLAIN, head

SUITS = "♠♥♣♦🃏🃟"


@dataclass(frozen=True)
class Folder:
    """A data folder with one match that is over and one that goes on in its second deal."""

    path: Path
    over: RoomId
    going_on: RoomId
    record: record_pb2.MatchRecord
    """Of the one that is over."""


async def fill(folder: Path) -> Folder:
    store = await open_store(folder / STORE_FILE)
    assert isinstance(store, SqliteStore)
    rooms = Rooms(node_on(store))
    over, going_on = await seated(rooms, "over"), await seated(rooms, "going on")
    await play(over, 10_000)
    await into_second_deal(going_on)
    entries = await store.read(over.id)
    assert isinstance(entries, tuple)
    await store.close()
    return Folder(folder, over.id, going_on.id, encode.match_record(recorded(entries)))


async def into_second_deal(room: Room) -> None:
    """Far enough that cards of the second deal lie open, and some are still hidden."""
    while not (isinstance(room.match, Running) and room.match.deal.dealt.number == 2 and room.version % 50 == 0):
        await play(room, 1, Random(room.version))


@pytest.fixture(scope="module")
def filled(tmp_path_factory: pytest.TempPathFactory) -> Folder:
    return asyncio.run(fill(tmp_path_factory.mktemp("filled")))


@pytest.fixture
def folder(filled: Folder, tmp_path: Path) -> Folder:
    """A copy that a test may change."""
    shutil.copytree(filled.path, tmp_path, dirs_exist_ok=True)
    return replace(filled, path=tmp_path)


def said(capsys: pytest.CaptureFixture[str], *arguments: str, status: int = 0) -> str:
    """What a command prints."""
    capsys.readouterr()
    assert main(arguments) == status
    return capsys.readouterr().out


# explain


def test_a_strong_player_says_what_it_makes_of_a_stored_play(
    folder: Folder, capsys: pytest.CaptureFixture[str]
) -> None:
    play = ("--deal", "1", "--trick", "3", "--seat", "1", "--worlds", "5", "--data", str(folder.path))
    told = said(capsys, "explain", "--room", folder.over, *play)
    rows = [line.split()[0] for line in told.splitlines() if not line.startswith(" ")]
    assert rows in (["hand", "trick", "played", "strong"], ["hand", "played", "strong"])
    found = re.findall(r"([+-][\d.]+) chips in +(\d+) worlds: ", told)
    assert found
    assert int(found[0][1]) == 5
    assert said(capsys, "explain", "--room", folder.over, *play) == told, "the same worlds give the same answer"


@pytest.mark.parametrize(
    ("play", "why"),
    [
        (("--deal", "2", "--trick", "1", "--seat", "0"), "deal 2 has not ended"),
        (("--deal", "1", "--trick", "99", "--seat", "0"), "did not play to trick 99"),
        (("--deal", "1", "--seat", "0"), "name the play with --deal, --trick and --seat"),
    ],
)
def test_a_play_that_may_not_be_told_is_named(
    folder: Folder, capsys: pytest.CaptureFixture[str], play: tuple[str, ...], why: str
) -> None:
    assert main(("explain", "--room", folder.going_on, *play, "--worlds", "2", "--data", str(folder.path))) == 2
    printed = capsys.readouterr()
    assert why in printed.err
    assert not printed.out


def test_a_play_of_a_deal_in_progress_is_told_if_hidden_cards_may_be_shown(
    folder: Folder, capsys: pytest.CaptureFixture[str]
) -> None:
    play = ("--deal", "2", "--trick", "1", "--worlds", "2", "--show-hidden", "--data", str(folder.path))
    assert any(main(("explain", "--room", folder.going_on, *play, "--seat", str(seat))) == 0 for seat in range(3)), (
        capsys.readouterr()
    )


# replay


def test_replay_tells_a_match_as_an_auditor_sees_it(folder: Folder, capsys: pytest.CaptureFixture[str]) -> None:
    told = said(capsys, "replay", folder.over, "--data", str(folder.path))
    assert told.count("The deck opens its commitment.") == 6
    assert told.count("The kitty 底牌") == 6
    assert "The match is over." in told
    one = said(capsys, "replay", folder.over, "--deal", "3", "--data", str(folder.path))
    assert one.count("The deck opens its commitment.") == 1
    assert "Deal 3 of 6" in one


def test_replay_tells_a_deal_as_one_seat_saw_it(folder: Folder, capsys: pytest.CaptureFixture[str]) -> None:
    shown = [
        said(capsys, "replay", folder.over, "--deal", "1", "--seat", str(seat), "--data", str(folder.path))
        for seat in range(3)
    ]
    dealt = [
        next(line for line in told.splitlines() if line.startswith(f"{name}: "))
        for told, name in zip(shown, ("alice", "bob", "carol"), strict=True)
    ]
    assert len(set(dealt)) == 3
    for seat, told in enumerate(shown):
        assert [line in told for line in dealt] == [other == seat for other in range(3)]


def test_replay_shows_nothing_hidden_of_a_deal_in_progress_unless_told_to(
    folder: Folder, capsys: pytest.CaptureFixture[str]
) -> None:
    data = ("--data", str(folder.path))
    settled = said(capsys, "replay", folder.going_on, "--deal", "1", *data)
    assert "alice: " in settled
    for eyes in ((), ("--seat", "1")):
        closed = said(capsys, "replay", folder.going_on, "--deal", "2", *eyes, *data)
        beginning = closed.split("opens the bidding")[0]
        assert not any(sign in beginning for sign in SUITS)
        opened = said(capsys, "replay", folder.going_on, "--deal", "2", *eyes, "--show-hidden", *data)
        assert any(sign in opened.split("opens the bidding")[0] for sign in SUITS)


def test_replay_waits_for_enter_after_each_step(
    folder: Folder, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    pressed = io.StringIO("\n" * 10_000)
    monkeypatch.setattr("sys.stdin", pressed)
    told = said(capsys, "replay", folder.over, "--deal", "1", "--step", "--data", str(folder.path))
    assert pressed.tell() > 80
    assert told.count("is to act, holding") > 80


CLOSED = Onlookers(None, frozenset(), sees_all=False)
AUDITOR = Onlookers(None, frozenset(), sees_all=True)


@pytest.mark.parametrize("options", [RoomOptions(), RoomOptions(FourPlayer(), review=False)])
def test_replay_shows_of_a_deal_in_progress_what_the_public_may_see(options: RoomOptions) -> None:
    throws = 0
    for change in changes(options):
        assert CLOSED.views(change.after) == (view(change.after, PUBLIC),)
        told = CLOSED.cause(change.before, change.event, change.after)
        if isinstance(told, Led) and told.failed_throw:
            throws += 1
            assert told.attempted is None
            open_to_auditors = AUDITOR.cause(change.before, change.event, change.after)
            assert isinstance(open_to_auditors, Led)
            assert open_to_auditors.attempted is not None
    assert throws


def changes(options: RoomOptions) -> Iterator[Change]:
    """A deal played by chance, up to its settlement."""
    seats = game_rules(options.game, options.review).seats
    policies: BySeat[Policy] = by_seat(seats, lambda _: RandomLegal())
    for step in contest(options, policies, Random(3), shuffles(options, Random(4))):
        match = step.before
        for event in step.events:
            if isinstance(event, DealSettled):
                return
            yield Change(match, event, evolve(match, event))
            match = evolve(match, event)


# export


def test_export_writes_each_match_as_a_line_and_verifies_it(folder: Folder, capsys: pytest.CaptureFixture[str]) -> None:
    lines = said(capsys, "export", "--verify", "--data", str(folder.path)).splitlines()
    assert len(lines) == 2
    over = said(capsys, "export", folder.over, "--data", str(folder.path))
    assert over.strip() in lines
    assert ParseDict(json.loads(over), record_pb2.MatchRecord()) == folder.record
    going_on = json.loads(said(capsys, "export", folder.going_on, "--data", str(folder.path)))
    assert [deal["deal"] for deal in going_on["deals"]] == [1]
    assert "end_time" not in going_on["summary"]
    assert said(capsys, "export", "--platform", "rival", "--data", str(folder.path)) == ""
    assert said(capsys, "export", "nowhere", "--data", str(folder.path), status=export.FAULTY) == ""


def test_export_finds_a_match_that_the_core_decides_otherwise(
    folder: Folder, capsys: pytest.CaptureFixture[str]
) -> None:
    asyncio.run(rewrite_a_settlement(folder))
    plain = said(capsys, "export", "--data", str(folder.path))
    assert folder.over in plain
    assert main(["export", "--verify", "--data", str(folder.path)]) == export.FAULTY
    told = capsys.readouterr().err
    assert f"room {folder.over}: from event " in told
    assert "the core decides another DealSettled" in told
    assert "1 verified, 1 faulty" in told


async def rewrite_a_settlement(folder: Folder) -> None:
    """A store whose checksums are right and whose first deal of the finished match was settled wrongly."""
    store = await open_store(folder.path / STORE_FILE)
    assert isinstance(store, SqliteStore)
    entries = await store.read(folder.over)
    assert isinstance(entries, tuple)
    await store.delete_rooms(ENDED, TimeNs(2**62), 10)
    at = next(number for number, entry in enumerate(entries) if is_settlement(entry))
    for group in batches((*entries[:at], doubled(entries[at]), *entries[at + 1 :])):
        first = group[0]
        bodies = tuple(each.body for each in group)
        batch = Batch(first.time, first.actor, first.command, first.rules_version, bodies, PLAIN)
        assert isinstance(await store.append(folder.over, Version(first.version - 1), batch), Appended)
    await store.close()


def is_settlement(entry: Entry) -> bool:
    return isinstance(stored.read(entry.body, entry.rules_version), DealSettled)


def doubled(entry: Entry) -> Entry:
    """The same settlement with twice the stake."""
    event = stored.read(entry.body, entry.rules_version)
    assert isinstance(event, DealSettled)
    stake = Chips(2 * event.settlement.stake)
    return replace(entry, body=stored.write(replace(event, settlement=replace(event.settlement, stake=stake))))


def batches(entries: tuple[Entry, ...]) -> list[list[Entry]]:
    return [list(group) for _, group in groupby(entries, key=lambda entry: (entry.actor, entry.command))]


# compact and retention


async def ended_matches(events: Store, clock: Clock, number: int) -> list[Room]:
    """Matches that ended a day apart, the oldest first."""
    rooms, found = Rooms(node_on(events, clock=clock)), list[Room]()
    for day in range(number):
        found.append(await seated(rooms, f"day {day}"))
        assert isinstance(await administer(found[-1], Disband()), Accepted)
        clock.forward(DAY)
    return found


async def test_old_matches_are_deleted_whole_and_the_others_stay(tmp_path: Path) -> None:
    store = await open_store(tmp_path / STORE_FILE)
    assert isinstance(store, SqliteStore)
    clock = Clock()
    rooms = Rooms(node_on(store, clock=clock))
    going_on = await seated(rooms, "going on")
    ended = await ended_matches(store, clock, 50)
    gone = await delete_old_matches(store, TimeNs(clock() - int(9.5 * DAY)))
    assert set(gone) == {room.id for room in ended[:-9]}
    for room in (*ended, going_on):
        assert await head(store, room.id) == (NOTHING if room.id in gone else room.version)
    await store.close()


async def test_a_server_that_keeps_days_deletes_what_is_older_and_forgets_it(tmp_path: Path) -> None:
    store, clock = MemoryStore(), Clock()
    ended = await ended_matches(store, clock, 5)
    opened = open_key_files(tmp_path, None, None)
    assert isinstance(opened, Opened)
    server = Server(Settings(store, opened.files, keep_days=2.5, now=clock))
    assert isinstance(await server.rooms.find(ended[0].id), Room)
    await server.start()
    try:
        await eventually(lambda: not server.rooms.live)
    finally:
        await server.stop(grace=0.2)
    assert set(await store.rooms(RoomId(""), 10)) == {room.id for room in ended[-2:]}


def test_compact_deletes_what_is_old_and_gives_its_space_back(
    folder: Folder, capsys: pytest.CaptureFixture[str]
) -> None:
    size = (folder.path / STORE_FILE).stat().st_size
    told = said(capsys, "compact", "--keep-days", "30", "--data", str(folder.path))
    assert "1 matches deleted" in told
    assert (folder.path / STORE_FILE).stat().st_size < size
    assert folder.over not in said(capsys, "export", "--data", str(folder.path))
    assert folder.going_on in said(capsys, "export", "--verify", "--data", str(folder.path))


# backup


def test_a_backup_is_a_data_folder_of_its_own(folder: Folder, capsys: pytest.CaptureFixture[str]) -> None:
    assert isinstance(open_key_files(folder.path, None, None), Opened)
    target = folder.path / "copy"
    said(capsys, "backup", str(target), "--data", str(folder.path))
    assert {path.name for path in target.iterdir()} == {STORE_FILE, PLATFORM_KEYS, SIGNING_KEYS}
    assert (target / SIGNING_KEYS).read_bytes() == (folder.path / SIGNING_KEYS).read_bytes()
    assert (target / SIGNING_KEYS).stat().st_mode & 0o077 == 0
    everything = said(capsys, "export", "--verify", "--data", str(folder.path))
    assert said(capsys, "export", "--verify", "--data", str(target)) == everything


def test_a_backup_overwrites_nothing_and_leaves_no_half_of_itself(
    folder: Folder, capsys: pytest.CaptureFixture[str]
) -> None:
    target = folder.path / "copy"
    target.mkdir()
    said(capsys, "backup", str(target), "--data", str(folder.path), status=backup.NOT_DONE)
    assert list(target.iterdir()) == []
    said(capsys, "backup", str(folder.path / "no" / "where"), "--data", str(folder.path), status=backup.NOT_DONE)
    said(capsys, "backup", str(folder.path / "other"), "--data", str(target), status=backup.NOT_DONE)
    assert {path.name for path in folder.path.iterdir()} & {"other", "other.partial", "no"} == set()


# keys


def test_a_platform_is_given_a_key_that_opens_its_rooms(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    opened = open_key_files(tmp_path, None, None)
    assert isinstance(opened, Opened)
    key = said(capsys, "keys", "add", "rival", "--data", str(tmp_path)).strip()
    assert opened.files.reload() is None
    assert opened.files.current.platforms.platform(key) == "rival"
    gateway = said(capsys, "keys", "add", "rival", "--scope", "gateway", "--data", str(tmp_path)).strip()
    assert opened.files.reload() is None
    known = opened.files.current.platforms
    assert (known.platform(gateway), known.platform(gateway, Scope.GATEWAY)) == (None, "rival")
    said(capsys, "keys", "add", "No Name", "--data", str(tmp_path), status=2)
    said(capsys, "keys", "add", "rival", "--data", str(tmp_path / "nowhere"), status=2)


def test_a_key_that_was_removed_opens_nothing_and_the_others_still_do(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    opened = open_key_files(tmp_path, None, None)
    assert isinstance(opened, Opened)
    old, new = (said(capsys, "keys", "add", "rival", "--data", str(tmp_path)).strip() for _ in range(2))
    gateway = said(capsys, "keys", "add", "rival", "--scope", "gateway", "--data", str(tmp_path)).strip()
    listed = said(capsys, "keys", "list", "--data", str(tmp_path)).splitlines()
    prints = [hashlib.sha256(key.encode()).hexdigest()[:12] for key in (old, new, gateway)]
    assert listed[1:] == [f"rival platform {prints[0]}", f"rival platform {prints[1]}", f"rival gateway {prints[2]}"]
    assert listed[0].startswith("local platform ")
    assert f"the platform key {prints[0]} of rival" in said(
        capsys, "keys", "remove", prints[0], "--data", str(tmp_path)
    )
    assert opened.files.reload() is None
    known = opened.files.current.platforms
    assert (known.platform(old), known.platform(new), known.platform(gateway, Scope.GATEWAY)) == (
        None,
        "rival",
        "rival",
    )
    for absent in (prints[0], prints[1][:-1], ""):
        said(capsys, "keys", "remove", absent, "--data", str(tmp_path), status=2)
    said(capsys, "keys", "remove", prints[1], "--data", str(tmp_path / "nowhere"), status=2)
    said(capsys, "keys", "list", "--data", str(tmp_path / "nowhere"), status=2)
    for each in (
        line.rpartition(" ")[2] for line in said(capsys, "keys", "list", "--data", str(tmp_path)).splitlines()
    ):
        said(capsys, "keys", "remove", each, "--data", str(tmp_path))
    assert said(capsys, "keys", "list", "--data", str(tmp_path)) == ""
    assert opened.files.reload() is None, "a file without keys is sound, and opens nothing"


def test_after_a_rotation_older_tokens_stay_good_for_as_long_as_is_said(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    opened = open_key_files(tmp_path, None, None)
    assert isinstance(opened, Opened)
    claims = claims_for(FIRST_PLATFORM, RoomId("room"), Seat(0), Player("alice"), Epoch(1), UnixSeconds(0))
    token = opened.files.current.tokens.issue(claims)
    for still_good in (True, False):
        said(capsys, "keys", "rotate-signing", "--keep", "1", "--data", str(tmp_path))
        assert opened.files.reload() is None
        verified = opened.files.current.tokens.verify(token, UnixSeconds(1))
        assert (verified == claims) == still_good
    said(capsys, "keys", "rotate-signing", "--keep", "-1", "--data", str(tmp_path), status=2)
    said(capsys, "keys", "rotate-signing", "--prepared", "--data", str(tmp_path), status=2)
    said(capsys, "keys", "prepare-signing", "--data", str(tmp_path))
    said(capsys, "keys", "rotate-signing", "--prepared", "--data", str(tmp_path))
    said(capsys, "keys", "prepare-signing", "--data", str(tmp_path / "nowhere"), status=2)
