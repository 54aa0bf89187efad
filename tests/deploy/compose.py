"""The services of `deploy/compose.yaml`."""

from typing import Any, Final

import yaml

from tests.deploy.arguments import DEPLOY

Service = dict[str, Any]  # YAML: anything may stand anywhere
FILE: Final = DEPLOY / "compose.yaml"


def written() -> dict[str, Any]:
    """The whole file, with what `<<` takes over put in."""
    found = yaml.safe_load(FILE.read_text())
    assert isinstance(found, dict)
    return found


def services() -> dict[str, Service]:
    """Each service by its name."""
    found = written()["services"]
    assert isinstance(found, dict)
    return found
