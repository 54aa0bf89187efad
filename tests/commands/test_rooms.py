"""`erqiwang rooms` and `erqiwang health` on a running server."""

import asyncio
import json
import os
import sys
from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import pytest

from erqiwang_grpc.client import Platform
from erqiwang_grpc.commands import rooms
from erqiwang_grpc.testing import ServerProcess
from erqiwang_grpc.v1 import room_pb2, room_service_pb2 as pb
from tests.service.processes import REPOSITORY, serving
from tests.service.tables import seated

HOSTILE: Final = "\x1b[2J"


@dataclass(frozen=True)
class Ran:
    status: int
    out: str
    err: str


async def ran(*arguments: str, key: str = "") -> Ran:
    """A command in a process of its own, with the key in its environment."""
    environment = {name: value for name, value in os.environ.items() if name != "ERQIWANG_KEY"}
    if key:
        environment["ERQIWANG_KEY"] = key
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "erqiwang_grpc", *arguments,
        cwd=REPOSITORY, env=environment, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.PIPE,
    )  # fmt: skip
    out, err = await process.communicate()
    assert process.returncode is not None
    return Ran(process.returncode, out.decode(), err.decode())


@pytest.fixture
async def server(tmp_path: Path) -> AsyncIterator[ServerProcess]:
    async with serving(tmp_path, "--in-memory") as server:
        yield server


async def test_rooms_are_listed_shown_and_disbanded(server: ServerProcess) -> None:
    at = ("--server", server.address)
    async with Platform([server.address], server.key) as platform:
        waiting = (await platform.create_room("owner", reference="table 9")).room.room_id
        playing = (await seated(platform, players=("anna", "bert", "cleo"))).room_id
    listed = await ran("rooms", "list", *at, key=server.key)
    first, second = listed.out.splitlines()
    assert (listed.status, listed.err) == (0, "")
    assert first.startswith(f"{playing}  playing  deal 1, bidding  0 anna +0 (away), 1 bert +0 (away), 2 cleo")
    assert "  waits for 0  version 5  last event 20" in first
    assert second.startswith(f"{waiting}  open  0 free, 1 free, 2 free  version 1  last event 20")
    assert second.endswith("  reference table 9")
    for given, expected in [
        (("--state", "open"), waiting),
        (("--player", "bert"), playing),
        (("--reference", "table 9"), waiting),
    ]:
        (line,) = (await ran("rooms", "list", *given, *at, key=server.key)).out.splitlines()
        assert line.startswith(expected)
    shown = await ran("rooms", "show", playing, "--json", *at, key=server.key)
    assert json.loads(shown.out)["roomId"] == playing
    text = ("--reason", "maintenance", "--text", "until tomorrow")
    ended = await ran("rooms", "disband", playing, *text, "--json", *at, key=server.key)
    assert json.loads(ended.out)["disbanding"] == {
        "platform": True,
        "reason": "DISBAND_REASON_MAINTENANCE",
        "text": "until tomorrow",
    }
    again = await ran("rooms", "disband", playing, *at, key=server.key)
    assert (again.status, again.out) == (1, "")
    assert "WRONG_PHASE" in again.err


async def test_a_key_comes_from_a_file_or_the_environment_and_is_never_shown(
    server: ServerProcess, tmp_path: Path
) -> None:
    at = ("--server", server.address)
    file = tmp_path / "key"
    file.write_text(f"{server.key}\n")
    assert (await ran("rooms", "list", "--key-file", str(file), *at)).status == 0
    missing = await ran("rooms", "list", *at)
    assert missing.status == 2
    assert "erqiwang rooms: a platform's key is needed" in missing.err
    wrong = server.key[:-1] + ("x" if server.key[-1] != "x" else "y")
    refused = await ran("rooms", "list", *at, key=wrong)
    assert refused.status == 1
    assert "CREDENTIAL_WRONG" in refused.err
    assert wrong not in refused.err
    broken = await ran("rooms", "list", *at, key="two\nlines")
    assert broken.status == 2
    assert "ERQIWANG_KEY holds no key" in broken.err
    assert (await ran("rooms", "list", "--key-file", str(tmp_path / "none"), *at)).status == 2


def test_what_others_wrote_is_made_printable() -> None:
    room = pb.Room(room_id="room", state=room_pb2.ROOM_STATE_OPEN, reference=HOSTILE)
    room.seats.add(seat=0, player=HOSTILE)
    assert "\x1b" not in rooms.told(room)
    assert rooms.told(room).count(r"\x1b[2J") == 2


def test_a_room_that_is_set_apart_is_told() -> None:
    assert "  set apart  " in rooms.told(pb.Room(room_id="room", state=room_pb2.ROOM_STATE_PLAYING, quarantined=True))


async def test_health(tmp_path: Path) -> None:
    async with serving(tmp_path, "--in-memory") as server:
        healthy = await ran("health", "--server", server.address)
        assert (healthy.status, healthy.out, healthy.err) == (0, "serving\n", "")
    gone = await ran("health", "--server", server.address, "--timeout", "0.5")
    assert (gone.status, gone.out) == (2, "")
    assert f"erqiwang health: no server answers at {server.address}" in gone.err


async def test_no_server(tmp_path: Path) -> None:
    asked = await ran("rooms", "list", "--server", "127.0.0.1:1", key="erq_x")
    assert asked.status == 1
    assert "no server answers at 127.0.0.1:1" in asked.err
    bad = await ran("health", "--ca", str(tmp_path / "none"))
    assert bad.status == 2
    assert "No such file" in bad.err
