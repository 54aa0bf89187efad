"""docs/operations.md says what every message of the server's log means, and names every command for operators."""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

from erqiwang_grpc.store.sqlite import (
    AlreadyServed,
    DamagedFile,
    NewerFile,
    NotAStore,
    OlderFile,
    OpenRefused,
    OutOfReach,
    ReadOnly,
    advice,
)

REPOSITORY = Path(__file__).parents[2]
PAGE = (REPOSITORY / "docs" / "operations.md").read_text()
FILE = Path("rooms.sqlite")


def messages() -> Iterator[str]:
    """Every text that is handed to a method of `log` somewhere in the service."""
    for path in (REPOSITORY / "erqiwang_grpc").rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            match node:
                case ast.Call(
                    func=ast.Attribute(
                        value=ast.Name(id="log"), attr="info" | "warning" | "error" | "exception" | "critical"
                    ),
                    args=[ast.Constant(value=str(text)), *_],
                ):
                    yield text
                case _:
                    pass


@pytest.mark.parametrize("message", sorted(set(messages())))
def test_every_message_of_the_log_is_explained(message: str) -> None:
    assert f"`{message}`" in PAGE


@pytest.mark.parametrize(
    "command", ["serve", "torture", "backup", "compact", "replay", "export", "keys", "store", "move"]
)
def test_every_command_for_operators_is_shown(command: str) -> None:
    assert f"erqiwang {command}" in PAGE


@pytest.mark.parametrize(
    "refused",
    [
        AlreadyServed(FILE, "N"),
        ReadOnly(FILE),
        NewerFile(FILE, 3, 2),
        OlderFile(FILE, 1, 2),
        NotAStore(FILE),
        DamagedFile(FILE, "…"),
        OutOfReach(FILE, "…"),
    ],
)
def test_every_refusal_to_start_is_explained(refused: OpenRefused) -> None:
    said = advice(refused).removeprefix(f"{FILE} ")
    rows = [row.split("|")[1].strip().strip("`… ") for row in PAGE.splitlines() if row.startswith("| `…")]
    assert any(said.startswith(row.split(" N")[0].split(" process")[0].split(" (")[0]) for row in rows), said
