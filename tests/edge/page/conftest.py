"""Chromium for these tests."""

from collections.abc import AsyncIterator

import pytest
from playwright.async_api import Browser

from tests.edge.page.browsers import chromium


@pytest.fixture
async def browser() -> AsyncIterator[Browser]:
    async with chromium() as running:
        yield running
