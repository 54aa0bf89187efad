"""Work that is shared out among processes: in order, whoever is done first; and what is said when one of them ends early."""

import os
import signal
import time
from collections.abc import Callable

import pytest

from erqiwang_grpc.__main__ import main
from erqiwang_grpc.tools.simulate import simulation
from erqiwang_grpc.tools.workers import WorkerEnded, shared_out

PARTS = tuple(range(7))


def slow_at_first(part: int) -> tuple[int, int]:
    time.sleep(0.3 if part == 0 else 0.0)
    print("what the work prints is no result")
    return part, os.getpid()


def refused(part: int) -> int:
    raise ValueError(f"part {part}")


def killed(part: int) -> int:
    os.kill(os.getpid(), signal.SIGKILL if part == 3 else 0)
    return part


def larger_than_a_pipe(part: int) -> bytes:
    return bytes([part]) * 1_000_000


@pytest.mark.parametrize("processes", [1, 2, 20])
def test_results_come_in_the_order_of_the_parts(processes: int) -> None:
    found = list(shared_out(slow_at_first, PARTS, processes))
    assert tuple(part for part, _ in found) == PARTS
    assert (os.getpid() in {pid for _, pid in found}) == (processes == 1)


def test_nothing_to_do() -> None:
    assert list(shared_out(slow_at_first, (), 2)) == []


def test_large_results() -> None:
    assert list(shared_out(larger_than_a_pipe, PARTS, 3)) == [larger_than_a_pipe(part) for part in PARTS]


@pytest.mark.parametrize(("work", "status"), [(refused, 1), (killed, -9)])
def test_a_process_that_ends_early_is_told(
    work: Callable[[int], int], status: int, capfd: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(WorkerEnded, match=f"with status {status}$"):
        list(shared_out(work, PARTS, 2))
    assert ("ValueError: part" in capfd.readouterr().err) == (work is refused)


def test_who_stops_listening_leaves_no_process() -> None:
    results = shared_out(slow_at_first, PARTS, 2)
    _, worker = next(results)
    results.close()
    with pytest.raises(ProcessLookupError):
        os.kill(worker, 0)


def test_simulate_says_that_a_process_has_ended(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(simulation, "play", killed)
    assert main(["simulate", "--deals", "200", "--processes", "2"]) == 2
    assert "erqiwang simulate: a process ended before its work was done" in capfd.readouterr().err
