"""A server for the tests that need nothing special of one, and the ways to its seats."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.service.gateways import TRANSPORTS, SeatOf
from tests.service.tables import Service, served


@pytest.fixture
async def service(tmp_path: Path) -> AsyncIterator[Service]:
    async with served(tmp_path) as running:
        yield running


@pytest.fixture(params=TRANSPORTS)
async def seat_of(request: pytest.FixtureRequest, service: Service) -> AsyncIterator[SeatOf]:
    """Each test with this fixture runs once for each transport."""
    async with TRANSPORTS[request.param](service) as ear:
        yield ear
