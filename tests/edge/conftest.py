"""A real server, a real edge beside it, and clients of its sockets."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.edge.sockets import ServedEdge, edge_of
from tests.service.tables import Service, served


@pytest.fixture
async def service(tmp_path: Path) -> AsyncIterator[Service]:
    async with served(tmp_path) as running:
        yield running


@pytest.fixture
async def edge(service: Service) -> AsyncIterator[ServedEdge]:
    async with edge_of(service) as running:
        yield running
