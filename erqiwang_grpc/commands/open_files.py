"""Raises the limit of open files, because each connection is one."""

import logging
import resource
from typing import Final

log = logging.getLogger(__name__)

_OTHERS: Final = 100
"""More than enough for the open files that are no connections: the store, standard error, ports, the event loop."""


def allow(connections: int) -> None:
    """Raise the soft limit so that it allows `connections`. Log a line if the hard limit is too low for that.

    Without enough open files, new connections are not accepted and the store's files cannot be opened, and no client
    gets an answer.
    """
    needed = connections + _OTHERS
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if _is_enough(soft, needed):
        return
    allowed = needed if _is_enough(hard, needed) else hard
    try:
        resource.setrlimit(resource.RLIMIT_NOFILE, (allowed, hard))
    except (OSError, ValueError):
        # An infinite hard limit is not always true: macOS has a lower limit of its own.
        allowed = soft
    if allowed < needed:
        why = f"--connections {connections} needs {needed} open files, and the system allows {allowed}: raise its hard limit, or give fewer"
        log.warning("too few open files", extra={"why": why})


def _is_enough(limit: int, needed: int) -> bool:
    return limit == resource.RLIM_INFINITY or limit >= needed
