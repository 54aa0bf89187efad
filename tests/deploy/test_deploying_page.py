"""docs/deploying.md: the times of its table are those of the files."""

import re
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import pytest
import yaml

from tests.deploy.arguments import DEPLOY, parsed
from tests.documents import REPOSITORY

ROW: Final = re.compile(r"^\| `([^`]+)`(?:, `([^`]+)`)? \| (\d+) \| (\d+|–) \| (\d+) \| (\d+) \|$", re.MULTILINE)
PAGE: Final = (REPOSITORY / "docs" / "deploying.md").read_text(encoding="utf-8")


def seconds(text: str) -> int:
    return int(text.removesuffix("s"))


@dataclass(frozen=True, slots=True)
class Stop:
    """How a program is stopped."""

    command: list[str]
    before: int
    """Seconds before its signal."""
    given: int
    """Seconds until it is killed."""


def of_compose(service: str) -> Stop:
    found = yaml.safe_load((DEPLOY / "compose.yaml").read_text(encoding="utf-8"))["services"][service]
    return Stop(found["command"], 0, seconds(found["stop_grace_period"]))


def of_kubernetes(folder: str, container: str) -> Stop:
    documents = (
        document
        for path in (DEPLOY / folder).glob("*.yaml")
        for document in yaml.safe_load_all(path.read_text(encoding="utf-8"))
    )
    (pod,) = (
        each["spec"]["template"]["spec"] for each in documents if each.get("kind") in ("Deployment", "StatefulSet")
    )
    (only,) = pod["containers"]
    assert only["name"] == container
    before = int(only["lifecycle"]["preStop"]["exec"]["command"][1])
    return Stop(only["args"], before, pod["terminationGracePeriodSeconds"])


def of_unit(name: str) -> Stop:
    unit = (DEPLOY / "systemd" / name).read_text(encoding="utf-8")
    (command,) = re.findall(r"^ExecStart=\S+ (.*)$", unit, re.MULTILINE)
    (given,) = re.findall(r"^TimeoutStopSec=(\d+)$", unit, re.MULTILINE)
    return Stop(command.split(), 0, int(given))


def told(where: str, part: str) -> Stop:
    """How the program of a row is stopped."""
    if where == "compose.yaml":
        return of_compose(part)
    return of_unit(where) if where.endswith(".service") else of_kubernetes(where, part)


@pytest.mark.parametrize("row", ROW.findall(PAGE), ids=lambda row: " ".join(row[:2]).strip())
def test_a_row_is_what_the_file_says(row: tuple[str, str, str, str, str, str]) -> None:
    where, part, before, lame_duck, leaving, given = row
    stop = told(where, part)
    arguments = parsed(stop.command)
    assert (stop.before, stop.given) == (int(before), int(given))
    assert getattr(arguments, "lame_duck", None) == (None if lame_duck == "–" else int(lame_duck))
    assert int(leaving) == (arguments.drain_seconds if lame_duck == "–" else arguments.grace)
    assert int(given) == int(before) + (0 if lame_duck == "–" else int(lame_duck)) + int(leaving) + 10


def test_every_place_has_a_row() -> None:
    assert len(ROW.findall(PAGE)) == 7


def test_the_page_can_be_pasted_from_its_top(tmp_path: Path) -> None:
    """Secrets are made once, however many of its sections say how."""
    lines = [line for line in PAGE.splitlines() if "deploy/secrets.sh" in line and "](" not in line]
    assert len(lines) > 1
    (tmp_path / "deploy").mkdir()
    shutil.copy(DEPLOY / "secrets.sh", tmp_path / "deploy")
    subprocess.run(["sh", "-ec", "\n".join(lines)], cwd=tmp_path, check=True)
