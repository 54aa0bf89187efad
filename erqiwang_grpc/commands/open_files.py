"""How many files the process may have open: each connection is one."""

import logging
import resource
from typing import Final

log = logging.getLogger(__name__)

_OTHERS: Final = 100
"""Files that are no connections: the store's, the log's, the ports, the event loop's; rather more than there are."""


def allow(connections: int) -> None:
    """Raise the soft limit as far as so many connections need; a line in the log where the hard one is lower than that.

    Without enough of them new connections are not taken, and the store's files cannot be opened, without an answer to anybody.
    """
    needed = connections + _OTHERS
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if _is_enough(soft, needed):
        return
    allowed = needed if _is_enough(hard, needed) else hard
    try:
        resource.setrlimit(resource.RLIMIT_NOFILE, (allowed, hard))
    except (OSError, ValueError):
        # A hard limit without an end is not the whole truth on every system: macOS has one of its own behind it.
        allowed = soft
    if allowed < needed:
        why = f"--connections {connections} needs {needed} open files, and the system allows {allowed}: raise its hard limit, or give fewer"
        log.warning("too few open files", extra={"why": why})


def _is_enough(limit: int, needed: int) -> bool:
    return limit == resource.RLIM_INFINITY or limit >= needed
