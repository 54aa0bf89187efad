"""A command whose output nobody reads any more ends quietly with 141, as any program does: `erqiwang … | head`."""

import subprocess
import sys
from pathlib import Path

import grpc
import pytest

from erqiwang_grpc.testing import seated
from tests.service.processes import serving


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
    assert ended(*arguments) == (141, "")


async def test_nor_is_it_for_what_reads_a_data_folder(tmp_path: Path) -> None:
    data, copy = tmp_path / "data", tmp_path / "copy"
    data.mkdir()
    async with serving(data) as server:
        async with grpc.aio.insecure_channel(server.address) as channel:
            room = (await seated(server.speaking(channel).platform)).room_id
        await server.stop()
    for arguments in (["replay", room], ["keys", "list"], ["backup", str(copy)], ["compact"]):
        assert ended(*arguments, "--data", str(data)) == (141, ""), arguments
    assert (copy / "rooms.sqlite").exists(), "the copy was made before it was told"


def ended(*arguments: str) -> tuple[int, str]:
    """The exit status, and what was written to standard error, of a command whose output nobody reads."""
    command = [sys.executable, "-m", "erqiwang_grpc", *arguments]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, stdin=subprocess.DEVNULL) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.close()
        said = process.stderr.read().decode()
        return process.wait(60), said
