"""Plant the small mistakes of `mutants.txt` into a copy of the tree, one by one, and say which of them no test notices.

`python -m tests.mutants.run [--share N] [--seed S] [--of TEXT]`: all of them, so many drawn by chance, or those whose line holds a text. Ends with 1
if one survives, with 2 if nothing can be learnt: a line is stale, a mistake breaks the tests themselves, or they fail without a mistake.
"""

import argparse
import contextlib
import os
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from random import Random
from time import monotonic
from typing import Final, final

ROOT: Final = Path(__file__).resolve().parents[2]
LIST: Final = Path(__file__).with_name("mutants.txt")
_LEFT_OUT: Final = shutil.ignore_patterns(
    ".git", ".venv*", ".*_cache", "__pycache__", ".hypothesis", "build", "node_modules"
)
_LONGEST: Final = 300.0
"""Seconds that the tests may take without a mistake."""
_PASSED: Final = 0
_FAILED: Final = 1
"""What pytest ends with. Any other number says that the tests were not run: no mistake is found by that."""


class NothingLearnt(Exception):
    """The tests cannot judge."""


@final
@dataclass(frozen=True, slots=True)
class Mutant:
    """One mistake: in `path`, `text` becomes `mistake`; `tests` should notice."""

    line: str
    path: str
    text: str
    mistake: str
    tests: tuple[str, ...]

    @property
    def is_stale(self) -> bool:
        """Whether the text no longer stands in the file exactly once."""
        file = ROOT / self.path
        return not file.is_file() or file.read_text().count(self.text) != 1

    def __str__(self) -> str:
        return f"{self.path}: {self.text.strip()} -> {self.mistake.strip() or '(nothing)'}"


def mutants() -> tuple[Mutant, ...]:
    """The list: a line each, four fields between ` ||| `; lines that begin with # say what the next ones are about."""
    found = []
    for line in LIST.read_text().splitlines():
        if line and not line.startswith("#"):
            path, text, mistake, tests = line.split(" ||| ")
            found.append(Mutant(line, path, text, mistake, tuple(tests.split())))
    return tuple(found)


def pass_in(tree: Path, tests: Sequence[str], seconds: float) -> bool:
    """Whether the tests pass in a copy of the tree; those that hang do not. Raises `NothingLearnt` if they cannot be run."""
    command = [sys.executable, "-m", "pytest", "-q", "-x", "-p", "no:cacheprovider", *tests]
    # The copy comes first: the packages that are installed are those of the tree itself. No bytecode: a mistake as long as
    # the text, planted within the same second, would be taken for what was compiled before.
    environment = {"PYTHONPATH": f"{tree}:{tree / 'core'}", "PATH": "/usr/bin:/bin", "PYTHONDONTWRITEBYTECODE": "1"}
    with tempfile.TemporaryFile("w+") as said:
        running = subprocess.Popen(
            command, cwd=tree, env=environment, stdout=said, stderr=subprocess.STDOUT, start_new_session=True
        )
        try:
            ended_with = running.wait(seconds)
        except subprocess.TimeoutExpired:
            return False
        finally:
            # Also the servers that its tests have started: who is killed leaves them behind.
            with contextlib.suppress(ProcessLookupError):
                os.killpg(running.pid, signal.SIGKILL)
            running.wait()
        if ended_with not in (_PASSED, _FAILED):
            said.seek(0)
            raise NothingLearnt(f"its tests cannot be run:\n{said.read()[-2_000:]}")
    return ended_with == _PASSED


def is_noticed(mutant: Mutant, tree: Path, seconds: float) -> bool:
    """Whether a test fails, or hangs, with the mistake in the copy of the tree."""
    file = tree / mutant.path
    whole = file.read_text()
    file.write_text(whole.replace(mutant.text, mutant.mistake))
    try:
        return not pass_in(tree, mutant.tests, seconds)
    finally:
        file.write_text(whole)


@final
class Judge:
    """Plants mistakes into a copy of the tree. Tests that fail without a mistake, or a line that is stale, say nothing."""

    def __init__(self, tree: Path) -> None:
        self._tree = tree
        self._seconds: dict[tuple[str, ...], float] = {}
        """How long tests that pass without a mistake may take with one: more than that is a hang."""

    def is_noticed(self, mutant: Mutant) -> bool:
        """Whether a test notices the mistake. Raises `NothingLearnt`."""
        if mutant.is_stale:
            raise NothingLearnt("it is stale: its text does not stand there exactly once")
        if mutant.tests not in self._seconds:
            began = monotonic()
            if not pass_in(self._tree, mutant.tests, _LONGEST):
                raise NothingLearnt(f"{' '.join(mutant.tests)} fails without it")
            self._seconds[mutant.tests] = 30.0 + 5.0 * (monotonic() - began)
        return is_noticed(mutant, self._tree, self._seconds[mutant.tests])


def main(arguments: Sequence[str] | None = None) -> int:
    """Plant them and print the score."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--share", type=int, help="how many to plant (default: all)")
    parser.add_argument("--seed", type=int, default=1, help="which, if not all (default: 1)")
    parser.add_argument("--of", default="", help="only lines of the list that hold this text")
    parsed = parser.parse_args(arguments)
    chosen = [mutant for mutant in mutants() if parsed.of in mutant.line]
    if parsed.share is not None and parsed.share < len(chosen):
        chosen = Random(parsed.seed).sample(chosen, parsed.share)
    noticed, unjudged = 0, 0
    with tempfile.TemporaryDirectory() as folder:
        tree = Path(shutil.copytree(ROOT, Path(folder) / "tree", ignore=_LEFT_OUT))
        judge = Judge(tree)
        for mutant in chosen:
            try:
                is_seen = judge.is_noticed(mutant)
            except NothingLearnt as why:
                unjudged += 1
                print("UNJUDGED", mutant, why, flush=True)
            else:
                noticed += is_seen
                print("noticed " if is_seen else "SURVIVES", mutant, flush=True)
    print(f"{noticed} of {len(chosen)} mistakes are noticed")
    return 2 if unjudged else int(noticed < len(chosen))


if __name__ == "__main__":
    sys.exit(main())
