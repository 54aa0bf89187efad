"""Prometheus' own checks."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest


def promtool(*arguments: str, given: str = "", folder: Path | None = None) -> str:
    """What `promtool` prints. A test is skipped where it is not installed, and fails in CI, which installs it."""
    program = shutil.which("promtool")
    if program is None:
        (pytest.fail if "CI" in os.environ else pytest.skip)("promtool is not installed: apt-get install prometheus")
    done = subprocess.run(
        [program, *arguments], input=given, cwd=folder, capture_output=True, text=True, check=False, timeout=120
    )
    assert done.returncode == 0, f"{done.stdout}\n{done.stderr}"
    return done.stdout + done.stderr
