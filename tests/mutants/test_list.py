"""The list of mistakes is kept true: each text stands in its file exactly once, and each test is there."""

from pathlib import Path

import pytest

from tests.mutants.run import ROOT, Mutant, mutants


@pytest.mark.parametrize("mutant", mutants(), ids=lambda mutant: f"{Path(mutant.path).name}: {mutant.text[:40]}")
def test_it_can_be_planted(mutant: Mutant) -> None:
    assert not mutant.is_stale
    assert mutant.text != mutant.mistake
    assert all((ROOT / test.partition("::")[0]).exists() for test in mutant.tests)
