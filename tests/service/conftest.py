"""A server for the tests that need nothing special of one, and the ways to its seats."""

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Final

import pytest

from tests.edge.ears import by_socket
from tests.service.gateways import TRANSPORTS, SeatOf
from tests.service.tables import Service, served


@pytest.fixture
async def service(tmp_path: Path) -> AsyncIterator[Service]:
    async with served(tmp_path) as running:
        yield running


WAYS: Final = TRANSPORTS | {"/v1/play": by_socket}


@pytest.fixture(params=WAYS)
async def seat_of(request: pytest.FixtureRequest, service: Service) -> AsyncIterator[SeatOf]:
    """Each test with this fixture runs once for each transport."""
    async with WAYS[request.param](service) as ear:
        yield ear
