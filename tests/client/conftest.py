"""A server for the tests that need nothing special of one."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.service.tables import Service, served


@pytest.fixture
async def service(tmp_path: Path) -> AsyncIterator[Service]:
    async with served(tmp_path) as running:
        yield running
