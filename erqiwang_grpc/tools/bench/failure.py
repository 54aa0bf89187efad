"""Why a bench measures nothing."""


class BenchFailed(Exception):
    """The bench cannot go on: a process ended early or said something unexpected, or too little was measured.

    The text is for the user.
    """
