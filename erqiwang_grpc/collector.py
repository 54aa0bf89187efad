"""The garbage collector of a process with thousands of streams."""

import gc


def calm_the_collector() -> None:
    """Let the garbage collector run rarely and on few objects: with thousands of streams it causes the worst delays."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(50_000, 50, 50)
