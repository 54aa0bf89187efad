"""What the projects say of their compiled wheels is true of the sources as they are."""

import subprocess
import sys
from pathlib import Path
from typing import Final

import pytest

CORE: Final = Path(__file__).parent.parent.parent / "core"
"""Where the build backend lies. It is no package of the service: only a build imports it."""

SOURCES: Final = """
from dataclasses import replace
from backend import projects
project = replace(projects.{project}, **{changed!r})
print(*project._sources(project.folder / project.package), sep="\\n")
"""


def sources(project: str, **changed: tuple[str, ...]) -> "subprocess.CompletedProcess[str]":
    """The sources that a compiled wheel of the project compiles."""
    program = SOURCES.format(project=project, changed=changed)
    return subprocess.run([sys.executable, "-c", program], cwd=CORE, capture_output=True, text=True, check=False)


@pytest.mark.parametrize("project", ["core", "service"])
def test_all_that_a_project_names_is_there(project: str) -> None:
    found = sources(project)
    assert found.returncode == 0, found.stderr
    assert all(Path(source).is_file() for source in found.stdout.splitlines())
    assert len(found.stdout.splitlines()) > 20


@pytest.mark.parametrize("field", ["compiled", "interpreted"])
def test_a_name_whose_file_has_moved_is_noticed(field: str) -> None:
    found = sources("core", **{field: ("moved_away.py",)})
    assert found.returncode == 1
    assert "moved_away.py" in found.stderr
