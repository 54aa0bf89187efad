"""What `erqiwang serve` says to arguments that it cannot serve with."""

import socket
from pathlib import Path

import pytest

from erqiwang_grpc.__main__ import main


@pytest.mark.parametrize(
    "given",
    [
        pytest.param(["--port", "65536"], id="a port that gRPC would take for another"),
        pytest.param(["--port", "-1"], id="a negative port"),
        pytest.param(["--metrics-port", "65536"], id="a port of metrics"),
        pytest.param(["--grace", "-1"], id="a time before now"),
        pytest.param(["--keep-days", "-1"], id="matches that have not ended yet"),
        pytest.param(["--keep-days", "nan"], id="no number"),
        pytest.param(["--rooms", "0"], id="no room at all"),
    ],
)
def test_numbers_out_of_range(given: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["serve", "--data", str(tmp_path), *given])
    assert f"argument {given[0]}: {given[1]!r} is no " in capsys.readouterr().err


@pytest.mark.parametrize("flag", ["--port", "--metrics-port"])
def test_a_port_in_use(flag: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        number = taken.getsockname()[1]
        assert main(["serve", "--in-memory", "--data", str(tmp_path), "--port", "0", flag, str(number)]) == 2
    said = capsys.readouterr().err.splitlines()[-1]
    assert said.startswith(f"erqiwang serve: 127.0.0.1:{number}")
    assert flag in said


def test_a_file_in_place_of_the_folder(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "file"
    file.touch()
    assert main(["serve", "--data", str(file)]) == 2
    assert f"{file} is no folder" in capsys.readouterr().err


def test_a_new_folder_is_its_users_alone(tmp_path: Path) -> None:
    folder = tmp_path / "data"
    assert main(["serve", "--data", str(folder), "--tls-cert", "cert.pem"]) == 2
    assert folder.stat().st_mode & 0o777 == 0o700
