"""A temporary folder goes with the process that made it, however that ends, and takes along what works in it."""

import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import psutil
import pytest

from erqiwang_grpc.testing.folder import guarded_folder

PARENT = """
import subprocess, sys, time
from erqiwang_grpc.testing.folder import guarded_folder
with guarded_folder("erqiwang-test-") as folder:
    sleeping = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)", str(folder)])
    print(folder, sleeping.pid, flush=True)
    time.sleep(600)
"""


def wait(holds: Callable[[], bool]) -> None:
    until = time.monotonic() + 30
    while not holds():
        assert time.monotonic() < until
        time.sleep(0.05)


@pytest.mark.parametrize("is_stopped", [False, True])
def test_it_goes_with_a_process_that_is_killed_and_what_works_in_it_ends(is_stopped: bool) -> None:
    with subprocess.Popen([sys.executable, "-c", PARENT], stdout=subprocess.PIPE, text=True) as parent:
        assert parent.stdout is not None
        folder, pid = parent.stdout.readline().split()
        child = psutil.Process(int(pid))
        if is_stopped:
            child.send_signal(signal.SIGSTOP)
        assert Path(folder).is_dir()
        parent.kill()
    wait(lambda: not Path(folder).exists())
    assert not child.is_running() or child.status() == psutil.STATUS_ZOMBIE


def test_it_goes_with_its_context() -> None:
    with guarded_folder("erqiwang-test-") as folder:
        (folder / "file").write_text("")
    assert not folder.exists()
