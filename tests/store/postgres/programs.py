"""Where PostgreSQL's programs are. A test that needs them asks here."""

import os
from pathlib import Path

import pytest

from erqiwang_grpc.testing.cluster import programs


def needed() -> Path:
    """The folder of PostgreSQL's programs. A test is skipped where none are installed; in CI it fails.

    CI installs them. A run that skipped the test there would look as if it had passed.
    """
    found = programs()
    if found is None:
        (pytest.fail if "CI" in os.environ else pytest.skip)("PostgreSQL is not installed: apt-get install postgresql")
    return found
