"""docs/threat-model.md: every line of its tables names a test, and every test that is named exists."""

import ast
import re
from functools import cache
from typing import Final

import pytest

from tests.documents import REPOSITORY

PAGE: Final = (REPOSITORY / "docs" / "threat-model.md").read_text("utf-8")
ROWS: Final = [line for line in PAGE.splitlines() if line.startswith("| ") and not line.startswith(("| ---", "| can"))]
TEST: Final = re.compile(r"`(tests/[^`:]+\.py)(?:::([^`]+))?`")


@cache
def names_in(file: str) -> frozenset[str]:
    """The names of the tests in a file; none where there is no file."""
    path = REPOSITORY / file
    if not path.is_file():
        return frozenset()
    parsed = ast.parse(path.read_text("utf-8"))
    return frozenset(
        node.name
        for node in ast.walk(parsed)
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.name.startswith("test_")
    )


def test_every_line_names_its_test() -> None:
    assert len(ROWS) > 30
    assert [row for row in ROWS if not TEST.search(row.split("|")[2])] == []


@pytest.mark.parametrize(("file", "test"), sorted(set(TEST.findall(PAGE))))
def test_every_test_that_is_named_exists(file: str, test: str) -> None:
    """A file without a test's name stands for all tests in it."""
    assert names_in(file)
    assert not test or test in names_in(file)


def test_nothing_is_named_in_another_form() -> None:
    assert re.findall(r"`[^`]*::[^`]*`|`tests/[^`]*`", PAGE) == [found.group() for found in TEST.finditer(PAGE)]


def test_what_does_not_exist_would_be_noticed() -> None:
    assert names_in("tests/service/test_of_nothing.py") == frozenset()
    assert "test_of_nothing" not in names_in("tests/service/test_access.py")
