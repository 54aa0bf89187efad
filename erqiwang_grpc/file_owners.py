"""Whom a file belongs to that is made for a server which may run as another user.

Root runs commands on the folder of a server. Without this, root would own the files that such a command makes or
replaces, with mode 0600, and the server could not read them.
"""

import contextlib
import os
import stat

_ROOT = 0


def give_to_owner(descriptor: int, folder: os.stat_result) -> None:
    """Give a new file to the owner and group of its folder, if this process is root. Others own what they make."""
    if os.geteuid() == _ROOT:
        # In a container not everybody can be named: then the file stays root's, as the process is.
        with contextlib.suppress(OSError):
            os.fchown(descriptor, folder.st_uid, folder.st_gid)


def make_alike(descriptor: int, replaced: os.stat_result) -> None:
    """Give a new file the owner, group and permissions of the file that it replaces, so that the same users read it.

    Raises `OSError` if this process may not do that.
    """
    made = os.fstat(descriptor)
    if made.st_gid != replaced.st_gid:
        try:
            os.fchown(descriptor, -1, replaced.st_gid)
        except OSError:
            if replaced.st_mode & stat.S_IRWXG:
                raise
    if made.st_uid != replaced.st_uid:
        os.fchown(descriptor, replaced.st_uid, -1)
    os.fchmod(descriptor, replaced.st_mode & 0o666)
