"""Each connection is an open file: the server allows itself as many as it may have, and says where it cannot."""

from pathlib import Path

import psutil
import pytest

from tests.service.processes import serving


@pytest.mark.parametrize(
    ("soft", "hard", "connections", "allowed", "warned"),
    [
        pytest.param(300, 300, 200, 300, 0, id="enough"),
        pytest.param(299, 299, 200, 299, 1, id="one too few"),
        pytest.param(256, 1_000, 500, 600, 0, id="the soft limit is raised as far as needed"),
        pytest.param(256, 512, 500, 512, 1, id="the soft limit is raised as far as it goes, which is not enough"),
    ],
)
async def test_the_limit_of_open_files_is_raised_or_said(
    tmp_path: Path, soft: int, hard: int, connections: int, allowed: int, warned: int
) -> None:
    async with serving(tmp_path, "--in-memory", "--connections", str(connections), open_files=(soft, hard)) as server:
        assert psutil.Process(server.process.pid).rlimit(psutil.RLIMIT_NOFILE) == (allowed, hard)
        lines = [line for line in server.lines() if line["message"] == "too few open files"]
        assert len(lines) == warned
        if warned:
            assert f"--connections {connections} needs {connections + 100} open files" in str(lines[0]["why"])
            assert lines[0]["level"] == "warning"
