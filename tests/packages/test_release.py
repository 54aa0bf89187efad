"""What `make release-check` finds, in trees that lack one thing each."""

import shutil
import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Final

import pytest

from scripts.release import IMAGE, faults

REPOSITORY: Final = Path(__file__).parents[2]


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """What is looked at, in a folder where it can be spoilt, with the image of its schemas."""
    for name in ("CHANGELOG.md", "buf.yaml", "pyproject.toml", "core/pyproject.toml", str(IMAGE)):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        shutil.copy(REPOSITORY / name, tmp_path / name)
    shutil.copytree(REPOSITORY / "proto" / "erqiwang", tmp_path / "proto" / "erqiwang")
    return tmp_path


def replace(tree: Path, name: str, old: str, new: str) -> None:
    text = (tree / name).read_text(encoding="utf-8")
    assert old in text
    (tree / name).write_text(text.replace(old, new), encoding="utf-8")


def date(tree: Path) -> None:
    replace(tree, "CHANGELOG.md", "[0.1.0] - unreleased", "[0.1.0] - 2026-12-24")


def address(tree: Path) -> None:
    replace(tree, "pyproject.toml", "[project.scripts]", '[project.urls]\nHomepage = "x"\n\n[project.scripts]')


def bump(tree: Path, version: str = "0.2.0") -> None:
    for name in ("pyproject.toml", "core/pyproject.toml"):
        replace(tree, name, 'version = "0.1.0"', f'version = "{version}"')
    replace(tree, "pyproject.toml", "core==0.1.0", f"core=={version}")
    replace(tree, "CHANGELOG.md", "## [0.1.0]", f"## [{version}] - unreleased\n\n## [0.1.0]")


def break_schemas(tree: Path) -> None:
    replace(tree, "proto/erqiwang/v1/bidding.proto", "uint32 points = 1;", "uint64 points = 1;")


def extend_schemas(tree: Path) -> None:
    with (tree / "proto/erqiwang/v1/bidding.proto").open("a") as file:
        file.write("\n// New.\nmessage New {}\n")


def test_both_packages_have_one_version() -> None:
    service, core = (
        tomllib.loads((REPOSITORY / name).read_text(encoding="utf-8"))["project"]
        for name in ("pyproject.toml", "core/pyproject.toml")
    )
    assert service["version"] == core["version"]
    assert f"erqiwang-core=={core['version']}" in service["dependencies"]


@pytest.mark.parametrize(
    ("spoil", "said"),
    [
        pytest.param(
            lambda tree: replace(tree, "core/pyproject.toml", '"0.1.0"', '"0.1.1"'), "the core is 0.1.1", id="apart"
        ),
        pytest.param(
            lambda tree: replace(tree, "pyproject.toml", "core==0.1.0", "core>=0.1"), "depend on", id="not pinned"
        ),
        pytest.param(
            lambda tree: replace(tree, "CHANGELOG.md", "## [0.1.0]", "## [0.0.9]"), "no section", id="no section"
        ),
        pytest.param(date, "[project.urls]", id="no address"),
        pytest.param(lambda tree: (tree / IMAGE).unlink(), "is missing", id="no image"),
    ],
)
def test_a_fault_is_named(tree: Path, spoil: Callable[[Path], None], said: str) -> None:
    spoil(tree)
    assert any(said in fault for fault in faults(tree)), faults(tree)


def test_the_first_image_is_that_of_the_schemas(tree: Path) -> None:
    """Nothing is released: schemas may break, and the image is made again."""
    extend_schemas(tree)
    assert any("not the image" in fault for fault in faults(tree))


def test_a_later_version_may_add_and_may_not_break(tree: Path) -> None:
    address(tree)
    date(tree)
    bump(tree)
    assert [fault for fault in faults(tree) if "schemas" in fault] == []
    extend_schemas(tree)
    assert faults(tree) == []
    break_schemas(tree)
    (fault,) = faults(tree)
    assert "break the last release" in fault
    assert "bidding.proto" in fault
