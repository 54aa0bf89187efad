"""Say what a release still lacks: one version for both packages, its section of the changelog, and schemas that break nothing."""

import re
import subprocess
import sys
import sysconfig
import tempfile
import tomllib
from pathlib import Path
from typing import Final

REPOSITORY: Final = Path(__file__).resolve().parent.parent
IMAGE: Final = Path("proto", "released.binpb")
_SECTION: Final = re.compile(r"^## \[(\d[^\]]*)\] - (?:unreleased|(\d{4}-\d{2}-\d{2}))$", re.MULTILINE)


def faults(root: Path) -> list[str]:
    """What is wrong with the tree at `root`, a sentence each."""
    dates: dict[str, str] = dict(_SECTION.findall((root / "CHANGELOG.md").read_text(encoding="utf-8")))
    service, core = (_project(root / name) for name in ("pyproject.toml", "core/pyproject.toml"))
    version = str(core["version"])
    dated = bool(dates.get(version))
    return [
        *_versions(service, version),
        *([] if version in dates else [f"CHANGELOG.md has no section `## [{version}] - DATE`"]),
        *(
            []
            if not dated or "urls" in service
            else ["the version is dated, but no package names an address: add [project.urls]"]
        ),
        *_schemas(root, dated=dated, released=any(dates.values())),
    ]


def _project(file: Path) -> dict[str, object]:
    project: dict[str, object] = tomllib.loads(file.read_text(encoding="utf-8"))["project"]
    return project


def _versions(service: dict[str, object], version: str) -> list[str]:
    found = [] if service["version"] == version else [f"the core is {version}, the service {service['version']}"]
    needed = service["dependencies"]
    assert isinstance(needed, list)
    pinned = f"erqiwang-core=={version}"
    return found if pinned in needed else [*found, f"the service must depend on {pinned}"]


def _schemas(root: Path, *, dated: bool, released: bool) -> list[str]:
    """Before a release the image is that of the last one; the first release, and each once it is dated, makes its own."""
    if not (root / IMAGE).exists():
        return [f"{IMAGE} is missing: make image"]
    if released:
        compared = _buf(root, "breaking", "--against", str(IMAGE))
        if compared.returncode != 0:
            return [f"the schemas break the last release:\n{compared.stdout}"]
    if released and not dated:
        return []
    with tempfile.TemporaryDirectory() as folder:
        made = Path(folder, "image.binpb")
        built = _buf(root, "build", "--exclude-source-info", "-o", str(made))
        assert built.returncode == 0, built.stderr
        same = made.read_bytes() == (root / IMAGE).read_bytes()
    return [] if same else [f"{IMAGE} is not the image of these schemas: make image"]


def _buf(root: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    buf = Path(sysconfig.get_path("scripts"), "buf")
    return subprocess.run([buf, *arguments], cwd=root, capture_output=True, text=True, check=False)


def main() -> None:
    """Print every fault, and fail if there is one."""
    found = faults(REPOSITORY)
    if found:
        sys.exit("not ready for a release:\n  " + "\n  ".join(found))
    print("versions, changelog and schemas are ready")


if __name__ == "__main__":
    main()
