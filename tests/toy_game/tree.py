"""The tree with the toy game in it: `toy.patch`, or some of its files, applied to a copy of what lies here.

After a change of the tree the patch may no longer apply. `python -m tests.toy_game.tree work` makes a copy in build/toy and
applies what does apply; what does not lies beside its file there, in `.rej`. Mend it in that copy, and
`python -m tests.toy_game.tree remake` writes the patch anew from it.
"""

import os
import shutil
import subprocess
import sys
from argparse import ArgumentParser
from pathlib import Path
from typing import Final

REPOSITORY: Final = Path(__file__).resolve().parents[2]
PATCH: Final = Path(__file__).with_name("toy.patch")
FIRST: Final = "core/erqiwang_core/options.py"
"""Where a game begins; its change stands first in the patch."""
WORK: Final = REPOSITORY / "build" / "toy"
_GENERATED: Final = ("erqiwang_grpc/v1", "erqiwang_grpc/stored")


def around(tree: Path) -> dict[str, str]:
    """The environment in which the packages are those of that tree, and git sees no repository but one in the tree."""
    own = {"PYTHONPATH": f"{tree}{os.pathsep}{tree / 'core'}", "GIT_CEILING_DIRECTORIES": str(tree.parent)}
    return {name: value for name, value in os.environ.items() if not name.startswith("GIT_")} | own


def run(tree: Path, *command: str | Path) -> subprocess.CompletedProcess[str]:
    """A command in that tree, which may fail."""
    return subprocess.run(command, cwd=tree, env=around(tree), capture_output=True, text=True, check=False)


def done(tree: Path, *command: str | Path) -> str:
    """What a command in that tree prints; it must succeed."""
    result = run(tree, *command)
    assert result.returncode == 0, f"{command}\n{result.stdout}\n{result.stderr}"
    return result.stdout


def copy_to(folder: Path) -> Path:
    """A copy of the files of this tree that git tracks or would track."""
    listed = subprocess.run(
        ["git", "-c", "safe.directory=*", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        cwd=REPOSITORY, capture_output=True, text=True, check=True,
    ).stdout  # fmt: skip
    for name in filter(None, listed.split("\0")):
        source, target = REPOSITORY / name, folder / name
        # A file that was just deleted is tracked still.
        if source.is_file():
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(source, target)
    return folder


def apply(tree: Path, *names: str) -> None:
    """Apply the patch, or only what it changes in the files of those names; `*` stands for any part of one."""
    done(tree, "git", "apply", *(f"--include={name}" for name in names), PATCH)


def generate(tree: Path) -> None:
    """What `make generate` does with the schemas."""
    done(tree, sys.executable, "proto/generate.py")


def work() -> int:
    """Make the copy to work in; 1 where a part of the patch does not apply."""
    shutil.rmtree(WORK, ignore_errors=True)
    copy_to(WORK)
    # What lies in the index is the tree without the game: the patch is what differs from it.
    done(WORK, "git", "init", "--quiet")
    done(WORK, "git", "add", "--all")
    applied = run(WORK, "git", "apply", "--reject", PATCH)
    print(applied.stderr, end="")
    generate(WORK)
    print(f"The copy is {WORK}. Mend it there, then: python -m tests.toy_game.tree remake")
    return applied.returncode


def remake() -> int:
    """Write the patch from the copy that was worked in, its first file first."""
    order = WORK / ".git" / "order"
    order.write_text(f"{FIRST}\n")
    leave_out = [f":!{folder}" for folder in (*_GENERATED, "*.rej", "*.orig")]
    done(WORK, "git", "add", "--all", "--intent-to-add")
    made = done(WORK, "git", "diff", "--no-color", "--no-ext-diff", "-U1", f"-O{order}", "--", ".", *leave_out)
    PATCH.write_text(made)
    print(f"{PATCH.relative_to(REPOSITORY)}: {len(made.splitlines())} lines")
    return 0


def main() -> None:
    """`work` or `remake`."""
    parser = ArgumentParser(description=__doc__)
    parser.add_argument("what", choices=["work", "remake"])
    sys.exit(work() if parser.parse_args().what == "work" else remake())


if __name__ == "__main__":
    main()
