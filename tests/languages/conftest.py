"""The clients are made once for all tests."""

import pytest

from tests.languages.workshop import Workshop
from tests.store.postgres.conftest import cluster, database

__all__ = ["cluster", "database", "workshop"]


@pytest.fixture(scope="session")
def workshop(tmp_path_factory: pytest.TempPathFactory) -> Workshop:
    return Workshop(tmp_path_factory.mktemp("languages"))
