"""Ctrl-C on a real terminal: quiet at any moment, with status 130, and no child is left."""

import asyncio
import socket
from pathlib import Path

import psutil
import pytest

from erqiwang_grpc.rooms.registry import Rooms
from erqiwang_grpc.store.sqlite import STORE_FILE, SqliteStore, open_store
from tests.commands.terminals import CTRL_C, Terminal, terminal
from tests.durability.played import node_on, play, seated

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


def test_replay_at_a_step(tmp_path: Path) -> None:
    room = asyncio.run(stored(tmp_path))
    with terminal("replay", room, "--step", "--data", str(tmp_path)) as screen:
        screen.until("takes seat 0.")
        interrupted(screen)


async def stored(folder: Path) -> str:
    store = await open_store(folder / STORE_FILE)
    assert isinstance(store, SqliteStore)
    room = await seated(Rooms(node_on(store)))
    await play(room, 10)
    await store.close()
    return room.id
