"""Plant the small mistakes of `mutants.txt` into a copy of the tree, one by one, and say which of them no test notices.

`python -m tests.mutants.run [--share N] [--seed S] [--of TEXT]`: all of them, so many drawn by chance, or those whose line holds a text. Ends with 1
if one survives, with 2 if nothing can be learnt: a line is stale, a mistake breaks the tests themselves, or they fail without a mistake.
"""

import argparse
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Final, final

ROOT: Final = Path(__file__).resolve().parents[2]
LIST: Final = Path(__file__).with_name("mutants.txt")
_LEFT_OUT: Final = shutil.ignore_patterns(
    ".git", ".venv*", ".*_cache", "__pycache__", ".hypothesis", "build", "node_modules"
)
_SECONDS: Final = 300
"""How long the tests of one mistake may take: those that hang have noticed it."""
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


def pass_in(tree: Path, tests: Sequence[str]) -> bool:
    """Whether the tests pass in a copy of the tree; one that hangs does not. Raises `NothingLearnt` if they cannot be run."""
    command = [sys.executable, "-m", "pytest", "-q", "-x", "-p", "no:cacheprovider", *tests]
    # The copy comes first: the packages that are installed are those of the tree itself. No bytecode: a mistake as long as
    # the text, planted within the same second, would be taken for what was compiled before.
    around = {"PYTHONPATH": f"{tree}:{tree / 'core'}", "PATH": "/usr/bin:/bin", "PYTHONDONTWRITEBYTECODE": "1"}
    try:
        done = subprocess.run(
            command, cwd=tree, env=around, capture_output=True, text=True, timeout=_SECONDS, check=False
        )
    except subprocess.TimeoutExpired:
        return False
    if done.returncode not in (_PASSED, _FAILED):
        raise NothingLearnt(f"{' '.join(tests)} cannot be run:\n{done.stdout[-2_000:]}{done.stderr[-2_000:]}")
    return done.returncode == _PASSED


def is_noticed(mutant: Mutant, tree: Path) -> bool:
    """Whether a test fails, or hangs, with the mistake in the copy of the tree."""
    file = tree / mutant.path
    whole = file.read_text()
    file.write_text(whole.replace(mutant.text, mutant.mistake))
    try:
        return not pass_in(tree, mutant.tests)
    finally:
        file.write_text(whole)


def judge(mutant: Mutant, tree: Path, sound: set[tuple[str, ...]]) -> bool:
    """Whether the mistake is noticed. `sound` are the tests that are known to pass without one. Raises `NothingLearnt`."""
    if mutant.is_stale:
        raise NothingLearnt("it is stale: its text does not stand there exactly once")
    if mutant.tests not in sound:
        if not pass_in(tree, mutant.tests):
            raise NothingLearnt(f"{' '.join(mutant.tests)} fails without it")
        sound.add(mutant.tests)
    return is_noticed(mutant, tree)


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
    sound: set[tuple[str, ...]] = set()
    with tempfile.TemporaryDirectory() as folder:
        tree = Path(shutil.copytree(ROOT, Path(folder) / "tree", ignore=_LEFT_OUT))
        for mutant in chosen:
            try:
                is_seen = judge(mutant, tree, sound)
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
