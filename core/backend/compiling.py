"""A build backend: setuptools, and mypyc where a compiled wheel is asked for.

`pip wheel FOLDER` builds a pure wheel, `pip wheel -C compiled=true FOLDER` a compiled one of the same sources. All is built
in a copy of the project: no binary is left beside a source and shadows it, and nothing that an earlier build left behind gets into a package.
With `SOURCE_DATE_EPOCH` set, building the same sources again gives the same bytes.
"""

import os
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from shutil import copyfile, copytree, ignore_patterns
from typing import Final, TypeAlias, final

from setuptools import build_meta

from backend.expanding import expand
from backend.repeating import repack

ConfigSettings: TypeAlias = Mapping[str, str | list[str] | None] | None

_COMPILER: Final = "mypy>=2.4"
"""mypyc comes with mypy."""

_SETUP: Final = """\
from mypyc.build import mypycify
from setuptools import setup

setup(ext_modules=mypycify({arguments!r}, opt_level={level!r}, debug_level="0"))
"""


@final
@dataclass(frozen=True, slots=True)
class Backend:
    """The hooks that a frontend such as pip calls, for one project."""

    folder: Path
    """Where its `pyproject.toml` lies."""
    files: tuple[str, ...]
    """Files and folders that a package needs beside the Python package, relative to the folder."""
    package: str
    """The folder of the package, relative to the folder."""
    compiled: tuple[str, ...]
    """What is compiled: files of the package, and folders with all files below them."""
    interpreted: tuple[str, ...]
    """Files and folders below those that are not compiled."""
    checked: tuple[str, ...]
    """Arguments of the type check that mypyc begins with."""
    compiling_needs: tuple[str, ...] = ()
    """The libraries, beside mypyc, whose types the type check reads."""
    carried: tuple[tuple[str, str], ...] = ()
    """What a wheel carries in its Python package too: a file or folder of the project, and its place below the Python package."""

    # What is the same for a pure and for a compiled wheel. An editable install is always pure.
    build_editable = staticmethod(build_meta.build_editable)
    get_requires_for_build_sdist = staticmethod(build_meta.get_requires_for_build_sdist)
    get_requires_for_build_editable = staticmethod(build_meta.get_requires_for_build_editable)
    prepare_metadata_for_build_wheel = staticmethod(build_meta.prepare_metadata_for_build_wheel)
    prepare_metadata_for_build_editable = staticmethod(build_meta.prepare_metadata_for_build_editable)

    def get_requires_for_build_wheel(self, config_settings: ConfigSettings = None) -> list[str]:
        """What building the wheel needs beside setuptools."""
        needed = build_meta.get_requires_for_build_wheel(config_settings)
        return [*needed, _COMPILER, *self.compiling_needs] if _is_compiled(config_settings) else needed

    def build_wheel(
        self, wheel_directory: str, config_settings: ConfigSettings = None, metadata_directory: str | None = None
    ) -> str:
        """Build the wheel, pure or compiled; gives its name."""
        target = str(Path(wheel_directory).absolute())
        metadata = None if metadata_directory is None else str(Path(metadata_directory).absolute())
        with self._copied() as project:
            for source, place in self.carried:
                _copy(project / source, project / self.package / place)
            if not _is_compiled(config_settings):
                return build_meta.build_wheel(target, config_settings, metadata)
            self._prepare(project, _setting(config_settings, "level", "2"))
            return build_meta.build_wheel(target)

    def build_sdist(self, sdist_directory: str, config_settings: ConfigSettings = None) -> str:
        """Build the source distribution; gives its name."""
        target = Path(sdist_directory).absolute()
        with self._copied():
            name = build_meta.build_sdist(str(target), config_settings)
        repack(target / name)
        return name

    @contextmanager
    def _copied(self) -> Iterator[Path]:
        """A copy of the project, in which the block runs."""
        here = Path.cwd()
        with tempfile.TemporaryDirectory() as folder:
            project = Path(folder) / "project"
            for name in (self.package, *self.files):
                _copy(self.folder / name, project / name)
            os.chdir(project)
            try:
                yield project
            finally:
                os.chdir(here)

    def _prepare(self, project: Path, level: str) -> None:
        """Make the sources of a copy ready for mypyc, to be optimised at that level of the C compiler."""
        sources = self._sources(project / self.package)
        for source in sources:
            expand(source)
        arguments = [*self.checked, *(str(source.relative_to(project)) for source in sources)]
        (project / "setup.py").write_text(_SETUP.format(arguments=arguments, level=level), encoding="utf-8")

    def _sources(self, package: Path) -> list[Path]:
        # The face of a package is left as it is: it only hands names on, and mypyc would drop what it says of itself.
        found = _below(package, self.compiled) - _below(package, self.interpreted)
        return sorted(source for source in found if source.name != "__init__.py")


def _copy(source: Path, target: Path) -> None:
    """Copy a file or folder with the plainest permissions: those of a checkout depend on the umask."""
    target.parent.mkdir(parents=True, exist_ok=True)
    if source.is_dir():
        leave_out = ignore_patterns("__pycache__", "*.so", "*.egg-info", "*.py[cod]")
        copytree(source, target, ignore=leave_out, copy_function=copyfile)
    else:
        copyfile(source, target)
    for file in (target, *target.rglob("*")):
        file.chmod(0o755 if file.is_dir() else 0o644)


def _below(package: Path, names: tuple[str, ...]) -> set[Path]:
    """The named files, and all files below the named folders."""
    named = [package / name for name in names]
    gone = [str(each) for each in named if not each.exists()]
    assert not gone, f"moved or deleted, but named by the project still: {', '.join(gone)}"
    return {source for each in named for source in (each.rglob("*.py") if each.is_dir() else (each,))}


def _is_compiled(config_settings: ConfigSettings) -> bool:
    return _setting(config_settings, "compiled", "false").lower() in ("true", "1", "yes")


def _setting(config_settings: ConfigSettings, name: str, default: str) -> str:
    value = (config_settings or {}).get(name)
    return value if isinstance(value, str) else default
