"""`erqiwang --version`: it says which build of the core runs."""

from pathlib import Path

import erqiwang_core
import pytest

from erqiwang_grpc.__main__ import main


def test_the_version_and_the_build_of_the_core(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["--version"])
    assert ended.value.code == 0
    build = "interpreted" if Path(erqiwang_core.view.__file__).suffix == ".py" else "compiled"
    said = capsys.readouterr().out
    assert said.startswith("erqiwang 0.")
    assert f", core {build}, Python 3." in said
