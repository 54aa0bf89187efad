"""The package as a user installs it: complete types, which mypy in its strictest mode follows and faults."""

import re
import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path
from zipfile import ZipFile

import pytest

from erqiwang_grpc.edge.page import pages
from tests.service.processes import serving

REPOSITORY = Path(__file__).parents[2]
HERE = Path(__file__).parent
ERROR = re.compile(r"mistakes\.py:(\d+): error: .*\[([\w-]+)\]")


def done(*command: str | Path, folder: Path) -> str:
    """What a command prints; it must succeed."""
    result = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stdout + result.stderr
    return result.stdout


@pytest.fixture(scope="module")
def wheels(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """Both distributions, built from a copy, so that building leaves nothing behind."""
    folder = tmp_path_factory.mktemp("wheels")
    source = folder / "source"
    leave_out = shutil.ignore_patterns("__pycache__", "*.egg-info", "build")
    shutil.copytree(REPOSITORY / "core", source / "core", ignore=leave_out)
    shutil.copytree(REPOSITORY / "erqiwang_grpc", source / "erqiwang_grpc", ignore=leave_out)
    shutil.copytree(REPOSITORY / "proto", source / "proto", ignore=leave_out)
    (source / "docs").mkdir()
    for file in ("CHANGELOG.md", "LICENSE", "MANIFEST.in", "README.md", "docs/cards.json", "pyproject.toml"):
        shutil.copy(REPOSITORY / file, source / file)
    pip = (sys.executable, "-m", "pip", "--disable-pip-version-check")
    done(*pip, "wheel", "-q", "--no-deps", "--no-build-isolation", "-w", folder, "./core", ".", folder=source)
    return sorted(folder.glob("*.whl"))


@pytest.fixture(scope="module")
def python(wheels: list[Path], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The interpreter of an environment with the wheels in it; their dependencies are those of this environment."""
    folder = tmp_path_factory.mktemp("environment")
    done(sys.executable, "-m", "venv", "--without-pip", folder, folder=folder)
    made = folder / "bin" / "python"
    pip = (sys.executable, "-m", "pip", "--disable-pip-version-check", "--python", made)
    done(*pip, "install", "-q", "--no-deps", "--no-index", *wheels, folder=folder)
    packages = Path(done(made, "-c", "import sysconfig; print(sysconfig.get_path('purelib'))", folder=folder).strip())
    (packages / "dependencies.pth").write_text(sysconfig.get_path("purelib"))
    return made


def mypy(python: Path, program: Path) -> subprocess.CompletedProcess[str]:
    command = (sys.executable, "-m", "mypy", "--strict", "--config-file=", "--no-incremental", "--python-executable")
    return subprocess.run([*command, python, program], cwd=program.parent, capture_output=True, text=True, check=False)


def test_the_wheels_hold_a_marker_and_a_stub_for_every_generated_module(wheels: list[Path]) -> None:
    core, service = (set(ZipFile(wheel).namelist()) for wheel in wheels)
    assert "erqiwang_core/py.typed" in core
    assert "erqiwang_grpc/py.typed" in service
    generated = {name for name in service if re.search(r"_pb2(_grpc)?\.py$", name)}
    assert "erqiwang_grpc/v1/seat_service_pb2_grpc.py" in generated
    assert {f"{name}i" for name in generated} <= service


def test_the_service_brings_every_file_of_the_table_page(wheels: list[Path]) -> None:
    with ZipFile(wheels[1]) as held:
        assert {f"erqiwang_grpc/edge/page/files/{name}" for name in pages()} <= set(held.namelist())


def test_each_wheel_holds_the_licence_and_names_it(wheels: list[Path]) -> None:
    text = (REPOSITORY / "LICENSE").read_bytes()
    for wheel in wheels:
        with ZipFile(wheel) as held:
            (licence,) = (name for name in held.namelist() if name.endswith("/licenses/LICENSE"))
            (metadata,) = (name for name in held.namelist() if name.endswith("/METADATA"))
            assert held.read(licence) == text
            assert b"\nLicense-Expression: Apache-2.0\n" in held.read(metadata)


def test_a_server_installs_without_the_libraries_of_the_tools(wheels: list[Path]) -> None:
    with ZipFile(wheels[1]) as held:
        (metadata,) = (name for name in held.namelist() if name.endswith("/METADATA"))
        required = re.findall(r"^Requires-Dist: ([\w-]+)(.*)$", held.read(metadata).decode(), re.MULTILINE)
    assert {name for name, rest in required if rest.endswith('extra == "tools"')} == {"psutil", "rich"}
    assert not {name for name, rest in required if "extra" not in rest} & {"psutil", "rich"}


def test_a_program_outside_the_tree_is_well_typed(python: Path, tmp_path: Path) -> None:
    program = Path(shutil.copy(HERE / "program.py", tmp_path))
    checked = mypy(python, program)
    assert checked.returncode == 0, checked.stdout


async def test_the_program_runs(python: Path, tmp_path: Path) -> None:
    program = Path(shutil.copy(HERE / "program.py", tmp_path))
    async with serving(tmp_path, "--in-memory") as server:
        printed = done(python, program, server.address, server.key, folder=tmp_path)
    assert printed.splitlines() == ["120", "snapshot", "FAILED_PRECONDITION ROOM_FULL"]


def test_every_mistake_is_found(python: Path, tmp_path: Path) -> None:
    lines = (HERE / "mistakes.txt").read_text().splitlines()
    program = tmp_path / "mistakes.py"
    program.write_text("\n".join(lines) + "\n")
    expected = {(str(number), line.split("# ")[1]) for number, line in enumerate(lines, 1) if "# " in line}
    assert set(ERROR.findall(mypy(python, program).stdout)) == expected
