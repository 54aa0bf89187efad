"""The hooks before a commit are the linters of `make lint`, and the documents for contributors say what there is."""

import re
from typing import Final

from tests.documents import REPOSITORY

MAKEFILE: Final = (REPOSITORY / "Makefile").read_text("utf-8")
HOOKS: Final = (REPOSITORY / ".pre-commit-config.yaml").read_text("utf-8")
CONTRIBUTING: Final = (REPOSITORY / "CONTRIBUTING.md").read_text("utf-8")


def test_the_hooks_are_the_linters() -> None:
    (lint,) = re.findall(r"^lint:.*?^endif$", MAKEFILE, re.MULTILINE | re.DOTALL)
    linters = re.findall(r"^\t\$\(BIN\)/(?!python)(.+)$", lint, re.MULTILINE)
    assert "ruff check" in linters
    assert re.findall(r"^ +entry: \.venv/bin/(.+)$", HOOKS, re.MULTILINE) == linters


def test_what_contributors_are_told_to_make_can_be_made() -> None:
    targets = set(re.findall(r"^([a-z-]+):", MAKEFILE, re.MULTILINE))
    told = set(re.findall(r"\bmake ([a-z-]+)", " ".join(re.findall(r"`+[^`]*`+", CONTRIBUTING))))
    assert {"setup", "lint", "test", "generate"} <= told
    assert told <= targets


def test_what_contributors_are_told_to_look_at_is_there() -> None:
    named = {
        name for name in re.findall(r"`([\w./-]+/[\w.-]+)`", CONTRIBUTING) if not name.startswith((".venv/", "build/"))
    }
    tests = set(re.findall(r"\btests/\w+", CONTRIBUTING))
    assert len(named | tests) > 12
    assert [name for name in sorted(named | tests) if not (REPOSITORY / name).exists()] == []
