"""What `erqiwang serve` says to arguments that it cannot serve with."""

import json
import re
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from erqiwang_grpc.__main__ import main
from tests.service.certificates import Authority


@pytest.mark.parametrize(
    "given",
    [
        pytest.param(["--port", "65536"], id="a port that gRPC would take for another"),
        pytest.param(["--port", "-1"], id="a negative port"),
        pytest.param(["--metrics-port", "65536"], id="a port of metrics"),
        pytest.param(["--grace", "-1"], id="a time before now"),
        pytest.param(["--lame-duck", "-1"], id="a pause before now"),
        pytest.param(["--keep-days", "-1"], id="matches that have not ended yet"),
        pytest.param(["--keep-days", "nan"], id="no number"),
        pytest.param(["--rooms", "0"], id="no room at all"),
    ],
)
def test_numbers_out_of_range(given: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["serve", "--data", str(tmp_path), *given])
    assert f"argument {given[0]}: {given[1]!r} is no " in capsys.readouterr().err


def has_ipv6() -> bool:
    try:
        with socket.socket(socket.AF_INET6) as tried:
            tried.bind(("::1", 0))
    except OSError:
        return False
    return True


@pytest.mark.skipif(not has_ipv6(), reason="this machine has no IPv6")
@pytest.mark.parametrize("host", ["::1", "[::1]"])
def test_an_address_of_ipv6_is_taken_with_and_without_brackets(host: str, tmp_path: Path) -> None:
    command = (sys.executable, "-m", "erqiwang_grpc", "serve", "--in-memory", "--data", str(tmp_path), "--port", "0")
    with subprocess.Popen(
        [*command, "--host", host, "--metrics-port", "0"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as server:
        try:
            assert server.stdout is not None
            address = server.stdout.readline().strip().rpartition(" ")[2]
            assert re.fullmatch(r"\[::1\]:\d+", address)
            key = tmp_path / "platform-key.txt"
            assert main(["rooms", "list", "--server", address, "--key-file", str(key)]) == 0
        finally:
            server.terminate()
        said = [json.loads(line) for line in server.communicate()[1].splitlines()]
    scraped = [line["address"] for line in said if line["message"] == "metrics"]
    assert scraped
    assert all(re.fullmatch(r"\[::1\]:\d+", each) for each in scraped)


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
    assert main(["serve", "--data", str(folder), "--tls-cert", "cert.pem", "--tls-key", "key.pem"]) == 2
    assert folder.stat().st_mode & 0o777 == 0o700


# The files of TLS.


def pem(folder: Path, **files: bytes) -> list[str]:
    flags: list[str] = []
    for name, text in files.items():
        path = folder / f"{name}.pem"
        path.write_bytes(text)
        flags += [f"--{name.replace('_', '-')}", str(path)]
    return flags


OURS, ANOTHER = Authority("ours").issue("localhost"), Authority("another").issue("localhost")
CLIENTS = Authority("clients").certificate
GARBAGE = b"-----BEGIN CERTIFICATE-----\nno certificate\n-----END CERTIFICATE-----\n"


@pytest.mark.parametrize(
    ("files", "flag", "said"),
    [
        ({"tls_cert": b"", "tls_key": OURS.key}, "tls_cert", "holds no certificate"),
        ({"tls_cert": OURS.key, "tls_key": OURS.key}, "tls_cert", "holds no certificate"),
        ({"tls_cert": GARBAGE, "tls_key": OURS.key}, "tls_cert", "holds no certificate"),
        ({"tls_cert": OURS.certificate, "tls_key": b""}, "tls_key", "holds no private key"),
        ({"tls_cert": OURS.certificate, "tls_key": OURS.certificate}, "tls_key", "holds no private key"),
        ({"tls_cert": OURS.certificate, "tls_key": ANOTHER.key}, "tls_key", "is not the key of the first certificate"),
        ({"tls_cert": OURS.certificate, "tls_key": OURS.key, "client_ca": b""}, "client_ca", "no client could come in"),
        (
            {"tls_cert": OURS.certificate, "tls_key": OURS.key, "client_ca": b"\n"},
            "client_ca",
            "no client could come in",
        ),
        (
            {"tls_cert": OURS.certificate, "tls_key": OURS.key, "client_ca": GARBAGE},
            "client_ca",
            "holds no certificate",
        ),
        ({"client_ca": CLIENTS}, "client_ca", "goes with --tls-cert and --tls-key"),
        ({"tls_key": OURS.key}, "tls_cert", "go together"),
    ],
)
def test_files_that_no_client_could_come_in_with(
    files: dict[str, bytes], flag: str, said: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["serve", "--data", str(tmp_path), *pem(tmp_path, **files)]) == 2
    told = capsys.readouterr().err.splitlines()[-1]
    assert said in told
    assert f"--{flag.replace('_', '-')}" in told
    assert "PRIVATE" not in told


@pytest.mark.parametrize("flag", ["--platform-keys", "--signing-keys"])
def test_an_empty_key_file_is_named(flag: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    empty = tmp_path / "empty.json"
    empty.touch()
    assert main(["serve", "--data", str(tmp_path), flag, str(empty)]) == 2
    assert str(empty) in capsys.readouterr().err.splitlines()[-1]
