"""One scrape for all tests of a process."""

import asyncio
from pathlib import Path

import pytest

from tests.deploy.scraping import Scrapes, scrape


@pytest.fixture(scope="session")
def scrapes(tmp_path_factory: pytest.TempPathFactory) -> Scrapes:
    folder: Path = tmp_path_factory.mktemp("scraped")
    return asyncio.run(scrape(folder))
