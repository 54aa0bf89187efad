"""The golden deals: whole deals as text, with all that every seat is told, read against the rules by eye."""

from pathlib import Path

import pytest

from tests.vectors.rendering import render
from tests.vectors.scripts import FOLDER, parse

FILES = sorted(FOLDER.glob("*.txt"))


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_a_golden_deal_is_told_as_it_was(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    assert render(parse(text)) == text
