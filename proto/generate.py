"""Generate the Python of the wire and of the log from the schemas beside this file; `--check` only compares.

protoc names imports after the proto package (`erqiwang.v1`), but the generated code lives inside `erqiwang_grpc`, so
that the service is one importable package and owns no second top-level name: that one prefix is rewritten afterwards.
The stubs come from mypy-protobuf: it types `WhichOneof` as a union of literals (a new member of a oneof then fails
type checking wherever it is not handled) and services as `grpc.aio` only, as they are used here.
"""

import argparse
import os
import re
import sys
import sysconfig
import tempfile
from importlib import import_module
from importlib.resources import files
from pathlib import Path

from grpc_tools import protoc  # type: ignore[import-untyped]  # it ships no types

PROTO = Path(__file__).resolve().parent
ROOT = PROTO.parent
PACKAGES = ("v1", "stored/v1")
GENERATED = re.compile(r"_pb2(_grpc)?\.pyi?$")
# What protoc and its plugins get wrong for us, as (pattern, replacement) on whole files.
REWRITES = (
    # The generated code lives inside the package.
    (re.compile(r"^(from|import) erqiwang\.", re.MULTILINE), r"\1 erqiwang_grpc."),
    # `ServicerContext.read` gives and `write` takes one message, whether or not the method streams.
    (
        re.compile(r"_aio\.ServicerContext\[(?:_abc\.\w+\[)?([\w.]+)\]?, _abc\.\w+\[([\w.]+)\]\]"),
        r"_aio.ServicerContext[\1, \2]",
    ),
    # A streaming answer may also be written to the context by a coroutine, as our one writer a stream does.
    (re.compile(r"\) -> (_abc\.AsyncIterator\[[\w.]+\]):"), r") -> \1 | _abc.Awaitable[None]:"),
)
PACKAGE_DOC = {
    "v1": '"""The wire: generated from proto/erqiwang/v1 by proto/generate.py."""\n',
    "stored/v1": '"""What is on disk: generated from proto/erqiwang/stored/v1 by proto/generate.py."""\n',
}


def sources() -> list[str]:
    """Every schema, by its import name; sorted, so that protoc sees the same order everywhere."""
    found = (path for package in PACKAGES for path in (PROTO / "erqiwang" / package).glob("*.proto"))
    return sorted(path.relative_to(PROTO).as_posix() for path in found)


def generated() -> dict[str, str]:
    """All generated files: path below `erqiwang_grpc` -> text."""
    # The plugins are scripts of this environment, which need not be the activated one.
    os.environ["PATH"] = os.pathsep.join([sysconfig.get_path("scripts"), os.environ.get("PATH", "")])
    well_known = files("grpc_tools") / "_proto"
    common = Path(str(import_module("google.rpc.status_pb2").__file__)).parents[2]
    with tempfile.TemporaryDirectory() as folder:
        status = protoc.main(
            [
                "protoc",
                f"--proto_path={PROTO}",
                f"--proto_path={well_known}",
                f"--proto_path={common}",
                f"--python_out={folder}",
                f"--grpc_python_out={folder}",
                f"--mypy_out=quiet:{folder}",
                f"--mypy_grpc_out=quiet,only_async:{folder}",
                *sources(),
            ]
        )
        if status != 0:
            sys.exit(f"protoc failed with status {status}")
        made = Path(folder, "erqiwang")
        out = {
            path.relative_to(made).as_posix(): rewritten(path.read_text(encoding="utf-8"))
            for path in sorted(made.rglob("*.py*"))
        }
    # protoc also writes a service module for files without a service; such a module says nothing.
    services = {source.removeprefix("erqiwang/").removesuffix(".proto") for source in sources() if has_service(source)}
    kept = {
        name: text for name, text in out.items() if "_pb2_grpc" not in name or name.split("_pb2_grpc")[0] in services
    }
    return kept | {f"{package}/__init__.py": text for package, text in PACKAGE_DOC.items()}


def rewritten(text: str) -> str:
    """`text` as we need it: see REWRITES."""
    for pattern, replacement in REWRITES:
        text = pattern.sub(replacement, text)
    return text


def has_service(source: str) -> bool:
    """Whether the schema `source` declares a service."""
    return re.search(r"^service ", (PROTO / source).read_text(encoding="utf-8"), re.MULTILINE) is not None


def committed(package: Path) -> dict[str, str]:
    """The generated files as they lie in `package`, stale ones included."""
    found = (path for part in PACKAGES for path in (package / part).glob("*") if GENERATED.search(path.name))
    inits = (package / part / "__init__.py" for part in PACKAGE_DOC)
    paths = [*found, *filter(Path.exists, inits)]
    return {path.relative_to(package).as_posix(): path.read_text(encoding="utf-8") for path in paths}


def main() -> None:
    """Write the generated files, or with `--check` say which differ from what is committed."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true", help="write nothing, fail when a committed file is out of date")
    check: bool = parser.parse_args().check
    package = ROOT / "erqiwang_grpc"
    want, have = generated(), committed(package)
    differing = sorted(name for name in want.keys() | have.keys() if want.get(name) != have.get(name))
    if check:
        if differing:
            sys.exit("generated code is out of date (make generate):\n  " + "\n  ".join(differing))
        return
    for name in differing:
        path = package / name
        if name in want:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(want[name], encoding="utf-8")
        else:
            path.unlink()
    # Free to hold more, but without it the folder below would not be installed.
    stored = package / "stored" / "__init__.py"
    if not stored.exists():
        stored.write_text('"""What is on disk."""\n', encoding="utf-8")
    print(f"{len(want)} generated files, {len(differing)} changed")


if __name__ == "__main__":
    main()
