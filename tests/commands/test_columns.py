"""At 80 columns nothing is cut apart: no row is wider than the terminal, and every word of a wide one is there whole."""

from collections import Counter

import pytest
from rich.cells import cell_len

from tests.commands.terminals import terminal
from tests.commands.test_play import play_a_deal

FRAME = str.maketrans("│┃━─┏┓┗┛┡┩├┤┼╇┳┴└┘", " " * 18)


def words(text: str) -> Counter[str]:
    return Counter(text.translate(FRAME).split())


def shown(columns: int, *arguments: str) -> str:
    with terminal("demo", "--fast", "--seed", "5", "--deals", "1", *arguments, columns=columns) as screen:
        assert screen.end() == 0
        return screen.text


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
