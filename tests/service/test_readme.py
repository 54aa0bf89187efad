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
    assert {"table", "play", "demo", "serve", "simulate", "explain"} <= commands
    for command in sorted(commands):
        arguments = [sys.executable, "-m", "erqiwang_grpc", command, "--help"]
        assert subprocess.run(arguments, capture_output=True, timeout=60, check=False).returncode == 0, command


DOCUMENTS: Final = sorted(path.relative_to(ROOT) for folder in (ROOT, ROOT / "docs") for path in folder.glob("*.md"))


@pytest.mark.parametrize("document", DOCUMENTS, ids=str)
def test_every_link_leads_somewhere(document: Path) -> None:
    """To a file, and where a section is named, to a heading of it."""
    for file, section in re.findall(r"\]\((?!https?:)([^)#]*)(?:#([^)]+))?\)", (ROOT / document).read_text("utf-8")):
        target = (ROOT / document).parent / file if file else ROOT / document
        assert target.exists(), file
        if section:
            titles = re.findall(r"^#+ (.+)$", target.read_text("utf-8"), re.MULTILINE)
            assert section in {re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-") for title in titles}, section


def test_both_readmes_lead_to_other_documents() -> None:
    for readme in ("README.md", "README.zh.md"):
        assert len(re.findall(r"\]\(docs/", (ROOT / readme).read_text("utf-8"))) > 5
