"""Commands that are ended by any signal leave nothing behind: neither a process, nor a folder, nor a traceback of a child."""

import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from time import monotonic, sleep

import psutil
import pytest

from tests.commands.terminals import PATIENCE_SECONDS


def wait(condition: Callable[[], bool], why: str) -> None:
    deadline = monotonic() + PATIENCE_SECONDS
    while not condition():
        assert monotonic() < deadline, why
        sleep(0.05)


def alive(processes: list[psutil.Process]) -> Iterator[psutil.Process]:
    for each in processes:
        if each.is_running() and each.status() != psutil.STATUS_ZOMBIE:
            yield each


@pytest.mark.parametrize(
    ("given", "children"),
    [
        pytest.param(("demo", "--seed", "5"), 1, id="demo"),
        pytest.param(("table", "--no-open", "--port", "0"), 1, id="table"),
        pytest.param(("bench", "--rooms", "2", "--seconds", "30", "--processes", "2", "--rate", "0"), 2, id="bench"),
        pytest.param(("torture", "--minutes", "5", "--tables", "1"), 2, id="torture"),
    ],
)
def test_nothing_is_left(given: tuple[str, ...], children: int, tmp_path: Path) -> None:
    with subprocess.Popen(
        [sys.executable, "-m", "erqiwang_grpc", *given],
        env=os.environ | {"TMPDIR": str(tmp_path)}, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
    ) as process:  # fmt: skip
        try:
            running = psutil.Process(process.pid)
            wait(lambda: len(running.children(recursive=True)) >= children, "it has begun")
            wait(lambda: any(tmp_path.iterdir()), "it has a folder")
            born = running.children(recursive=True)
        finally:
            process.kill()
    wait(lambda: not any(alive(born)), "every process ends")
    wait(lambda: not any(tmp_path.iterdir()), "every folder goes")


@pytest.mark.parametrize("moment", [0.0, 0.2, 1.0], ids=["as they start", "as they load", "in play"])
@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM, signal.SIGHUP])
def test_workers_end_with_their_parent_and_say_nothing(number: signal.Signals, moment: float, tmp_path: Path) -> None:
    said = tmp_path / "stderr"
    with (
        said.open("wb") as stderr,
        subprocess.Popen(
            [sys.executable, "-m", "erqiwang_grpc", "simulate", "--deals", "60000", "--processes", "2"],
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=stderr,
        ) as process,
    ):  # fmt: skip
        try:
            running = psutil.Process(process.pid)
            wait(lambda: len(running.children(recursive=True)) == 2, "it has begun")
            sleep(moment)
            born = running.children(recursive=True)
        finally:
            process.send_signal(number)
        assert process.wait(PATIENCE_SECONDS) == -number
    wait(lambda: not any(alive(born)), "every process ends")
    assert said.read_text() == ""
