"""The clients of docs/languages.md, each made in a folder of its own by the commands of its section."""

import os
import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import Final, final

from tests.documents import REPOSITORY, run, sections

TOOLS: Final = {
    "Python": ("python3",),
    "Go": ("go", "python3"),
    "TypeScript": ("node", "npm", "npx"),
    "Java": ("java", "mvn", "npx"),
}
"""What the machine brings, by the section that needs it."""


@final
@dataclass(frozen=True, slots=True)
class Client:
    """A client that was made, and the command that runs it."""

    folder: Path
    command: str

    def arguments(self, *flags: str) -> list[str]:
        """What starts it in its folder."""
        return ["bash", "-c", " ".join([self.command, *flags])]


@final
class Workshop:
    """Makes every client once."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._made: dict[str, Client] = {}

    def client(self, language: str) -> Client:
        """The client in that language; fails where the machine lacks what it is made with."""
        if language not in self._made:
            self._made[language] = self._make(language)
        return self._made[language]

    def _make(self, language: str) -> Client:
        missing = [tool for tool in TOOLS[language] if shutil.which(tool) is None]
        assert not missing, (
            f"{language} needs {' and '.join(missing)}, which this machine does not have: docs/languages.md"
        )
        section = sections("languages.md")[language]
        folder = self._folder / language
        folder.mkdir()
        # The command that runs the client is the block that is one line; the others make it.
        (command,) = (block.strip() for block in section.blocks if block.count("\n") == 1)
        making = [block for block in section.blocks if block.count("\n") > 1]
        run("".join(making), folder, os.environ | {"ERQIWANG": str(REPOSITORY)})
        return Client(folder, command)
