"""The modules of the table page, checked by the TypeScript compiler against the types of the schemas."""

import os
import shutil
from pathlib import Path
from typing import Final

import pytest

from tests.documents import REPOSITORY, run

pytestmark = pytest.mark.languages

HERE: Final = REPOSITORY / "tests" / "edge" / "page"


def test_the_modules_are_typed(tmp_path: Path) -> None:
    """A message that changes in the schemas is noticed wherever the page reads it."""
    missing = [tool for tool in ("node", "npm") if shutil.which(tool) is None]
    assert not missing, f"the page's types need {' and '.join(missing)}, which this machine does not have"
    for name in ("package.json", "package-lock.json"):
        shutil.copy(HERE / name, tmp_path / name)
    run(f"npm ci --no-audit --no-fund\nnode_modules/.bin/tsc -p '{HERE}'", tmp_path, dict(os.environ))
    # The compiler would say so if a field were read that no message has.
    wrong = tmp_path / "wrong.js"
    wrong.write_text(
        "/** @import { View } from './messages.d.ts' */\n/** @param {View} view */\nexport const cards = (view) => view.hands;\n"
    )
    shutil.copy(REPOSITORY / "erqiwang_grpc/edge/page/files/messages.d.ts", tmp_path)
    run(
        f'sed \'s#"include": .*#"include": ["wrong.js"]#\' \'{HERE}/tsconfig.json\' > tsconfig.json\n'
        "! node_modules/.bin/tsc -p . > said\ngrep -q \"'hands' does not exist\" said",
        tmp_path,
        dict(os.environ),
    )
