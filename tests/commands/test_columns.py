"""At 80 columns nothing is cut apart: no row is wider than the terminal, and every word of a wide one is there whole."""

import asyncio
import tempfile
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import pytest
from rich.cells import cell_len

from erqiwang_grpc.__main__ import main
from erqiwang_grpc.auth.files import Opened, open_key_files
from erqiwang_grpc.auth.keys import PlatformId
from erqiwang_grpc.commands import SUBCOMMANDS, folding
from erqiwang_grpc.rooms.registry import room_id
from tests.commands.stores import stored
from tests.commands.terminals import PATIENCE_SECONDS, terminal
from tests.commands.test_play import play_a_deal

HAND: Final = "hA hA hK hK h10 hQ hJ h9 h8 h6 h5 s5 s5 BJ BJ SJ SJ s7 s7 d7 d7 c7"
DECK: Final = ("--commitment", "00" * 32, "--salt", "00" * 32, "--order", " ".join(map(str, range(108))))
SAME: Final[dict[str, list[tuple[str, ...]]]] = {
    "explain": [
        ("--hand", HAND, "--trump", "s"),
        ("--hand", HAND, "--trump", "s", "--lead", "c3 c3 c4 c4", "--play", "hA hA hK hK"),
    ],
    "verify": [DECK],
    "replay": [("ROOM", "--data", "DATA"), ("ROOM", "--data", "DATA", "--seat", "0", "--show-hidden")],
    "store": [("identity", "--data", "DATA"), ("rebuild", "--data", "DATA")],
}
"""Subcommands that print the same each time: what a narrow terminal shows has the words that a wide one shows."""
OTHER: Final[dict[str, list[tuple[str, ...]]]] = {
    "simulate": [
        ("--deals", "6"),
        ("--deals", "6", "--game", "four", "--policy", "random"),
        ("--deals", "2", "--policy", "sensible,random", "--against", "sensible"),
    ],
    "bench": [("--rooms", "1", "--seconds", "1", "--deals", "1", "--rate", "0", "--rounds", "1")],
    "torture": [("--minutes", "0.02", "--tables", "1")],
    "backup": [("COPY", "--data", "DATA")],
    "move": [("--from", "DATA", "--to", "COPY")],
    "compact": [("--data", "DATA")],
    "keys": [("rotate-signing", "--data", "DATA"), ("add", "acme", "--data", "DATA"), ("list", "--data", "DATA")],
    "store": [("new-identity", "--data", "DATA")],
}
"""Subcommands that print times, sizes or secrets: nothing is wider than the terminal, and nothing is shortened."""
WATCHED: Final = {"demo": "a match is watched below", "play": "a deal is played below"}
LEFT_OUT: Final = {
    "table": "it prints an address, which must not be broken",
    "serve": "its log is for programs: a line of JSON for each event",
    "edge": "its log is for programs: a line of JSON for each event",
    "bots": "it prints one sentence for each thing that happens, which terminals wrap",
    "rooms": "`folding` prints its lines, and a test of its own reads them",
    "health": "it prints one or two words",
    "config": "its output is a file",
    "export": "its output is for programs: a line of JSON for each record",
}
FRAME = str.maketrans("│┃━─┏┓┗┛┡┩├┤┼╇┳┴└┘", " " * 18)


def words(text: str) -> Counter[str]:
    return Counter(text.translate(FRAME).split())


def shown(columns: int, *arguments: str) -> str:
    with terminal("demo", "--fast", "--seed", "5", "--deals", "1", *arguments, columns=columns) as screen:
        assert screen.end() == 0
        return screen.text


@pytest.fixture
def folder() -> Iterator[Path]:
    """A data folder with one room, whose path fits into a row."""
    with tempfile.TemporaryDirectory(prefix="e") as folder:
        data = Path(folder) / "data"
        data.mkdir()
        asyncio.run(stored(data))
        assert isinstance(open_key_files(data, None, None), Opened)
        yield data


def filled(arguments: tuple[str, ...], folder: Path) -> list[str]:
    """The arguments for this folder."""
    places = {
        "ROOM": room_id(PlatformId("local"), "room 0"),
        "DATA": str(folder),
        "COPY": str(folder.with_name("copy")),
    }
    return [places.get(argument, argument) for argument in arguments]


def printed(columns: int, *arguments: str) -> str:
    """What a subcommand prints on a terminal of that width. Its rows are no wider."""
    with terminal(*arguments, columns=columns) as screen:
        # Some start several processes, one after another, each of which takes its time on a busy machine.
        assert screen.end(3 * PATIENCE_SECONDS) in (0, 1), screen.text
        rows = screen.text.replace("\r", "\n").splitlines()
        assert max(map(cell_len, rows)) <= columns
        return screen.text


def test_every_subcommand_is_here() -> None:
    assert {*SAME, *OTHER, *WATCHED, *LEFT_OUT} == {each.name for each in SUBCOMMANDS}


@pytest.mark.parametrize(
    ("subcommand", "arguments"), [(name, each) for name, several in SAME.items() for each in several]
)
def test_what_is_the_same_each_time(subcommand: str, arguments: tuple[str, ...], folder: Path) -> None:
    given = filled(arguments, folder)
    assert words(printed(80, subcommand, *given)) == words(printed(500, subcommand, *given))


@pytest.mark.parametrize(
    ("subcommand", "arguments"), [(name, each) for name, several in OTHER.items() for each in several]
)
def test_what_is_another_each_time(subcommand: str, arguments: tuple[str, ...], folder: Path) -> None:
    assert "…" not in printed(80, subcommand, *filled(arguments, folder))


ACTIONS: Final = {
    "keys": ("add", "list", "remove", "prepare-signing", "rotate-signing"),
    "store": ("identity", "new-identity", "rebuild"),
    "rooms": ("list", "show", "disband"),
    "config": ("serve", "edge"),
}


ASKED: Final = [
    *((each.name,) for each in SUBCOMMANDS),
    *((name, action) for name, actions in ACTIONS.items() for action in actions),
]


@pytest.mark.parametrize("asked", [(), *ASKED], ids=" ".join)
def test_help(asked: tuple[str, ...], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    with pytest.raises(SystemExit):
        main([*asked, "--help"])
    assert max(map(cell_len, capsys.readouterr().out.splitlines())) <= 80


@pytest.mark.parametrize("asked", ASKED, ids=" ".join)
def test_an_error_shows_the_usage_of_the_subcommand_that_failed(
    asked: tuple[str, ...], capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit):
        main([*asked, "--no-such-option"])
    said = capsys.readouterr().err
    name = " ".join(("erqiwang", *asked))
    assert said.startswith(f"usage: {name} ")
    assert said.splitlines()[-1].startswith(f"{name}: error: ")


@pytest.mark.parametrize(
    ("line", "rows"),
    [
        ("hand ♠7 ♥10 ♦A", ["hand ♠7", "  ♥10 ♦A"]),
        ("王王王 王 a", ["王王王 王", "  a"]),
        ("     answer a", ["     answer", "  a"]),
        ("overlongword a", ["overlongword", "  a"]),
        ("a overlongword", ["a", "  overlongword"]),
        ("exactly ten", ["exactly", "  ten"]),
        ("exactly 10", ["exactly 10"]),
        ("", [""]),
    ],
)
def test_a_line_is_folded_between_words(line: str, rows: list[str]) -> None:
    assert list(folding.folded(line, 10, 2)) == rows


@pytest.mark.parametrize("room", [(), ("--game", "four", "--deck", "full")], ids=["three", "four"])
def test_a_match_that_is_watched(room: tuple[str, ...]) -> None:
    narrow, wide = shown(80, *room), shown(300, *room)
    assert max(cell_len(line) for line in narrow.splitlines()) <= 80
    assert max(cell_len(line) for line in wide.splitlines()) > 80
    assert words(narrow) == words(wide)


def test_a_deal_that_is_played() -> None:
    with terminal("play", "--seed", "4", "--fast", columns=80) as screen:
        screen.until("> ")
        screen.type("help")
        play_a_deal(screen)
        screen.until("> ")
        for line in ("history", "captured", "nonsense"):
            screen.type(line)
            screen.until("> ")
        assert max(cell_len(row) for row in screen.text.replace("\r", "\n").splitlines()) <= 80
