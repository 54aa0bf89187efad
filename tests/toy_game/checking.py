"""What docs/adding.md lists, and what the type checker faults in a copy of the tree where something was added."""

import ast
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Final, TypeAlias

from tests.toy_game import tree as trees
from tests.toy_game.tree import REPOSITORY

ROW: Final = re.compile(r"- `(?P<path>[^`]+)`: (?P<functions>.+)")
FUNCTION: Final = re.compile(r"`(\w+)`")
ERROR: Final = re.compile(r"(?P<path>[^:]+):(?P<line>\d+): error: ")

Place: TypeAlias = tuple[str, str]
"""A path and a function there."""


def section(title: str) -> str:
    """The section of docs/adding.md with that title."""
    return (REPOSITORY / "docs" / "adding.md").read_text().split(f"\n## {title}\n")[1].split("\n## ")[0]


def listed(text: str, stage: str) -> set[Place]:
    """The places of the list that is checked at that stage."""
    (rows,) = re.findall(rf"<!-- checked: {stage} -->\n(.*?)\n(?:\n|$)", text, re.DOTALL)
    return {
        (place["path"], function) for place in ROW.finditer(rows) for function in FUNCTION.findall(place["functions"])
    }


def copy_to(folder: Path) -> Path:
    """A copy of the tree, with what the type checker remembers of this one: most of it is true of the copy."""
    tree = trees.copy_to(folder)
    if (REPOSITORY / ".mypy_cache").is_dir():
        shutil.copytree(REPOSITORY / ".mypy_cache", tree / ".mypy_cache")
    return tree


def type_checked(tree: Path) -> subprocess.CompletedProcess[str]:
    return trees.run(tree, sys.executable, "-m", "mypy")


def found(tree: Path) -> set[Place]:
    """The places that the type checker faults."""
    errors = (ERROR.match(line) for line in type_checked(tree).stdout.splitlines())
    return {
        (error["path"], function_at(tree / error["path"], int(error["line"]))) for error in errors if error is not None
    }


def functions(path: Path) -> dict[str, ast.FunctionDef]:
    return {node.name: node for node in ast.walk(ast.parse(path.read_text())) if isinstance(node, ast.FunctionDef)}


def function_at(path: Path, line: int) -> str:
    """The function that holds that line; a class or a module has no name here, so none is listed."""
    holding = (name for name, each in functions(path).items() if each.lineno <= line <= (each.end_lineno or 0))
    return next(holding, "")
