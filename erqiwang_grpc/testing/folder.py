"""A temporary folder that goes with this process, and takes along the processes that work in it."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

# It waits for the end of its input, which comes when the process that started it ends, in any way. Then it ends
# every process with the folder's name in its command, one that is stopped too, and removes the folder. SIGQUIT comes
# first, because a database that is told so ends its own processes.
_GUARD: Final = """
trap '' INT TERM HUP
while read -r word; do exit; done
of_folder() { ps -A -ww -o pid=,args= | awk 'index($0, ENVIRON["GUARDED"]) { print $1 }'; }
for signal in QUIT CONT; do for pid in $(of_folder); do kill -$signal "$pid" 2>/dev/null; done; done
sleep 1
for pid in $(of_folder); do kill -KILL "$pid" 2>/dev/null; done
sleep 0.2
rm -rf "$GUARDED"
"""


@contextmanager
def guarded_folder(prefix: str) -> Iterator[Path]:
    """A temporary folder, removed when the context is left.

    If this process is killed, the folder goes too, and all processes end that were given it by name.
    """
    folder = Path(tempfile.mkdtemp(prefix=prefix))
    guard = subprocess.Popen(
        ["sh", "-c", _GUARD],
        stdin=subprocess.PIPE,
        env=os.environ | {"GUARDED": str(folder)},
        start_new_session=True,  # Ctrl-C in the terminal is not for it
    )
    try:
        yield folder
    finally:
        shutil.rmtree(folder)
        guard.communicate(b"done\n")
