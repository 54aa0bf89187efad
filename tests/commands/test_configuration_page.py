"""docs/configuration.md: its file is one, and what it says is printed is printed."""

import re
import tomllib
from pathlib import Path

import pytest

from erqiwang_grpc.__main__ import main
from erqiwang_grpc.commands.configuration import CONFIGURABLE

PAGE = (Path(__file__).parents[2] / "docs" / "configuration.md").read_text()


@pytest.fixture
def file(tmp_path: Path) -> Path:
    (example,) = re.findall(r"```toml\n(.*?)```", PAGE, re.DOTALL)
    path = tmp_path / "erqiwang.toml"
    path.write_text(example)
    return path


@pytest.mark.parametrize("subcommand", CONFIGURABLE)
def test_the_file_holds(subcommand: str, file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["config", subcommand, "--config", str(file)]) == 0
    printed, wanted = tomllib.loads(capsys.readouterr().out)[subcommand], tomllib.loads(file.read_text())[subcommand]
    for key, value in wanted.items():
        assert printed[key] == value if not isinstance(value, dict) else value.items() <= printed[key].items()


def test_every_name_of_the_table_is_one(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    rows = re.findall(
        r"^\| `--([a-z-]+)` of `(\w+)`.*\| `(ERQIWANG_\w+)` \| `([a-z-]+)` in `\[([a-z.]+)\]` \|$", PAGE, re.MULTILINE
    )
    assert len(rows) == 3
    for flag, subcommand, variable, key, table in rows:
        monkeypatch.setenv(variable, "7")
        assert main(["config", subcommand]) == 0
        printed = capsys.readouterr().out
        assert re.search(rf"^\[{re.escape(table)}\]\n(?:[^[]+\n)?{key} = 7  # {variable}$", printed, re.MULTILINE)
        assert main(["config", subcommand, f"--{flag}", "8"]) == 0
        assert f"{key} = 8  # --{flag}\n" in capsys.readouterr().out


def test_what_is_shown_as_printed_is_printed(
    file: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    (shown,) = re.findall(r"```\n(\[serve\]\n.*?)```", PAGE, re.DOTALL)
    file.write_text('[serve]\nhost = "0.0.0.0"\n')
    monkeypatch.setenv("ERQIWANG_SERVE_PORT", "50052")
    assert main(["config", "serve", "--config", str(file), "--grace", "10"]) == 0
    printed = capsys.readouterr().out.replace(str(file), "/etc/erqiwang.toml").splitlines()
    assert set(shown.splitlines()) <= set(printed)
