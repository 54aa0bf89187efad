"""Who may read the files that hold secrets."""

import logging
from collections.abc import Iterable, Iterator
from pathlib import Path

log = logging.getLogger(__name__)


def open_to_others(paths: Iterable[Path | None]) -> Iterator[Path]:
    """Those of the paths that are there and that other users may read or write, each once."""
    for path in dict.fromkeys(paths):
        if path is not None and path.exists() and path.stat().st_mode & 0o077:
            yield path


def warn(paths: Iterable[Path | None]) -> None:
    """Log each of the paths that other users may read or write, and what to do."""
    for path in open_to_others(paths):
        mode = path.stat().st_mode & 0o777
        log.warning("open to others", extra={"path": str(path), "why": f"its mode is {mode:04o}: chmod go= {path}"})
