"""A third game: the type checker names the places that docs/adding.md lists, and no others."""

import ast
import re
import shutil
import subprocess
import sys
from pathlib import Path

REPOSITORY = Path(__file__).parents[2]
PLACE = re.compile(r"- `(?P<path>[^`]+)`: `(?P<function>\w+)`")
ERROR = re.compile(r"(?P<path>[^:]+):(?P<line>\d+): error: ")
IN_THE_CORE = (
    "Game: TypeAlias = ThreePlayer | FourPlayer\n",
    "@final\n@dataclass(frozen=True, slots=True)\nclass Toy:\n    pass\n\n\nGame: TypeAlias = ThreePlayer | FourPlayer | Toy\n",
)


def copy_of_the_tree(folder: Path) -> Path:
    for name in ("core", "erqiwang_grpc", "proto", "tests", "bench"):
        shutil.copytree(REPOSITORY / name, folder / name, ignore=shutil.ignore_patterns("__pycache__", "*.egg-info"))
    for name in ("pyproject.toml", "buf.yaml"):
        shutil.copy(REPOSITORY / name, folder / name)
    return folder


def change(path: Path, old: str, new: str) -> None:
    text = path.read_text()
    assert text.count(old) == 1, path
    path.write_text(text.replace(old, new))


def listed() -> set[tuple[str, str]]:
    """The places of the two lists that say they are checked."""
    lists = (REPOSITORY / "docs" / "adding.md").read_text().split("<!-- checked: ")[1:]
    return {(place["path"], place["function"]) for each in lists for place in PLACE.finditer(each.split("\n\n")[0])}


def function_at(path: Path, line: int) -> str:
    functions = (node for node in ast.walk(ast.parse(path.read_text())) if isinstance(node, ast.FunctionDef))
    return next(each.name for each in functions if each.lineno <= line <= (each.end_lineno or 0))


def test_the_checker_names_the_places_of_the_list_and_no_others(tmp_path: Path) -> None:
    tree = copy_of_the_tree(tmp_path)
    change(tree / "core" / "erqiwang_core" / "options.py", *IN_THE_CORE)
    for path, message in (("v1/room.proto", "FourPlayerGame"), ("stored/v1/room.proto", "FourPlayer")):
        member = f"    {message} four_player = 2;\n"
        change(tree / "proto" / "erqiwang" / path, member, f"{member}    // A toy.\n    {message} toy = 99;\n")
    subprocess.run([sys.executable, "proto/generate.py"], cwd=tree, check=True, capture_output=True)
    checked = subprocess.run([sys.executable, "-m", "mypy"], cwd=tree, check=False, capture_output=True, text=True)
    found = {
        (error["path"], function_at(tree / error["path"], int(error["line"])))
        for error in map(ERROR.match, checked.stdout.splitlines())
        if error is not None
    }
    assert found == listed()
