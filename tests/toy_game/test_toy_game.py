"""A third game, two seats and twenty cards: what it needs is what docs/adding.md lists, and with that it is played."""

import ast
import json
import re
import sys
from pathlib import Path
from typing import Final

from tests.toy_game import tree as trees
from tests.toy_game.checking import copy_to, found, functions, listed, section, type_checked
from tests.toy_game.tree import FIRST, PATCH, REPOSITORY

SECTION: Final = section("A game")
CORE: Final = listed(SECTION, "core")
PROTO: Final = listed(SECTION, "proto")
EVERY_GAME: Final = "tests/toy_game/test_every_game.py"
CHANGED: Final = re.compile(r"^\+\+\+ b/(.+)$", re.MULTILINE)


def named() -> set[str]:
    """Every file that the section names."""
    return set(re.findall(r"`([\w/.]+\.(?:py|proto|md))`", SECTION))


def patched(folder: Path, *names: str) -> Path:
    """A copy of the tree with what the patch changes in the files of those names, or with all of it; generated anew."""
    tree = copy_to(folder)
    trees.apply(tree, *names)
    trees.generate(tree)
    return tree


def test_after_the_first_line_the_checker_names_the_places_of_the_list_and_no_others(tmp_path: Path) -> None:
    tree = patched(tmp_path, FIRST)
    assert found(tree) == CORE
    trees.apply(tree, "*.proto")
    trees.generate(tree)
    assert found(tree) == CORE | PROTO


def test_with_the_whole_patch_the_game_is_played_to_its_stored_log_and_back(tmp_path: Path) -> None:
    tree = patched(tmp_path / "tree")
    checked = type_checked(tree)
    assert checked.returncode == 0, checked.stdout
    trees.done(tree, sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", EVERY_GAME)
    data = tmp_path / "data"
    data.mkdir(mode=0o700)
    played = json.loads(
        trees.done(tree, sys.executable, "-m", "tests.toy_game.played", "--game", "toy", "--data", data)
    )
    assert played["summary"]["options"]["toy"] == {}
    assert [len(deal["hands"]) for deal in played["deals"]] == [2] * 6
    assert sum(played["summary"]["totals"]) == 0
    erqiwang = (sys.executable, "-m", "erqiwang_grpc")
    exported = trees.done(tree, *erqiwang, "export", "--verify", "--data", data)
    (line,) = exported.splitlines()
    assert json.loads(line)["summary"]["room_id"] == played["summary"]["roomId"]
    record = tmp_path / "record.json"
    record.write_text(line)
    verified = trees.done(tree, *erqiwang, "verify", record)
    assert verified.count("20 bytes, one a card: toy deck") == 6


def test_what_only_a_test_sees_fails_that_test_until_it_has_the_game(tmp_path: Path) -> None:
    seen = {path for path, _ in CORE if not path.startswith("tests/")}
    tree = patched(tmp_path, FIRST, "core/erqiwang_core/kernel/cards.py", *seen)
    told = trees.run(tree, sys.executable, "-m", "pytest", "-q", "-rf", "-p", "no:cacheprovider", EVERY_GAME).stdout
    assert set(re.findall(rf"FAILED {EVERY_GAME}::(\w+)", told)) == set(functions(tree / EVERY_GAME)), told


def test_the_patch_changes_the_places_of_the_list_and_only_files_that_it_names(tmp_path: Path) -> None:
    tree = trees.copy_to(tmp_path)
    trees.apply(tree)
    files = CHANGED.findall(PATCH.read_text())
    assert files[0] == FIRST
    assert set(files) <= named()
    changed = {
        (name, function)
        for name in files
        if name.endswith(".py")
        for function, after in functions(tree / name).items()
        if ast.dump(after) != ast.dump(functions(REPOSITORY / name)[function])
    }
    assert changed >= CORE | PROTO


def test_every_file_of_the_program_that_names_a_game_is_named_by_the_list() -> None:
    generated = {REPOSITORY / "erqiwang_grpc" / folder for folder in ("v1", "stored")}
    naming = {
        path.relative_to(REPOSITORY).as_posix()
        for folder in ("core", "erqiwang_grpc", "proto", "scripts")
        for kind in ("py", "proto")
        for path in (REPOSITORY / folder).rglob(f"*.{kind}")
        if not generated & set(path.parents) and re.search(r"FourPlayer|FULL_DECK", path.read_text())
    }
    assert naming
    assert naming <= named()
