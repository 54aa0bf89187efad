"""The hooks before a commit are the linters of `make lint`, and the documents for contributors say what there is."""

import os
import re
import subprocess
from pathlib import Path
from typing import Final

import pytest
from hypothesis import settings

from tests.documents import REPOSITORY

MAKEFILE: Final = (REPOSITORY / "Makefile").read_text("utf-8")
HOOKS: Final = (REPOSITORY / ".pre-commit-config.yaml").read_text("utf-8")
CI: Final = (REPOSITORY / ".ci/run").read_text("utf-8")
CONTRIBUTING: Final = (REPOSITORY / "CONTRIBUTING.md").read_text("utf-8")


def test_the_hooks_are_the_linters() -> None:
    (lint,) = re.findall(r"^lint:.*?\n\n", MAKEFILE, re.MULTILINE | re.DOTALL)
    # Without a release there is nothing to compare with, which a hook cannot ask.
    linters = re.findall(r"^\t\$\(BIN\)/(?!buf breaking)(.+)$", lint, re.MULTILINE)
    assert {"ruff check", "python proto/generate.py --check"} <= set(linters)
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


def test_what_ci_soaks_includes_a_search_of_the_properties() -> None:
    (profile,) = re.findall(r"^make soak .*\bSOAK_PROFILE=(\w+)", CI, re.MULTILINE)
    assert settings.get_profile(profile).max_examples >= 10
    assert not settings.get_profile(profile).derandomize, "otherwise it would look at what `make test` has looked at"


@pytest.mark.parametrize(
    ("ci", "is_listed", "status", "said"),
    [
        ("true", True, 2, "Python 3.99 is installed, but does not run"),
        ("true", False, 0, "Python 3.99 is not installed"),
        ("", True, 0, "Python 3.99 is not installed"),
    ],
)
def test_a_python_that_is_listed_must_run_in_ci(
    tmp_path: Path, ci: str, is_listed: bool, status: int, said: str
) -> None:
    (tmp_path / "versions" / ("3.99.1" if is_listed else "3.98.1") / "bin").mkdir(parents=True)
    made = subprocess.run(
        ["make", "--assume-old=.venv/.done", "test-pythons", "PYTHONS=3.99"],
        cwd=REPOSITORY,
        env={"PATH": os.environ["PATH"], "PYENV_ROOT": str(tmp_path), "CI": ci},
        capture_output=True,
        text=True,
        check=False,
    )
    assert (made.returncode, said in made.stdout + made.stderr) == (status, True), made
