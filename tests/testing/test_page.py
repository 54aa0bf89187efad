"""The examples of docs/testing.md, each run as it stands by a user's pytest, and type-checked."""

import re
import subprocess
import sys
from pathlib import Path
from typing import Final

import pytest

PAGE: Final = Path(__file__).parents[2] / "docs" / "testing.md"
EXAMPLES: Final = re.findall(r"^```python\n(.*?)^```$", PAGE.read_text("utf-8"), re.DOTALL | re.MULTILINE)


def named(example: str) -> str:
    found = re.search(r"async def (test_\w+)", example)
    assert found is not None, "each example is a test"
    return found[1]


@pytest.mark.parametrize("example", EXAMPLES, ids=named)
def test_an_example_passes_as_it_stands(example: str, tmp_path: Path) -> None:
    (tmp_path / "test_mine.py").write_text(example)
    # A folder of its own: nothing of this repository's pytest is set up there.
    (tmp_path / "pytest.ini").write_text("[pytest]\nasyncio_default_fixture_loop_scope = function\n")
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-W", "error", "test_mine.py"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=180, check=False)
    assert "1 passed" in done.stdout, done.stdout + done.stderr


def test_the_examples_are_well_typed(tmp_path: Path) -> None:
    files = [tmp_path / f"{named(example)}.py" for example in EXAMPLES]
    for file, example in zip(files, EXAMPLES, strict=True):
        file.write_text(example)
    command = [sys.executable, "-m", "mypy", "--strict", "--config-file=", *map(str, files)]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stdout
