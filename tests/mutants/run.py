"""Plant the small mistakes of `mutants.txt` into a copy of the tree, one by one, and say which of them no test notices.

`python -m tests.mutants.run [--share N] [--seed S]`: all of them, or so many drawn by chance. Ends with 1 if one survives, with 2 if the tests fail
without a mistake.
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


@final
@dataclass(frozen=True, slots=True)
class Mutant:
    """One mistake: in `path`, `text` becomes `mistake`; `tests` should notice."""

    path: str
    text: str
    mistake: str
    tests: tuple[str, ...]

    @property
    def is_stale(self) -> bool:
        """Whether the text no longer stands in the file exactly once."""
        return (ROOT / self.path).read_text().count(self.text) != 1


def mutants() -> tuple[Mutant, ...]:
    """The list: a line each, four fields between ` ||| `; lines that begin with # say what the next ones are about."""
    found = []
    for line in LIST.read_text().splitlines():
        if line and not line.startswith("#"):
            path, text, mistake, tests = line.split(" ||| ")
            found.append(Mutant(path, text, mistake, tuple(tests.split())))
    return tuple(found)


def passes(tests: Sequence[str], tree: Path) -> bool:
    """Whether the tests pass in a copy of the tree; one that hangs does not."""
    command = [sys.executable, "-m", "pytest", "-q", "-x", "-p", "no:cacheprovider", *tests]
    # The copy comes first: the packages that are installed are those of the tree itself.
    paths = {"PYTHONPATH": f"{tree}:{tree / 'core'}", "PATH": "/usr/bin:/bin"}
    try:
        done = subprocess.run(command, cwd=tree, env=paths, capture_output=True, timeout=_SECONDS, check=False)
    except subprocess.TimeoutExpired:
        return False
    return done.returncode == 0


def is_noticed(mutant: Mutant, tree: Path) -> bool:
    """Whether a test fails, or hangs, with the mistake in the copy of the tree."""
    file = tree / mutant.path
    whole = file.read_text()
    file.write_text(whole.replace(mutant.text, mutant.mistake))
    try:
        return not passes(mutant.tests, tree)
    finally:
        file.write_text(whole)


def main(arguments: Sequence[str] | None = None) -> int:
    """Plant them and print the score."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--share", type=int, help="how many to plant (default: all)")
    parser.add_argument("--seed", type=int, default=1, help="which, if not all (default: 1)")
    parsed = parser.parse_args(arguments)
    chosen = list(mutants())
    if parsed.share is not None and parsed.share < len(chosen):
        chosen = Random(parsed.seed).sample(chosen, parsed.share)
    survivors = 0
    with tempfile.TemporaryDirectory() as folder:
        tree = Path(shutil.copytree(ROOT, Path(folder) / "tree", ignore=_LEFT_OUT))
        for tests in sorted({mutant.tests for mutant in chosen}):
            if not passes(tests, tree):
                print(f"without a mistake {' '.join(tests)} fails: nothing can be learnt from it")
                return 2
        for mutant in chosen:
            noticed = not mutant.is_stale and is_noticed(mutant, tree)
            survivors += not noticed
            print(
                "noticed " if noticed else "SURVIVES", f"{mutant.path}: {mutant.text} -> {mutant.mistake}", flush=True
            )
    print(f"{len(chosen) - survivors} of {len(chosen)} mistakes are noticed")
    return int(survivors > 0)


if __name__ == "__main__":
    sys.exit(main())
