"""`erqiwang play`: a person on a real terminal, at a table of our own and at one of another server."""

import asyncio
import socket
from pathlib import Path

import pytest

from erqiwang_grpc.__main__ import main
from erqiwang_grpc.auth.files import FIRST_KEY, Opened, open_key_files
from erqiwang_grpc.client import Platform
from erqiwang_grpc.rpc.server import Server, Settings
from erqiwang_grpc.store.memory import MemoryStore
from tests.commands.terminals import Terminal, terminal

ASKED = ("Bid 叫分:", "Name trump 选主:", "Bury 8 cards", "You lead.", "Follow with", "Ready for the next deal")


def test_a_person_plays_a_whole_deal(capfd: pytest.CaptureFixture[str]) -> None:
    with terminal("play", "--seat", "0", "--seed", "4", "--fast") as screen:
        asked = play_a_deal(screen)
        assert set(asked) == set(ASKED)
        assert "Deal 1 is settled" in screen.text
        assert "The deck opens its commitment." in screen.text
        screen.until("> ")
        screen.type("quit")
        screen.until("You leave the table")
        assert screen.process.wait(30) == 0
    assert capfd.readouterr().err == ""


def play_a_deal(screen: Terminal) -> list[str]:
    """Take every suggestion up to the settlement; what was asked."""
    asked: list[str] = []
    while not asked or asked[-1] != ASKED[-1]:
        asked.append(screen.until(*ASKED))
        if asked[-1] != ASKED[-1]:
            screen.until("> ")
            screen.type("")
    return asked


def test_what_a_person_types_is_answered() -> None:
    with terminal("play", "--seed", "4", "--fast") as screen:
        screen.until("Bid 叫分:", "Bid 叫分:")
        for line, answer in (
            ("help", "[those] cards are put in for you"),
            ("seventy", "is no bid"),
            ("s7", "Not now: the bidding is on."),
            ("surrender", "Not now: the bidding is on."),
            ("投降", "Not now: the bidding is on."),
            ("no trump", "Not now: the bidding is on."),
            ("7", "There is no bid of 7: bids are 70, 65,"),
            ("pass", "The first bidder has to bid: 70 or lower."),
            ("signal 1", "Not now: the bidding is on."),
            ("trumps", "Not now: the bidding is on."),
            ("history", "No trick is finished yet."),
            ("captured", "captured 0 points"),
            ("table", "Nothing lies on the table."),
            ("hint", "A sensible player would 支招: "),
            ("支招", "A sensible player would 支招: "),
        ):
            screen.until("> ")
            screen.type(line)
            screen.until(answer)
        for line, asked in (("七十", "Name trump"), ("梅花", "Bury 8 cards"), ("", "You lead.")):
            screen.until("> ")
            screen.type("pass" if asked != "You lead." else "无主")
            screen.until("Not now: ") if asked != "Name trump" else screen.until("has to bid")
            screen.until("> ")
            screen.type(line)
            screen.until(asked)
        for line in ("pass", "surrender", "no trump", "不叫", "七十"):
            screen.until("> ")
            screen.type(line)
            screen.until("Not now: cards are being played.")
        screen.until("> ")
        screen.type("sq")
        screen.until("You do not hold ♠Q.")
        screen.until("> ")
        screen.type("h10 d10")
        screen.until("a lead is of one group. This would be legal: ")
        screen.until("> ")
        screen.type("dK d10")
        screen.until("only trumps may be thrown. This would be legal: ")
        screen.until("> ")
        screen.type("signal 2")
        screen.until("the declarer may send none")
        screen.until("> ")
        assert "Signalled" not in screen.text, "refused, and nothing else"
        screen.press(b"\xff\xfe\n")
        screen.until("is no card")
        screen.until("> ")
        screen.type("黑桃8")
        screen.until("Guest ♠8")


def test_a_name_is_no_markup() -> None:
    with terminal("play", "--seed", "4", "--fast", "--name", "[/red] :smile:") as screen:
        screen.until("[/red] :smile: opens the bidding.")


@pytest.mark.parametrize(
    ("given", "said"),
    [
        pytest.param(["--name", ""], "--name is empty", id="nothing"),
        pytest.param(["--name", "王" * 43], "--name is longer than 128 bytes", id="too long"),
        pytest.param(["--name", b"\xff"], "--name holds a character that cannot be printed", id="not UTF-8"),
        pytest.param(["--name", "Bao"], "Bao plays against you, choose another", id="another player's"),
        pytest.param(["--server", "127.0.0.1:1", "--token", b"\xff"], "--token is no token", id="a token not UTF-8"),
    ],
)
def test_names_that_cannot_be_taken(given: list[str | bytes], said: str) -> None:
    with terminal("play", *given) as screen:
        assert screen.end() == 2
        assert screen.text.startswith("erqiwang play: ")
        assert said in screen.text
        assert screen.text.count("\n") == 1, "a sentence, no traceback"


def test_a_name_is_free_where_its_player_is_not_at_the_table() -> None:
    with terminal("play", "--seed", "4", "--fast", "--name", "Dora") as screen:
        screen.until("Dora opens the bidding.")


def test_the_countdown_runs_and_does_nothing() -> None:
    with terminal("play", "--seed", "4", "--fast") as screen:
        screen.until("[ 15 s] > ")
        screen.until("[ 14 s]")
        screen.until("[ 13 s]")
        screen.type("hand")
        screen.until("Your hand: ")
        assert screen.process.poll() is None


async def test_a_seat_of_another_server(tmp_path: Path) -> None:
    opened = open_key_files(tmp_path, None, None)
    assert isinstance(opened, Opened)
    server = Server(Settings(MemoryStore(), opened.files))
    await server.start()
    address = f"127.0.0.1:{server.port}"
    try:
        async with Platform([address], (tmp_path / FIRST_KEY).read_text().strip()) as platform:
            room = await platform.create_room("owner")
            own = await platform.take_seat(room.room_id, "Person", seat=1)
            with terminal("play", "--server", address, "--token", own.token) as screen:
                await asyncio.to_thread(screen.until, "Waiting for the other seats")
                await platform.take_seat(room.room_id, "Zoe", seat=0)
                await platform.take_seat(room.room_id, "Yan", seat=2)
                await asyncio.to_thread(screen.until, "Zoe opens the bidding.")
                await platform.disband_room(room.room_id)
                await asyncio.to_thread(screen.until, "The match was disbanded")
                assert await asyncio.to_thread(screen.process.wait, 30) == 0
    finally:
        await server.stop(grace=0.0)


@pytest.mark.parametrize(
    "given",
    [
        pytest.param(["--seat", "3"], id="a seat that three players do not have"),
        pytest.param(["--server", "127.0.0.1:1"], id="a server without a token"),
        pytest.param(["--server", "127.0.0.1:1", "--token", "x", "--seat", "1"], id="a seat beside a token"),
        pytest.param(["--ca", "ca.pem"], id="an authority without a server"),
        pytest.param(["--server", "127.0.0.1:1", "--token", "x", "--ca", "no-such.pem"], id="no such authority"),
    ],
)
def test_arguments_that_do_not_fit_together_are_refused(given: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["play", *given]) == 2
    assert capsys.readouterr().err.startswith("erqiwang play: ")


def test_an_address_where_nobody_answers(capsys: pytest.CaptureFixture[str]) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        address = f"127.0.0.1:{taken.getsockname()[1]}"
        assert main(["play", "--server", address, "--token", "none"]) == 2
    assert f"no server answers at {address}" in capsys.readouterr().err
