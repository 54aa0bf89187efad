"""`erqiwang table`: a person plays in a browser, at the address that the command prints."""

import json
import re
import socket
from pathlib import Path
from random import Random
from typing import Final

import pytest
from aiohttp import ClientSession
from erqiwang_core.match import Command
from erqiwang_core.players import Heard, Sight, Style, nothing_heard
from erqiwang_core.playing import Signal

from erqiwang_grpc.__main__ import main
from erqiwang_grpc.tools import guest
from tests.commands.terminals import CTRL_C, Terminal, terminal

ADDRESS: Final = re.compile(r"Your table: (http://127\.0\.0\.1:\d+/)#token=(\S+)")


def printed(screen: Terminal) -> tuple[str, str]:
    """The address of the page, and the token behind it."""
    screen.until("Ctrl-C ends the table")
    found = ADDRESS.search(screen.text)
    assert found is not None, screen.text
    return found[1], found[2]


@pytest.mark.parametrize(("game", "seat", "players"), [("three", 0, 3), ("four", 2, 4)])
async def test_the_address_holds_a_seat_at_a_table_with_players(game: str, seat: int, players: int) -> None:
    with terminal("table", "--no-open", "--game", game, "--seat", str(seat), "--name", "Lin") as screen:
        page, token = printed(screen)
        async with ClientSession() as session, session.ws_connect(f"{page}v1/play") as seated:
            await seated.send_str(json.dumps({"attach": {"seatToken": token}}))
            view = (await seated.receive_json())["messages"][0]["snapshot"]["view"]
            assert view["seat"] == seat
            assert len(view["parts"]["chairs"]["players"]) == players
            assert view["parts"]["chairs"]["players"][seat] == "Lin"
            async with session.get(page) as document:
                assert "main.js" in await document.text()
        screen.press(CTRL_C)
        assert screen.process.wait(30) == 130


def test_the_browser_is_opened_at_the_address(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The browser is the program that BROWSER names, as everywhere in Python."""
    browser = tmp_path / "browser"
    browser.write_text(f'#!/bin/sh\necho "$1" > {tmp_path / "opened"}\n')
    browser.chmod(0o700)
    monkeypatch.setenv("BROWSER", f"{browser} %s")
    with terminal("table") as screen:
        page, token = printed(screen)
        while not (tmp_path / "opened").exists() or not (tmp_path / "opened").read_text():
            assert screen.process.poll() is None
        assert (tmp_path / "opened").read_text().strip() == f"{page}#token={token}"
        screen.press(CTRL_C)
        assert screen.process.wait(30) == 130


def test_a_player_that_fails_ends_the_table_with_its_error(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nobody would play its seat, and the person would wait for ever."""

    class Failing:
        def __init__(self, _style: Style) -> None:
            pass

        def act(self, _view: Sight, _random: Random, _heard: Heard = nothing_heard) -> Command | None:
            raise LookupError("it knows no answer")

        def signal(self, _view: Sight, _random: Random) -> Signal | None:
            return None

    monkeypatch.setattr(guest, "Sensible", Failing)
    with pytest.raises(LookupError, match="it knows no answer"):
        main(["table", "--no-open", "--seat", "1"])


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("--seat", "3"), "--seat is 0 to 2"),
        (("--name", "Anna"), "Anna plays against you, choose another"),
        (("--deck", "full"), "--deck is an option of the four-player game"),
    ],
)
def test_what_does_not_fit_is_said(arguments: tuple[str, ...], said: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["table", "--no-open", *arguments]) == 2
    assert said in capsys.readouterr().err


def test_a_port_that_is_taken_is_said(capsys: pytest.CaptureFixture[str]) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        assert main(["table", "--no-open", "--port", str(taken.getsockname()[1])]) == 2
    assert "choose another --host or --port" in capsys.readouterr().err
