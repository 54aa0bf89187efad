"""The image of `deploy/image/Dockerfile`, made once for the tests of a process."""

import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.deploy.arguments import DEPLOY
from tests.deploy.image import dockerfile


@pytest.fixture(scope="session")
def image() -> Iterator[dockerfile.Stage]:
    """The image, as a folder that can be entered."""
    dockerfile.needed()
    ours = DEPLOY / "image/Dockerfile"
    with tempfile.TemporaryDirectory(prefix="erqiwang-image-") as name:
        folder = Path(name)
        folder.chmod(0o755)
        ignoring = ours.with_name("Dockerfile.dockerignore").read_text()
        files = dockerfile.context(DEPLOY.parent, ignoring, folder / "context")
        yield dockerfile.built(ours, files, folder, {})
