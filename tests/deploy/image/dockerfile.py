"""Carries a Dockerfile out without a container engine: each stage is a folder, in which root runs its steps by chroot.

The base image is this machine: its `/usr` and its Python, mounted read-only. All else is the Dockerfile's. It knows the
instructions that ours uses, and fails for any other. It needs root, for the mounts.
"""

from __future__ import annotations

import fnmatch
import json
import os
import shlex
import shutil
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final, final

import pytest

_ETC: Final = (
    "ld.so.cache",
    "ld.so.conf",
    "ld.so.conf.d",
    "login.defs",
    "nsswitch.conf",
    "pam.d",
    "resolv.conf",
    "ssl",
)
_SECONDS: Final = 300.0
_SETS_UP: Final = """
set -e
mount --make-rprivate /
mount --bind "$ROOT" "$ROOT"
mount --bind /usr "$ROOT/usr"
mount -o remount,bind,ro "$ROOT/usr"
if [ -n "$PYTHON" ]; then
    mount --bind "$PYTHON" "$ROOT$PYTHON"
    mount -o remount,bind,ro "$ROOT$PYTHON"
fi
mount --rbind /dev "$ROOT/dev"
mount -t proc proc "$ROOT/proc"
"""
_READ_ONLY: Final = """
mount -o remount,bind,ro "$ROOT"
mount -t tmpfs -o mode=1777 tmpfs "$ROOT/tmp"
"""


def needed() -> None:
    """Skip the test where namespaces cannot be made, which CI may not be allowed to."""
    if os.getuid() != 0 or subprocess.run(["unshare", "--mount", "--pid", "--fork", "true"], check=False).returncode:
        pytest.skip("the steps of an image need root and mounts")


@final
@dataclass(frozen=True, slots=True)
class Instruction:
    """One instruction, without its continuations."""

    word: str
    text: str


def instructions(dockerfile: str) -> list[Instruction]:
    """All instructions, in their order."""
    lines = [line for line in dockerfile.splitlines() if not line.lstrip().startswith("#")]
    whole = "\n".join(lines).replace("\\\n", " ")
    return [Instruction(*line.strip().split(maxsplit=1)) for line in whole.splitlines() if line.strip()]


def context(source: Path, ignoring: str, target: Path) -> Path:
    """What the ignore file lets into the build: only names after `!`, without what `**/` leaves out of them."""
    patterns = [line for line in ignoring.splitlines() if line and not line.startswith("#")]
    assert patterns[0] == "*", "all that is not named is left out"
    left_out = [pattern.removeprefix("**/") for pattern in patterns if pattern.startswith("**/")]
    for name in (pattern[1:] for pattern in patterns if pattern.startswith("!")):
        _copy(source / name, target / name, left_out)
    return target


def _copy(source: Path, target: Path, left_out: Sequence[str] = ()) -> None:
    target.parent.mkdir(parents=True, exist_ok=True)
    if source.is_dir():
        shutil.copytree(source, target, dirs_exist_ok=True, symlinks=True, ignore=shutil.ignore_patterns(*left_out))
    elif not any(fnmatch.fnmatch(source.name, pattern) for pattern in left_out):
        shutil.copy2(source, target)


@final
@dataclass(slots=True)
class Stage:
    """A stage, or the image that the last one makes."""

    root: Path
    python: str
    """Where the Python of the base lies; empty if it is in `/usr`."""
    environment: dict[str, str] = field(default_factory=dict)
    arguments: dict[str, str] = field(default_factory=dict)
    folder: str = "/"
    user: str = "0:0"
    base: str = ""
    entrypoint: list[str] = field(default_factory=list)
    command: list[str] = field(default_factory=list)
    health: list[str] = field(default_factory=list)
    volumes: list[str] = field(default_factory=list)
    ports: list[str] = field(default_factory=list)
    stop_signal: str = ""

    def start(self, command: Sequence[str], *, mounts: Mapping[Path, str] | None = None) -> subprocess.Popen[str]:
        """Start the command as the image's user, as process 1, with a root file system that is read-only.

        Only volumes, `/tmp` and what is mounted at the paths of `mounts` are others. Volumes keep what is written.
        """
        binds = [(self.root / volume[1:], volume, True) for volume in self.volumes]
        binds += [(path, target, path.is_dir()) for path, target in (mounts or {}).items()]
        script = "".join(_bound(source, target) for source, target, _ in binds)
        for _, target, is_folder in binds:
            _made(self.root / target[1:], is_folder)
        return self._inside(script + _READ_ONLY, self.user, command)

    def run(self, command: Sequence[str]) -> subprocess.CompletedProcess[str]:
        """Run a command in a container of its own, to its end."""
        process = self.start(command)
        out, err = process.communicate(timeout=_SECONDS)
        return subprocess.CompletedProcess(command, process.returncode, out, err)

    def step(self, command: str) -> None:
        """Carry out a `RUN`."""
        process = self._inside("", self.user, ["/bin/sh", "-c", command])
        out, err = process.communicate(timeout=_SECONDS)
        assert process.returncode == 0, f"RUN {command}\n{out}\n{err}"

    def _inside(self, mounts: str, user: str, command: Sequence[str]) -> subprocess.Popen[str]:
        environment = [f"{name}={value}" for name, value in {**self.arguments, **self.environment}.items()]
        enter = ["chroot", f"--userspec={user}", "--groups=", str(self.root), "/usr/bin/env", "-i", *environment]
        enter += ["/bin/sh", "-c", 'cd "$0" && exec "$@"', self.folder, *command]
        script = f"{_SETS_UP}{mounts}exec {shlex.join(enter)}"
        return subprocess.Popen(
            ["unshare", "--mount", "--pid", "--fork", "--kill-child", "/bin/sh", "-c", script],
            env={"PATH": os.environ["PATH"], "ROOT": str(self.root), "PYTHON": self.python},
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )


def _bound(source: Path, target: str) -> str:
    return f'mount --bind {shlex.quote(str(source))} "$ROOT"{target}\n'


def _made(path: Path, is_folder: bool) -> None:
    if is_folder:
        path.mkdir(parents=True, exist_ok=True)
    else:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch()


def inner(process: subprocess.Popen[str]) -> int:
    """The id that this machine gives to process 1 of a started container."""
    return int(Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text().split()[0])


def _base(root: Path, image: str) -> Stage:
    """A stage from the base, with a Python of the base's version if this machine has one, else with our own."""
    root.chmod(0o755)
    for link in ("bin", "sbin", "lib", "lib64"):
        (root / link).symlink_to(f"usr/{link}")
    for name in ("usr", "etc", "dev", "proc", "opt", "tmp"):
        (root / name).mkdir()
    (root / "tmp").chmod(0o1777)
    for name in _ETC:
        if (Path("/etc") / name).exists():
            _copy(Path("/etc") / name, root / "etc" / name)
    for name in ("passwd", "group", "shadow", "gshadow"):
        (root / "etc" / name).write_text("root:x:0:0::/root:/bin/sh\n" if name == "passwd" else "")
    (root / "etc/hosts").write_text("127.0.0.1 localhost\n")
    minor = ".".join(image.partition(":")[2].split(".")[:2])
    versions = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv")) / "versions"
    prefix = next(iter(sorted(versions.glob(f"{minor}.*"))), Path(sys.base_prefix))
    python = "" if str(prefix) == "/usr" else str(prefix)
    if python:
        (root / python[1:]).mkdir(parents=True)
    return Stage(root, python, {"PATH": f"{prefix}/bin:/usr/bin:/bin:/usr/sbin:/sbin"}, base=image)


def built(dockerfile: Path, files: Path, folder: Path, arguments: Mapping[str, str]) -> Stage:
    """The image of the Dockerfile, made in the folder from the files of the build context."""
    stages: dict[str, Stage] = {}
    outer: dict[str, str] = {}
    stage: Stage | None = None
    for step in instructions(dockerfile.read_text()):
        if step.word == "FROM":
            image, _, name = _filled(step.text, outer).partition(" AS ")
            root = folder / f"stage{len(stages)}"
            root.mkdir()
            stage = stages[name or "image"] = _base(root, image)
        elif stage is None:
            assert step.word == "ARG", step
            outer |= _argument(step.text, arguments)
        else:
            _carry_out(step, stage, stages, files, arguments)
    assert stage is not None
    return stage


def _argument(text: str, given: Mapping[str, str]) -> dict[str, str]:
    name, _, default = text.partition("=")
    return {name: given.get(name, default.strip('"'))}


def _filled(text: str, values: Mapping[str, str]) -> str:
    for name, value in values.items():
        text = text.replace(f"${{{name}}}", value)
    return text


def _carry_out(
    step: Instruction, stage: Stage, stages: Mapping[str, Stage], files: Path, arguments: Mapping[str, str]
) -> None:
    match step.word:
        case "ARG":
            stage.arguments |= _argument(step.text, arguments)
        case "ENV":
            stage.environment |= dict(pair.split("=", 1) for pair in shlex.split(_filled(step.text, stage.environment)))
        case "WORKDIR":
            stage.folder = step.text
            (stage.root / step.text[1:]).mkdir(parents=True, exist_ok=True)
        case "COPY":
            _carry_out_copy(step.text, stage, stages, files)
        case "RUN":
            stage.step(step.text)
        case "USER":
            stage.user = step.text
        case "VOLUME":
            stage.volumes.append(step.text)
        case "EXPOSE":
            stage.ports += step.text.split()
        case "STOPSIGNAL":
            stage.stop_signal = step.text
        case "HEALTHCHECK":
            stage.health = json.loads(step.text.partition("CMD ")[2])
        case "ENTRYPOINT":
            stage.entrypoint = json.loads(step.text)
        case "CMD":
            stage.command = json.loads(step.text)
        case "LABEL":
            pass
        case _:
            raise AssertionError(f"this test carries out no {step.word}")


def _carry_out_copy(text: str, stage: Stage, stages: Mapping[str, Stage], files: Path) -> None:
    words = text.split()
    source = files
    if words[0].startswith("--from="):
        source = stages[words.pop(0).removeprefix("--from=")].root
    *names, target = words
    to = stage.root / stage.folder[1:] / target if not target.startswith("/") else stage.root / target[1:]
    for name in names:
        found = source / name.lstrip("/")
        assert found.exists(), f"COPY {name}: the build context has no such file"
        _copy(found, to / found.name if not found.is_dir() and (target.endswith("/") or len(names) > 1) else to)
