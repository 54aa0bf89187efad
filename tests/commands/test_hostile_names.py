"""Every command that shows a name, on a stored match whose players have hostile ones."""

import asyncio
import json
import logging
from pathlib import Path
from random import Random
from time import time

import pytest
from erqiwang_core.match import Disband, Player
from erqiwang_core.refusals import Phase
from erqiwang_core.units import Seat
from erqiwang_core.view import progress
from google.protobuf.json_format import ParseDict
from hypothesis import given, strategies as st

from erqiwang_grpc.__main__ import main
from erqiwang_grpc.auth.files import Opened, open_key_files
from erqiwang_grpc.auth.keys import PlatformId
from erqiwang_grpc.auth.tokens import Epoch, UnixSeconds, claims_for
from erqiwang_grpc.events.actor import SeatActor
from erqiwang_grpc.logs import JsonLines
from erqiwang_grpc.names import MOST_BYTES, fault, is_printable, printable, printable_json
from erqiwang_grpc.rooms.command import Accepted, SeatAsks
from erqiwang_grpc.rooms.registry import Rooms
from erqiwang_grpc.rooms.room import Room
from erqiwang_grpc.rpc.server import Server, Settings
from erqiwang_grpc.store import RoomId
from erqiwang_grpc.store.memory import MemoryStore
from erqiwang_grpc.store.sqlite import STORE_FILE, SqliteStore, open_store
from erqiwang_grpc.v1 import record_pb2
from tests.commands.hostile import GOOD, NAMES, dangerous
from tests.commands.terminals import terminal
from tests.durability.played import administer, next_command, node_on, seated

each_name = pytest.mark.parametrize("name", [pytest.param(name, id=why) for why, name in NAMES.items()])


TABLES = [tuple(list(NAMES.values())[at : at + 3]) for at in range(0, len(NAMES), 3)]
each_table = pytest.mark.parametrize("players", TABLES, ids=ascii)


async def play_a_deal(room: Room, players: tuple[str, ...]) -> None:
    luck = Random(3)
    while progress(room.match).phase is not Phase.SETTLED:
        seat, command = next_command(room.match, luck)
        answer = await room.carry_out(SeatAsks(SeatActor(seat, Player(players[seat])), command))
        assert isinstance(answer, Accepted), answer


async def stored(folder: Path, players: tuple[str, ...]) -> RoomId:
    """A match of one deal in a data folder."""
    store = await open_store(folder / STORE_FILE)
    assert isinstance(store, SqliteStore)
    room = await seated(Rooms(node_on(store)), players=players)
    await play_a_deal(room, players)
    ended = await administer(room, Disband())
    assert isinstance(ended, Accepted), ended
    await store.close()
    return room.id


@each_table
def test_replay_and_export(players: tuple[str, ...], tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    room = asyncio.run(stored(tmp_path, players))
    for eyes in ((), ("--seat", "1")):
        assert main(["replay", room, "--data", str(tmp_path), *eyes]) == 0
        told = capsys.readouterr().out
        assert not dangerous(told)
        assert f"opened by {printable(players[0])}.\n" in told
        for seat, name in enumerate(players):
            assert f"{printable(name)} takes seat {seat}.\n" in told
    assert main(["export", "--verify", "--data", str(tmp_path)]) == 0
    exported = capsys.readouterr().out
    assert not dangerous(exported)
    (line,) = exported.splitlines()
    record = ParseDict(json.loads(line), record_pb2.MatchRecord())
    assert record.summary.owner == players[0]
    assert tuple(record.summary.players) == players


async def test_play(tmp_path: Path) -> None:
    players = tuple("".join(names for table in TABLES[seat::3] for names in table) for seat in range(3))
    opened = open_key_files(tmp_path, None, None)
    assert isinstance(opened, Opened)
    server = Server(Settings(MemoryStore(), opened.files))
    await server.start()
    try:
        room = await seated(server.rooms, players=players)
        chair = room.match.chairs[Seat(1)]
        claims = claims_for(
            PlatformId("local"),
            room.id,
            Seat(1),
            Player(players[1]),
            Epoch(chair.epoch),
            UnixSeconds(int(time())),
        )
        token = opened.files.current.tokens.issue(claims)
        with terminal("play", "--server", f"127.0.0.1:{server.port}", "--token", token) as screen:
            await asyncio.to_thread(screen.until, f"{printable(players[0])} opens the bidding.")
            await administer(room, Disband())
            await asyncio.to_thread(screen.until, "The match was disbanded")
            assert await asyncio.to_thread(screen.process.wait, 30) == 0
            assert not dangerous(screen.text)
    finally:
        await server.stop(grace=0.0)


@each_name
def test_nobody_plays_under_it(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["play", "--name", name]) == 2
    said = capsys.readouterr()
    assert said.out == ""
    assert not dangerous(said.err)
    assert said.err == "erqiwang play: --name holds a character that cannot be printed: choose another\n"


@each_name
def test_logs(name: str) -> None:
    record = logging.LogRecord("erqiwang_grpc", logging.INFO, "", 0, name, None, None)
    record.room = record.why = name
    line = JsonLines().format(record)
    assert not dangerous(line, lines=False)
    read = json.loads(line)
    assert (read["message"], read["room"], read["why"]) == (name, name, name)


@pytest.mark.parametrize("name", GOOD)
def test_people_keep_their_names(name: str) -> None:
    assert fault(name) is None
    assert printable(name) == name
    assert printable_json(json.dumps(name, ensure_ascii=False)) == json.dumps(name, ensure_ascii=False)


@pytest.mark.parametrize(
    ("name", "why"),
    [
        ("", "is empty"),
        ("x" * (MOST_BYTES + 1), "longer than 128 bytes"),
        ("王" * 43, "longer than 128 bytes"),
        ("\udcff", "cannot be printed"),
    ],
)
def test_what_else_is_no_name(name: str, why: str) -> None:
    said = fault(name)
    assert said is not None
    assert why in said
    assert fault("x" * MOST_BYTES) is None


@given(st.text())
def test_any_text_is_made_printable(text: str) -> None:
    shown = printable(text)
    assert not dangerous(shown, lines=False)
    assert is_printable(shown)
    assert (shown == text) == is_printable(text)
    line = printable_json(json.dumps(text, ensure_ascii=False))
    assert not dangerous(line, lines=False)
    assert json.loads(line) == text
