"""Ctrl-C on a real terminal: quiet at any moment, with status 130, and no child is left."""

import asyncio
import os
import re
import signal
import socket
import sqlite3
import subprocess
import sys
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from time import monotonic, sleep
from typing import Final

import psutil
import pytest

from erqiwang_grpc.auth.files import FIRST_KEY, PLATFORM_KEYS, SIGNING_KEYS
from erqiwang_grpc.commands import SUBCOMMANDS
from erqiwang_grpc.store.sqlite import STORE_FILE
from tests.commands.stores import stored
from tests.commands.terminals import CTRL_C, PATIENCE_SECONDS, Terminal, terminal
from tests.store.postgres.programs import needed

INTERRUPTED: Final = {
    "play": "test_while_it_runs",
    "table": "test_while_it_runs",
    "demo": "test_while_it_runs",
    "simulate": "test_while_it_runs",
    "bench": "test_while_it_runs",
    "serve": "test_while_it_runs",
    "edge": "test_edge_while_no_server_answers",
    "bots": "test_bots_while_no_server_answers",
    "replay": "test_replay_at_a_step",
    "verify": "test_verify_while_it_reads",
    "export": "test_export_while_it_writes",
    "backup": "test_backup_leaves_nothing",
    "compact": "test_while_the_store_is_held",
    "store": "test_while_the_store_is_held",
    "torture": "test_torture_while_it_plays",
    "move": "test_while_no_server_answers",
    "rooms": "test_while_no_server_answers",
    "health": "test_while_no_server_answers",
}
"""Each subcommand, and the test that interrupts it."""
LEFT_OUT: Final = {
    "explain": "it computes for a moment, and waits for nothing",
    "keys": "it writes one small file, and waits for nothing",
    "config": "it prints what holds, and waits for nothing",
}
NEVER = ("Traceback", "Error", "Exception", "Warning", "was never")


def interrupted(screen: Terminal, *, times: int = 1) -> str:
    """Press Ctrl-C, once or in haste; what is written from then on."""
    children = psutil.Process(screen.process.pid).children(recursive=True)
    screen.press(CTRL_C * times)
    assert screen.end() == 130, screen.text[-1000:]
    said = screen.since()
    assert not any(word in said for word in NEVER), said
    _, alive = psutil.wait_procs(children, 30)
    assert not alive
    return said


@pytest.mark.parametrize("times", [1, 3], ids=["once", "in haste"])
@pytest.mark.parametrize(
    ("given", "moment"),
    [
        pytest.param(("play", "--seed", "4", "--fast"), "> ", id="play, at the prompt"),
        pytest.param(("play", "--seed", "4", "--seat", "1"), "opens the bidding", id="play, while others think"),
        pytest.param(("table", "--no-open"), "Ctrl-C ends", id="table"),
        pytest.param(("demo", "--seed", "5"), "opens the bidding", id="demo, in a pause"),
        pytest.param(("demo", "--seed", "5", "--fast"), "captures", id="demo, in play"),
        pytest.param(("simulate", "--deals", "100000"), "matches", id="simulate"),
        pytest.param(("bench", "--rooms", "4", "--seconds", "30", "--processes", "2"), "relay", id="bench"),
        pytest.param(("serve", "--in-memory", "--port", "0"), "erqiwang serves on", id="serve"),
    ],
)
def test_while_it_runs(given: tuple[str, ...], moment: str, times: int, tmp_path: Path) -> None:
    data = ("--data", str(tmp_path)) if given[0] == "serve" else ()
    with terminal(*given, *data) as screen:
        screen.until(moment)
        interrupted(screen, times=times)


@pytest.mark.parametrize("module", ["argparse", "asyncio", "grpc._cython.cygrpc", "rich.table"])
def test_while_modules_are_loaded(module: str) -> None:
    """A demo loads them all, also where it only prints its help."""
    with terminal("demo", "--help", python=("-X", "importtime")) as screen:
        screen.until(f" {module}\n")
        interrupted(screen)


@pytest.mark.parametrize("times", [1, 2], ids=["once", "twice"])
@pytest.mark.parametrize("moment", [0.0, 0.05, 0.1, 0.2, 0.4, 0.8])
def test_simulate_while_its_processes_start(moment: float, times: int) -> None:
    """A terminal sends Ctrl-C to all of them. The second one may come while Python exits."""
    with subprocess.Popen(
        [sys.executable, "-m", "erqiwang_grpc", "simulate", "--deals", "60000", "--processes", "2"],
        stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, start_new_session=True,
    ) as process:  # fmt: skip
        running = psutil.Process(process.pid)
        wait(lambda: bool(running.children(recursive=True)))
        sleep(moment)
        children = running.children(recursive=True)
        for _ in range(times):
            os.killpg(process.pid, signal.SIGINT)
            sleep(0.05)
        _, said = process.communicate(timeout=PATIENCE_SECONDS)
    assert (process.returncode, said) == (130, b"")
    _, alive = psutil.wait_procs(children, 30)
    assert not alive


@pytest.mark.parametrize("pause", [0.02, 0.05, 0.1, 0.2])
def test_a_second_ctrl_c_while_python_exits(pause: float) -> None:
    with terminal("demo", "--seed", "5", "--fast") as screen:
        screen.until("captures")
        screen.press(CTRL_C)
        sleep(pause)
        interrupted(screen)


def test_edge_while_no_server_answers(tmp_path: Path) -> None:
    key = tmp_path / "key"
    key.write_text("erqg_key")
    ports = ("--port", "0", "--status-port", "0")
    with terminal("edge", "--server", "127.0.0.1:1", "--key-file", str(key), *ports) as screen:
        screen.until("erqiwang edge serves on")
        interrupted(screen)


def test_bots_while_no_server_answers(tmp_path: Path) -> None:
    key, seats = tmp_path / "key", tmp_path / "seats.jsonl"
    key.write_text("erqg_key")
    seats.write_text('{"token": "a.seat.token"}')
    with terminal("bots", str(seats), "--server", "127.0.0.1:1", "--gateway-key-file", str(key)) as screen:
        screen.until("erqiwang bots: plays 1 seat")
        interrupted(screen)


def test_play_while_it_connects() -> None:
    with socket.socket() as server:
        server.bind(("127.0.0.1", 0))
        server.listen()
        server.settimeout(60)
        address = f"127.0.0.1:{server.getsockname()[1]}"
        with terminal("play", "--server", address, "--token", "x") as screen:
            connection, _ = server.accept()
            with connection:
                interrupted(screen)


@pytest.mark.parametrize(
    "given",
    [
        ("rooms", "list", "--key-file", "KEY", "--server", "ADDRESS"),
        ("health", "--timeout", "60", "--server", "ADDRESS"),
        ("move", "--from", "FOLDER", "--to", "postgresql://nobody@ADDRESS/rooms?sslmode=disable"),
    ],
    ids=lambda given: str(given[0]),
)
def test_while_no_server_answers(given: tuple[str, ...], tmp_path: Path) -> None:
    asyncio.run(stored(tmp_path))
    key = tmp_path / "key"
    key.write_text("a key")
    with socket.socket() as server:
        server.bind(("127.0.0.1", 0))
        server.listen()
        server.settimeout(60)
        places = {"KEY": str(key), "FOLDER": str(tmp_path), "ADDRESS": f"127.0.0.1:{server.getsockname()[1]}"}
        arguments = [re.sub("KEY|FOLDER|ADDRESS", lambda found: places[found[0]], each) for each in given]
        with terminal(*arguments) as screen:
            connection, _ = server.accept()
            with connection:
                interrupted(screen)


def test_replay_at_a_step(tmp_path: Path) -> None:
    room = asyncio.run(stored(tmp_path))
    with terminal("replay", room, "--step", "--data", str(tmp_path)) as screen:
        screen.until("takes seat 0.")
        interrupted(screen)


def test_every_subcommand_is_here() -> None:
    assert {*INTERRUPTED, *LEFT_OUT} == {each.name for each in SUBCOMMANDS}
    assert set(INTERRUPTED.values()) <= set(globals())


def wait(condition: Callable[[], bool]) -> None:
    """Wait until the condition holds, which no output announces."""
    deadline = monotonic() + PATIENCE_SECONDS
    while not condition():
        assert monotonic() < deadline, "it was waited for in vain"
        sleep(0.01)


def test_verify_while_it_reads() -> None:
    with terminal("verify", "-") as screen:
        screen.type("[")
        screen.until("[")
        wait(lambda: screen.unread() == 0)
        interrupted(screen)


def test_export_while_it_writes(tmp_path: Path) -> None:
    """It writes more than a terminal takes that nobody reads."""
    asyncio.run(stored(tmp_path, rooms=40))
    with terminal("export", "--data", str(tmp_path)) as screen:
        screen.until("{")
        interrupted(screen)
        assert "written" not in screen.text, "it was not at its end"


def test_backup_leaves_nothing(tmp_path: Path) -> None:
    """A key file that is a pipe holds it in the middle of its copies."""
    asyncio.run(stored(tmp_path))
    (tmp_path / PLATFORM_KEYS).touch()
    os.mkfifo(tmp_path / SIGNING_KEYS)
    target = tmp_path / "copy"
    half = target.with_name("copy.partial")
    with terminal("backup", str(target), "--data", str(tmp_path)) as screen:
        wait((half / SIGNING_KEYS).exists)
        interrupted(screen)
    assert not half.exists()
    assert not target.exists()


@pytest.mark.parametrize(
    "given", [("compact",), ("compact", "--keep-days", "0"), ("store", "rebuild"), ("store", "new-identity")]
)
def test_while_the_store_is_held(given: tuple[str, ...], tmp_path: Path) -> None:
    """Another process writes to the file, as no server does, so that this one has to wait."""
    asyncio.run(stored(tmp_path))
    file = tmp_path / STORE_FILE
    with closing(sqlite3.connect(file, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        with terminal(*given, "--data", str(tmp_path)) as screen:
            process = psutil.Process(screen.process.pid)
            wait(lambda: any(Path(each.path) == file for each in process.open_files()))
            interrupted(screen)


def test_torture_while_it_plays(tmp_path: Path) -> None:
    with terminal("torture", "--minutes", "5", "--tables", "2", "--keep", str(tmp_path)) as screen:
        wait((tmp_path / FIRST_KEY).exists)
        wait((tmp_path / STORE_FILE).exists)
        interrupted(screen)


def test_torture_of_nodes_while_they_play(tmp_path: Path) -> None:
    needed()
    given = ("torture", "--store", "postgresql", "--minutes", "5", "--tables", "2", "--keep", str(tmp_path))
    with terminal(*given) as screen:
        logs = [tmp_path / f"node{number}.log" for number in range(3)]
        wait(lambda: all(log.exists() and "serving" in log.read_text() for log in logs))
        interrupted(screen)
