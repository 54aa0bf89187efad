"""`erqiwang --version`: it says which builds of the core and of the service run."""

from pathlib import Path

import erqiwang_core
import pytest

import erqiwang_grpc.rooms.room
from erqiwang_grpc.__main__ import main


def test_the_version_and_the_builds(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["--version"])
    assert ended.value.code == 0
    core, service = map(build_of, (erqiwang_core.view.__file__, erqiwang_grpc.rooms.room.__file__))
    said = capsys.readouterr().out
    assert said.startswith("erqiwang 0.")
    assert f", core {core}, service {service}, Python 3." in said


def build_of(file: str) -> str:
    return "interpreted" if Path(file).suffix == ".py" else "compiled"
