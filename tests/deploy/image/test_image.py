"""The image: its steps are carried out, and what they make is served, checked and stopped as an engine would."""

import os
import shutil
import signal
import socket
from pathlib import Path

import pytest

from tests.deploy.arguments import DEPLOY, listens, parsed
from tests.deploy.image.dockerfile import Stage, context, inner, instructions

pytestmark = pytest.mark.packages


def free_port() -> int:
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        port: int = found.getsockname()[1]
        return port


def on(port: int, command: list[str]) -> list[str]:
    """The command on another port of this machine, which has no network of its own for a container."""
    changed = [word.replace("50051", str(port)) for word in command]
    return [{"9100": "0", "0.0.0.0": "127.0.0.1"}.get(word, word) for word in changed]


def test_the_base_is_a_version_and_everything_installed_has_a_hash() -> None:
    steps = instructions((DEPLOY / "image/Dockerfile").read_text())
    base = next(step.text for step in steps if step.word == "ARG").removeprefix("BASE=python:")
    assert len(base.partition("-")[0].split(".")) == 3
    assert [step.text for step in steps if step.word == "FROM"] == ["${BASE} AS build", "${BASE}"]
    for step in steps:
        if step.word == "RUN" and "pip" in step.text and " install " in step.text:
            assert "--require-hashes" in step.text or "--no-index" in step.text


def test_nothing_but_the_named_goes_into_the_build(tmp_path: Path) -> None:
    source = tmp_path / "source"
    shutil.copytree(DEPLOY.parent / "core", source / "core")
    for name in ("requirements", "erqiwang_grpc", "proto", "docs"):
        (source / name).mkdir()
    for name in (
        "CHANGELOG.md",
        "LICENSE",
        "MANIFEST.in",
        "README.md",
        "pyproject.toml",
        "docs/cards.json",
        "docs/other.md",
    ):
        (source / name).touch()
    for name in ("erqiwang-data", "secrets"):
        (source / name).mkdir()
        (source / name / "signing-keys.json").touch()
    (source / "core/erqiwang_core/deal.cpython-313.so").touch()
    made = context(source, (DEPLOY / "image/Dockerfile.dockerignore").read_text(), tmp_path / "context")
    files = {str(path.relative_to(made)) for path in made.rglob("*") if path.is_file()}
    assert "core/erqiwang_core/deal/__init__.py" in files or "core/erqiwang_core/deal.py" in files
    assert "docs/other.md" not in files
    assert not [name for name in files if name.endswith((".so", ".pyc", "keys.json"))]


def test_the_arguments_are_those_of_serve_and_the_ports_are_exposed(image: Stage) -> None:
    command = parsed(image.command)
    assert parsed(image.health[1:]).server == f"127.0.0.1:{command.port}"
    edge = parsed(["edge"])
    ports = {*listens(command).values(), *listens(edge).values()}
    assert {int(port) for port in image.ports} == ports
    assert image.volumes == [str(command.data)]


def test_it_runs_as_nobody_special_and_can_write_only_its_volume(image: Stage) -> None:
    assert image.user == "10001:10001"
    data = (image.root / "data").stat()
    assert (data.st_mode & 0o777, data.st_uid, data.st_gid) == (0o700, 10001, 10001)
    program = (
        "import os, pathlib\n"
        "print(os.getuid(), os.getgid(), os.getgroups())\n"
        "for place in ('/', '/opt/erqiwang', '/etc', '/usr', '/data', '/tmp'):\n"
        "    try:\n"
        "        (pathlib.Path(place) / 'written').touch()\n"
        "        print(place)\n"
        "    except OSError:\n"
        "        pass\n"
    )
    ran = image.run(["python", "-c", program])
    assert ran.stdout.splitlines() == ["10001 10001 []", "/data", "/tmp"], ran.stderr
    (image.root / "data/written").unlink()


def test_it_has_what_serve_and_edge_need_and_no_installer(image: Stage) -> None:
    version = image.run([*image.entrypoint, "--version"])
    assert version.stdout.startswith("erqiwang "), version.stderr
    assert image.run([*image.entrypoint, "edge", "--help"]).returncode == 0
    assert image.run(["python", "-c", "import asyncpg"]).returncode == 0
    inside = image.root / "opt/erqiwang"
    assert not list(inside.glob("bin/pip*"))
    assert not list(inside.glob("lib/python*/site-packages/pip"))
    assert not (image.root / "src").exists()
    modules = list(inside.glob("lib/python*/site-packages/erqiwang_grpc/commands/serve.py"))
    assert len(modules) == 1
    assert list(modules[0].parent.glob("__pycache__/serve.*.pyc")), "it is compiled to bytecode when it is made"


@pytest.mark.parametrize("how", [signal.SIGTERM, signal.SIGINT])
def test_it_serves_is_healthy_and_drains(image: Stage, how: signal.Signals) -> None:
    port = free_port()
    process = image.start(on(port, [*image.entrypoint, *image.command]))
    try:
        assert process.stdout is not None
        assert process.stdout.readline() == f"erqiwang serves on 127.0.0.1:{port}\n", process.communicate()[1]
        healthy = image.run(on(port, image.health))
        assert (healthy.returncode, healthy.stdout) == (0, "serving\n"), healthy.stderr
        os.kill(inner(process), how)
        # In the lame-duck time it answers, and says that it does not serve.
        leaving = image.run(on(port, image.health))
        assert (leaving.returncode, leaving.stdout) == (1, "not serving\n"), leaving.stderr
        _, log = process.communicate(timeout=30)
        assert process.returncode == (0 if how is signal.SIGTERM else 130), log
        assert "open to others" not in log
    finally:
        if process.poll() is None:
            process.kill()
            process.wait()
    assert image.stop_signal == "SIGTERM"
    gone = image.run(on(port, [*image.health[:-1], "0.5"]))
    assert gone.returncode == 2
    files = {path.name: path.stat().st_mode & 0o777 for path in (image.root / "data").iterdir()}
    assert {"rooms.sqlite", "platform-keys.json", "signing-keys.json"} <= files.keys()
    assert set(files.values()) == {0o600}
