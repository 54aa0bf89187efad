"""The built packages where nothing else is: they serve, let browsers in, play, generate stubs and are well typed."""

import os
import re
import shutil
import signal
import subprocess
import sys
import sysconfig
import tarfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final
from urllib.request import urlopen
from zipfile import ZipFile

import pytest

pytestmark = pytest.mark.packages

REPOSITORY: Final = Path(__file__).parents[2]
SCRIPTS: Final = Path(sysconfig.get_path("scripts"))
PROGRAM: Final = REPOSITORY / "tests" / "typing" / "program.py"
RULES: Final = Path(__file__).parent / "consumer_of_rules.py"
EPOCH: Final = "1767225600"


def done(*command: str | Path, folder: Path, path: Path | None = None) -> str:
    """What a command prints; it must succeed. It sees no source of this repository."""
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    environment |= {"SOURCE_DATE_EPOCH": EPOCH, "PATH": f"{path}:{os.environ['PATH']}" if path else os.environ["PATH"]}
    result = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stdout + result.stderr
    return result.stdout


def build(target: Path) -> Path:
    """Sources of both packages, and wheels that are built from those sources."""
    for project in ("core", "."):
        command = (sys.executable, "-m", "build", "--no-isolation", "--outdir", target, project)
        done(*command, folder=REPOSITORY)
    return target


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build(tmp_path_factory.mktemp("dist"))


def file_of(built: Path, pattern: str) -> Path:
    (found,) = built.glob(pattern)
    return found


def environment(folder: Path) -> Path:
    """The programs of an empty environment."""
    done(SCRIPTS / "uv", "venv", "-q", "--python", sys.executable, folder / "env", folder=folder)
    return folder / "env" / "bin"


@pytest.fixture(scope="module")
def core_alone(built: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The programs of an environment with the core and, since nothing else is to be found, nothing else."""
    folder = tmp_path_factory.mktemp("core")
    programs = environment(folder)
    wheel = file_of(built, "erqiwang_core*.whl")
    done(SCRIPTS / "uv", "pip", "install", "-q", "--python", programs / "python", "--no-index", wheel, folder=folder)
    return programs


@pytest.fixture(scope="module")
def studying(built: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The programs of an environment with the core, its extra for studying the game, and their pinned libraries."""
    folder = tmp_path_factory.mktemp("studying")
    programs = environment(folder)
    install = (SCRIPTS / "uv", "pip", "install", "-q", "--python", programs / "python")
    done(*install, "--require-hashes", "-r", REPOSITORY / "requirements" / "environment.txt", folder=folder)
    wheel = file_of(built, "erqiwang_core*.whl")
    done(*install, "--no-index", f"erqiwang-core[environment] @ {wheel.as_uri()}", folder=folder)
    return programs


@pytest.fixture(scope="module")
def service(built: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The programs of an environment with the service, its extras for the edge and the tools, and their pinned libraries."""
    folder = tmp_path_factory.mktemp("service")
    programs = environment(folder)
    install = (SCRIPTS / "uv", "pip", "install", "-q", "--python", programs / "python")
    pinned = [f"-r{REPOSITORY / 'requirements' / name}.txt" for name in ("run", "edge", "tools")]
    done(*install, "--require-hashes", *pinned, folder=folder)
    wheel = file_of(built, "erqiwang_grpc*.whl")
    offer = f"erqiwang-grpc[edge,tools] @ {wheel.as_uri()}"
    # Without an index: what the packages say they need is what was installed.
    done(*install, "--no-index", "--find-links", built, offer, folder=folder)
    return programs


@contextmanager
def running(*command: str | Path, folder: Path) -> Iterator[str]:
    """The address that a program tells when it is ready; it must end well when it is told to."""
    process = subprocess.Popen(command, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    try:
        assert process.stdout is not None
        line = process.stdout.readline()
        assert line, process.communicate()[1]
        yield f"127.0.0.1:{line.strip().rpartition(':')[2]}"
        process.send_signal(signal.SIGTERM)
        process.communicate(timeout=60)
        assert process.returncode == 0
    finally:
        process.kill()
        process.communicate()


def test_building_again_gives_the_same_bytes(built: Path, tmp_path: Path) -> None:
    again = build(tmp_path / "again")
    names = {file.name for file in built.iterdir()}
    assert len(names) == 4
    assert names == {file.name for file in again.iterdir()}
    assert [name for name in names if (built / name).read_bytes() != (again / name).read_bytes()] == []


def test_what_the_packages_say_of_themselves_is_in_order(built: Path) -> None:
    done(SCRIPTS / "twine", "check", "--strict", *sorted(built.iterdir()), folder=built)


def test_the_schemas_and_the_cards_are_in_the_wheel_and_in_the_sources(built: Path) -> None:
    schemas = {path.relative_to(REPOSITORY).as_posix() for path in (REPOSITORY / "proto").rglob("*.proto")}
    with ZipFile(file_of(built, "erqiwang_grpc*.whl")) as wheel:
        assert {f"erqiwang_grpc/schemas/{name}" for name in schemas} <= set(wheel.namelist())
        assert wheel.read("erqiwang_grpc/schemas/cards.json") == (REPOSITORY / "docs" / "cards.json").read_bytes()
    with tarfile.open(file_of(built, "erqiwang_grpc*.tar.gz")) as sources:
        held = {name.partition("/")[2] for name in sources.getnames()}
    assert schemas | {"docs/cards.json", "README.md", "LICENSE", "CHANGELOG.md", "core/backend/compiling.py"} <= held


@pytest.mark.parametrize("package", ["core", "grpc"])
def test_no_link_of_a_readme_leads_nowhere_on_a_package_index(built: Path, package: str) -> None:
    with ZipFile(file_of(built, f"erqiwang_{package}*.whl")) as wheel:
        metadata = next(name for name in wheel.namelist() if name.endswith("METADATA"))
        text = wheel.read(metadata).decode()
    assert text.count("\n# erqiwang") == 1
    assert [link for link in re.findall(r"\]\(([^)]*)\)", text) if not link.startswith("https://")] == []


@pytest.mark.parametrize(
    ("wheel", "folder"),
    [("core", "core/erqiwang_core"), ("core", "core/erqiwang_environment"), ("grpc", "erqiwang_grpc")],
)
def test_every_module_is_in_its_wheel(built: Path, wheel: str, folder: str) -> None:
    root = REPOSITORY / folder
    modules = {f"{root.name}/{path.relative_to(root).as_posix()}" for path in root.rglob("*.py")}
    with ZipFile(file_of(built, f"erqiwang_{wheel}*.whl")) as held:
        assert modules <= set(held.namelist())


def test_every_package_has_a_readme_a_licence_and_classifiers(built: Path) -> None:
    for wheel in built.glob("*.whl"):
        with ZipFile(wheel) as held:
            (metadata,) = (name for name in held.namelist() if name.endswith("/METADATA"))
            text = held.read(metadata).decode()
        assert "\nDescription-Content-Type: text/markdown\n" in text
        assert "\nLicense-Expression: Apache-2.0\n" in text
        assert "\nClassifier: Typing :: Typed\n" in text


def test_the_service_needs_its_own_core_and_no_next_protobuf(built: Path) -> None:
    with ZipFile(file_of(built, "erqiwang_grpc*.whl")) as held:
        (metadata,) = (name for name in held.namelist() if name.endswith("/METADATA"))
        needed = re.findall(r"^Requires-Dist: (.*)$", held.read(metadata).decode(), re.MULTILINE)
    assert "erqiwang-core==0.1.0" in needed
    assert any(re.fullmatch(r"protobuf[^;]*<8.*", each) for each in needed)


def test_the_version_is_that_of_the_package(service: Path, tmp_path: Path) -> None:
    assert done(service / "erqiwang", "--version", folder=tmp_path).startswith("erqiwang 0.1.0, core interpreted")


def test_serve_edge_and_a_program_run(service: Path, tmp_path: Path) -> None:
    data, erqiwang = tmp_path / "data", service / "erqiwang"
    serve = (erqiwang, "serve", "--data", data, "--port", "0")
    with running(*serve, folder=tmp_path) as address:
        key = (data / "platform-key.txt").read_text().strip()
        printed = done(service / "python", shutil.copy(PROGRAM, tmp_path), address, key, folder=tmp_path)
        assert printed.splitlines() == ["120", "snapshot", "FAILED_PRECONDITION ROOM_FULL"]
        gateway = done(erqiwang, "keys", "add", "local", "--scope", "gateway", "--data", data, folder=tmp_path)
        (tmp_path / "gateway-key.txt").write_text(gateway)
        edge = (erqiwang, "edge", "--server", address, "--key-file", "gateway-key.txt", "--port", "0")
        with running(*edge, folder=tmp_path) as page, urlopen(f"http://{page}/", timeout=10) as answer:
            assert b"<html" in answer.read()


def test_demo_runs(service: Path, tmp_path: Path) -> None:
    assert done(service / "erqiwang", "demo", "--fast", "--deals", "1", "--seed", "13", folder=tmp_path)


def test_the_core_alone_brings_nothing_and_runs(core_alone: Path, tmp_path: Path) -> None:
    assert done(core_alone / "python", shutil.copy(RULES, tmp_path), folder=tmp_path)


def test_the_environment_plays_with_nothing_but_its_extra(studying: Path, tmp_path: Path) -> None:
    page = (REPOSITORY / "docs" / "study.md").read_text("utf-8")
    first, *_ = re.findall(r"^```python\n(.*?)^```$", page, re.DOTALL | re.MULTILINE)
    printed = done(studying / "python", "-W", "error", "-c", first, folder=tmp_path)
    assert printed == "['player_0', 'player_1', 'player_2'] in all 0.0\n"


@pytest.mark.parametrize("package", ["core_alone", "service"])
def test_programs_are_well_typed_for_mypy_and_pyright(
    package: str, request: pytest.FixtureRequest, tmp_path: Path
) -> None:
    programs: Path = request.getfixturevalue(package)
    program = shutil.copy(RULES if package == "core_alone" else PROGRAM, tmp_path)
    if package == "service":  # the extra `types`
        pinned = (REPOSITORY / "requirements" / "dev.txt").read_text()
        types = re.findall(r"^types-(?:grpcio|protobuf)==\S+", pinned, re.MULTILINE)
        install = (SCRIPTS / "uv", "pip", "install", "-q", "--python", programs / "python")
        done(*install, *types, folder=tmp_path)
    mypy = (sys.executable, "-m", "mypy", "--strict", "--config-file=", "--no-incremental")
    done(*mypy, "--python-executable", programs / "python", program, folder=tmp_path)
    (tmp_path / "pyrightconfig.json").write_text('{"typeCheckingMode": "strict"}')
    done(SCRIPTS / "basedpyright", "--pythonpath", programs / "python", program, folder=tmp_path)


def test_stubs_are_generated_from_the_installed_schemas(service: Path, tmp_path: Path) -> None:
    """By the template for Python; the tools are those of this environment."""
    schemas = Path(done(service / "python", "-m", "erqiwang_grpc.schemas", folder=tmp_path).strip())
    generate(schemas, "python", tmp_path, SCRIPTS)
    done(sys.executable, "-c", "import erqiwang.v1.seat_service_pb2_grpc", folder=tmp_path)
    assert not (tmp_path / "erqiwang" / "stored").exists()


def generate(schemas: Path, language: str, folder: Path, path: Path) -> None:
    """What the README says to do."""
    only = ("--path", schemas / "proto" / "erqiwang" / "v1")
    template = ("--template", schemas / f"buf.gen.{language}.yaml")
    done(SCRIPTS / "buf", "generate", schemas / "proto", *only, *template, folder=folder, path=path)


@pytest.mark.skipif(shutil.which("go") is None, reason="needs Go")
def test_go_is_generated_from_the_installed_schemas(service: Path, tmp_path: Path) -> None:
    schemas = Path(done(service / "python", "-m", "erqiwang_grpc.schemas", folder=tmp_path).strip())
    shutil.copy(REPOSITORY / "tests" / "languages" / "go" / "go.mod", tmp_path)
    shutil.copy(REPOSITORY / "tests" / "languages" / "go" / "go.sum", tmp_path)
    programs = tmp_path / "bin"
    for plugin in ("google.golang.org/protobuf/cmd/protoc-gen-go", "google.golang.org/grpc/cmd/protoc-gen-go-grpc"):
        done("go", "build", "-o", f"{programs}/", plugin, folder=tmp_path)
    generate(schemas, "go", tmp_path, programs)
    assert "package erqiwangv1" in (tmp_path / "gen/erqiwang/v1/seat_service_grpc.pb.go").read_text()
    done("go", "build", "./gen/...", folder=tmp_path)


def test_buf_generate_works_in_the_repository(tmp_path: Path) -> None:
    """In a copy of what it reads, so that nothing is written here."""
    shutil.copytree(REPOSITORY / "proto", tmp_path / "proto")
    for name in ("buf.yaml", "buf.gen.yaml"):
        shutil.copy(REPOSITORY / name, tmp_path)
    (tmp_path / ".venv").symlink_to(SCRIPTS.parent)
    done(SCRIPTS / "buf", "generate", folder=tmp_path)
    assert (tmp_path / "build/gen/erqiwang/v1/seat_service_pb2_grpc.pyi").exists()
