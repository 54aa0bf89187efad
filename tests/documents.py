"""Documents whose commands are run exactly as they are written."""

import re
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import Final, final

REPOSITORY: Final = Path(__file__).parents[1]
_BLOCK: Final = re.compile(r"^```sh\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_SECTION: Final = re.compile(r"^## (.+)$", re.MULTILINE)


@final
@dataclass(frozen=True, slots=True)
class Section:
    """The commands of one section, a string a block."""

    title: str
    blocks: tuple[str, ...]


def sections(document: str) -> dict[str, Section]:
    """The sections of a document below docs/ that hold commands, by their titles."""
    _, *parts = _SECTION.split((REPOSITORY / "docs" / document).read_text(encoding="utf-8"))
    found = [Section(title, tuple(_BLOCK.findall(text))) for title, text in zip(parts[::2], parts[1::2], strict=True)]
    return {section.title: section for section in found if section.blocks}


def run(script: str, folder: Path, environment: dict[str, str]) -> str:
    """Run commands in one shell, as a reader would who stops at the first error; what they print."""
    done = subprocess.run(
        ["bash", "-euo", "pipefail", "-c", script],
        cwd=folder, env=environment, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, f"{script}\n{done.stdout}\n{done.stderr}"
    return done.stdout
