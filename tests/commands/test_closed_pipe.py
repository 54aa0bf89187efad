"""A command whose output nobody reads any more ends quietly with 141, as any program does: `erqiwang … | head`."""

import subprocess
import sys

import pytest


@pytest.mark.parametrize(
    "arguments",
    [
        ("simulate", "--deals", "6", "--processes", "1"),
        ("simulate", "--deals", "6", "--processes", "1", "--json"),
        ("demo", "--fast", "--deals", "1", "--seed", "1"),
        ("explain", "--hand", "hA hA s5", "--trump", "s"),
        ("config", "serve"),
    ],
    ids=" ".join,
)
def test_a_closed_pipe_is_no_error(arguments: tuple[str, ...]) -> None:
    command = [sys.executable, "-m", "erqiwang_grpc", *arguments]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, stdin=subprocess.DEVNULL) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.close()
        said = process.stderr.read().decode()
        assert (process.wait(60), said) == (141, "")
