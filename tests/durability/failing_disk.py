"""`erqiwang` on a disk that can be made to fail: after a line on standard input, every flush fails with an I/O error.

A filter of system calls makes the kernel itself answer so. SQLite, Python and the server run as they are.
"""

import ctypes
import errno
import os
import platform
import sys
from struct import pack
from threading import Thread
from typing import Final

from erqiwang_grpc.__main__ import main

FLUSHES: Final = {"x86_64": (74, 75), "aarch64": (82, 83)}
"""The numbers of fsync and fdatasync, by machine."""
SECCOMP: Final = {"x86_64": 317, "aarch64": 277}
"""The number of seccomp, by machine."""
CAN_FAIL: Final = sys.platform == "linux" and platform.machine() in FLUSHES
"""Whether flushes can be made to fail on this machine."""

_LOAD_NUMBER, _EQUALS, _RETURN = 0x20, 0x15, 0x06
_FAIL, _ALLOW = 0x00050000, 0x7FFF0000
_NO_NEW_PRIVILEGES, _FILTER, _EVERY_THREAD = 38, 1, 1


def fail_flushes_when_told() -> None:
    """Wait for a line. From then on every flush fails, in every thread, until the process ends."""
    if not sys.stdin.readline():
        return
    one, other = FLUSHES[platform.machine()]
    instructions = (
        (_LOAD_NUMBER, 0, 0, 0),
        (_EQUALS, 1, 0, one),
        (_EQUALS, 0, 1, other),
        (_RETURN, 0, 0, _FAIL | errno.EIO),
        (_RETURN, 0, 0, _ALLOW),
    )
    filtering = ctypes.create_string_buffer(b"".join(pack("HBBI", *each) for each in instructions))
    program = ctypes.create_string_buffer(pack("HP", len(instructions), ctypes.addressof(filtering)))
    libc = ctypes.CDLL(None, use_errno=True)
    libc.prctl(_NO_NEW_PRIVILEGES, 1, 0, 0, 0)
    if libc.syscall(SECCOMP[platform.machine()], _FILTER, _EVERY_THREAD, program):
        os._exit(70)  # The sandbox allows no filter. No server ends with this status, so the test notices.
    os.write(1, b"flushes fail\n")


if __name__ == "__main__":
    Thread(target=fail_flushes_when_told, daemon=True).start()
    sys.exit(main())
