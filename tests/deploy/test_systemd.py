"""The units: systemd reads them, they are closed, and what they start exists."""

import os
import re
import shlex
import shutil
import subprocess
from pathlib import Path

import pytest

from erqiwang_grpc.rooms.limits import Limits
from tests.deploy.arguments import DEPLOY, parsed

UNITS = sorted((DEPLOY / "systemd").glob("*.service"))
MOST_EXPOSED = 1.5
"""Of 10, as `systemd-analyze security` counts."""


def settings(unit: Path) -> dict[str, str]:
    """The settings that stand once."""
    lines = [line.partition("=") for line in unit.read_text().splitlines() if "=" in line and not line.startswith("#")]
    return {name: value for name, _, value in lines}


def analyze(*arguments: str) -> "subprocess.CompletedProcess[str]":
    if shutil.which("systemd-analyze") is None:
        (pytest.fail if "CI" in os.environ else pytest.skip)("systemd is not installed")
    return subprocess.run(["systemd-analyze", *arguments], capture_output=True, text=True, check=False)


@pytest.mark.parametrize("unit", UNITS, ids=lambda unit: str(unit.stem))
def test_systemd_finds_no_fault(unit: Path, tmp_path: Path) -> None:
    copy = tmp_path / unit.name
    # The program is not installed on this machine. Any that is will do.
    copy.write_text(unit.read_text().replace("/opt/erqiwang/bin/erqiwang", "/bin/true"))
    verified = analyze("verify", "--man=no", str(copy))
    assert (verified.returncode, verified.stderr) == (0, "")


@pytest.mark.parametrize("unit", UNITS, ids=lambda unit: str(unit.stem))
def test_it_is_closed(unit: Path) -> None:
    judged = analyze("security", "--offline=yes", "--no-pager", f"--threshold={int(MOST_EXPOSED * 10)}", str(unit))
    assert judged.returncode == 0, judged.stdout
    found = re.search(r"exposure level for \S+: ([\d.]+)", judged.stdout)
    assert found is not None
    assert float(found[1]) <= MOST_EXPOSED


@pytest.mark.parametrize("unit", UNITS, ids=lambda unit: str(unit.stem))
def test_it_has_time_to_stop_and_enough_open_files(unit: Path) -> None:
    found = settings(unit)
    program, *arguments = shlex.split(found["ExecStart"])
    assert program == "/opt/erqiwang/bin/erqiwang"
    command = parsed(arguments)
    stopping = command.lame_duck + command.grace if hasattr(command, "grace") else command.drain_seconds
    assert int(found["TimeoutStopSec"]) >= stopping + 10
    assert int(found["LimitNOFILE"]) >= command.connections + 100
    assert found["ExecReload"] == "/bin/kill -HUP $MAINPID"
    if hasattr(command, "grace"):
        assert command.connections == Limits().connections
        assert str(command.data) == f"/var/lib/{found['StateDirectory']}"
        assert found["StateDirectoryMode"] == "0700"
