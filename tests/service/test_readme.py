"""The program of each README, run as it stands by a reader with a server and its first key."""

import asyncio
import re
import subprocess
import sys
from pathlib import Path
from typing import Final

import pytest

from tests.service.processes import serving

ROOT: Final = Path(__file__).parents[2]
PROGRAM: Final = re.compile(r"^```python\n(.*?)^```$", re.DOTALL | re.MULTILINE)
COMMAND: Final = re.compile(r"^\.venv/bin/erqiwang (\w+)", re.MULTILINE)


@pytest.mark.parametrize(
    ("readme", "prints"),
    [
        pytest.param("README.md", r"alice holds \[(\d+, ){27}\d+\]\nand may call\n", id="English"),
        pytest.param("README.zh.md", r"alice 的手牌： \[(\d+, ){27}\d+\]\n叫 \d+ 分： Accepted\n", id="Chinese"),
    ],
)
async def test_the_program_opens_a_room_and_sees_the_first_hand(tmp_path: Path, readme: str, prints: str) -> None:
    (program,) = PROGRAM.findall((ROOT / readme).read_text(encoding="utf-8"))
    async with serving(tmp_path) as server:
        arguments = [sys.executable, "-c", program, server.address, server.key]
        printed = await asyncio.to_thread(subprocess.check_output, arguments, text=True, timeout=60)
    assert re.fullmatch(prints, printed), printed


@pytest.mark.parametrize("readme", ["README.md", "README.zh.md"])
def test_its_commands_are_there(readme: str) -> None:
    commands = set(COMMAND.findall((ROOT / readme).read_text(encoding="utf-8")))
    assert {"play", "demo", "serve", "simulate", "explain"} <= commands
    for command in sorted(commands):
        arguments = [sys.executable, "-m", "erqiwang_grpc", command, "--help"]
        assert subprocess.run(arguments, capture_output=True, timeout=60, check=False).returncode == 0, command


@pytest.mark.parametrize("readme", ["README.md", "README.zh.md"])
def test_its_links_lead_somewhere(readme: str) -> None:
    links = re.findall(r"\]\(([^)#]+)\)", (ROOT / readme).read_text(encoding="utf-8"))
    assert links
    for link in links:
        assert (ROOT / link).exists(), link
