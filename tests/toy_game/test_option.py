"""One more option of a room, of its countdowns and of its games: the type checker names the places of docs/adding.md."""

import re
from pathlib import Path
from typing import Final

from tests.toy_game.checking import copy_to, found, listed, section
from tests.toy_game.tree import FIRST

SECTION: Final = section("A room option")


def add_field(path: Path, values: str) -> None:
    """Give the class with these `values` one more field, in the file at `path`."""
    text = path.read_text()
    text, aliases = re.subn(rf"(\n{values}: TypeAlias = tuple\[.*)\]\n", r"\1, int]\n", text)
    text, methods = re.subn(
        rf"(-> \"{values}\":\n.*\n        return )\(?(.*?),?\)?\n", r"\1\2, self.added\n\n    added: int = 0\n", text
    )
    assert (aliases, methods) == (1, 1)
    path.write_text(text)


def test_with_one_more_field_of_each_the_checker_names_the_places_of_the_lists_and_no_others(tmp_path: Path) -> None:
    tree = copy_to(tmp_path)
    for values in ("OptionValues", "CountdownValues", "ThreePlayerValues", "FourPlayerValues"):
        add_field(tree / FIRST, values)
    assert found(tree) == listed(SECTION, "room") | listed(SECTION, "countdowns") | listed(SECTION, "game")
