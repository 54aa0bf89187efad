"""The build backend of the core: setuptools, and mypyc where a compiled wheel is asked for.

`pip wheel ./core` builds a pure wheel, `pip wheel -C compiled=true ./core` a compiled one of the same sources. A compiled
wheel is built in a folder of its own, so that no binary is left beside a source and shadows it.
"""

import os
import tempfile
from collections.abc import Mapping
from pathlib import Path
from shutil import copytree, ignore_patterns
from typing import Final, TypeAlias

from setuptools import build_meta

from backend.expanding import expand

ConfigSettings: TypeAlias = Mapping[str, str | list[str] | None] | None

# What is not changed here. An editable install is always pure.
build_sdist = build_meta.build_sdist
build_editable = build_meta.build_editable
get_requires_for_build_sdist = build_meta.get_requires_for_build_sdist
get_requires_for_build_editable = build_meta.get_requires_for_build_editable
prepare_metadata_for_build_wheel = build_meta.prepare_metadata_for_build_wheel
prepare_metadata_for_build_editable = build_meta.prepare_metadata_for_build_editable

_COMPILER: Final = "mypy>=2.4"
"""mypyc comes with mypy."""

_PROJECT: Final = Path(__file__).parent.parent

_SETUP: Final = """\
from pathlib import Path

from mypyc.build import mypycify
from setuptools import setup

# The face of a package is left as it is: it only hands names on, and mypyc would drop what it says of itself.
sources = sorted(str(path) for path in Path("erqiwang_core").rglob("*.py") if path.name != "__init__.py")
setup(ext_modules=mypycify(["--config-file=", "--strict", *sources], opt_level="{level}", debug_level="0"))
"""


def get_requires_for_build_wheel(config_settings: ConfigSettings = None) -> list[str]:
    """What building the wheel needs beside setuptools."""
    needed = build_meta.get_requires_for_build_wheel(config_settings)
    return [*needed, _COMPILER] if _compiled(config_settings) else needed


def build_wheel(
    wheel_directory: str, config_settings: ConfigSettings = None, metadata_directory: str | None = None
) -> str:
    """Build the wheel, pure or compiled; gives its name."""
    if not _compiled(config_settings):
        return build_meta.build_wheel(wheel_directory, config_settings, metadata_directory)
    target, here = str(Path(wheel_directory).absolute()), Path.cwd()
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(_prepared(Path(folder) / "core", _setting(config_settings, "level", "2")))
        try:
            return build_meta.build_wheel(target)
        finally:
            os.chdir(here)


def _compiled(config_settings: ConfigSettings) -> bool:
    return _setting(config_settings, "compiled", "false").lower() in ("true", "1", "yes")


def _setting(config_settings: ConfigSettings, name: str, default: str) -> str:
    value = (config_settings or {}).get(name)
    return value if isinstance(value, str) else default


def _prepared(project: Path, level: str) -> Path:
    """A copy of the project whose sources are ready for mypyc, to be optimised at that level of the C compiler."""
    copytree(_PROJECT, project, ignore=ignore_patterns("build", "*.egg-info", "__pycache__"))
    for source in (project / "erqiwang_core").rglob("*.py"):
        expand(source)
    (project / "setup.py").write_text(_SETUP.format(level=level), encoding="utf-8")
    return project
