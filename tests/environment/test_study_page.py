"""docs/study.md: its code runs in order, as it stands, prints what the page says, and is well typed."""

import contextlib
import io
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Final

from tests.documents import REPOSITORY, run

PAGE: Final = (REPOSITORY / "docs" / "study.md").read_text("utf-8")
CELLS: Final = re.findall(r"^```python\n(.*?)^```\n(?:\n```text\n(.*?)^```$)?", PAGE, re.DOTALL | re.MULTILINE)
COMMANDS: Final = re.findall(r"^```sh\n(erqiwang .*?)^```$", PAGE, re.DOTALL | re.MULTILINE)


def test_each_cell_runs_after_those_before_it_and_prints_what_the_page_says() -> None:
    names: dict[str, object] = {"__name__": "study"}
    assert CELLS
    for code, says in CELLS:
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            exec(compile(code, "docs/study.md", "exec"), names)
        assert printed.getvalue() == says, code


def test_the_cells_are_well_typed(tmp_path: Path) -> None:
    (tmp_path / "study.py").write_text("".join(code for code, _ in CELLS))
    command = [sys.executable, "-m", "mypy", "--strict", "--config-file=", "study.py"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stdout


def test_policies_are_compared_by_the_command_that_the_page_names(tmp_path: Path) -> None:
    (command,) = COMMANDS
    programs = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    said = run(command, tmp_path, {**os.environ, "PATH": programs, "COLUMNS": "120"})
    for word in ("sensible", "random", "a deal and seat", "95 %"):
        assert word in said
