"""A test that hangs is a failure, with the stacks of all threads, by the settings that all tests run under."""

import subprocess
import sys
from pathlib import Path

import pytest

from tests.mutants.run import ROOT

HANGS = """
import asyncio, threading

def idle_beside():
    threading.Event().wait()

async def test_waits_for_ever():
    threading.Thread(target=idle_beside, daemon=True).start()
    await asyncio.Event().wait()
"""


def test_every_test_has_a_limit_of_time(pytestconfig: pytest.Config) -> None:
    assert 0 < pytestconfig.getini("faulthandler_timeout") <= 600
    assert pytestconfig.getini("faulthandler_exit_on_timeout") is True


def test_a_hang_is_a_failure_with_the_stacks_of_all_threads(tmp_path: Path) -> None:
    (tmp_path / "test_hang.py").write_text(HANGS)
    settings = ("-c", str(ROOT / "pyproject.toml"), "-o", "faulthandler_timeout=1", "-p", "no:cacheprovider")
    command = [sys.executable, "-m", "pytest", *settings, str(tmp_path / "test_hang.py")]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=60, check=False)
    said = done.stdout + done.stderr
    assert done.returncode == 1, said
    assert "Timeout (0:00:01)" in said
    assert "in idle_beside" in said, "the other threads"
    assert "run_until_complete" in said, "the one that runs the test"
