"""docs/sizing.md: its worked example gives what the page says that it gives."""

import re
import subprocess
import sys
from pathlib import Path
from typing import Final

PAGE: Final = (Path(__file__).parents[2] / "docs" / "sizing.md").read_text("utf-8")


def test_the_worked_example_prints_what_it_says() -> None:
    (program,) = re.findall(r"^```python\n(.*?)^```$", PAGE, re.DOTALL | re.MULTILINE)
    (prints,) = re.findall(r"^```text\n(.*?)^```$", PAGE, re.DOTALL | re.MULTILINE)
    assert subprocess.check_output([sys.executable, "-c", program], text=True, timeout=60) == prints
