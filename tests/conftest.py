"""What holds for all tests: SIGINT is not ignored, and how hypothesis searches (HYPOTHESIS_PROFILE).

`ci` gives the same verdict on every run. `share` looks at a few examples, and `thorough` at many; both draw others on every
run, also where the variable CI is set, for which hypothesis would choose otherwise by itself.
"""

import os
import signal

from hypothesis import settings

# A shell lets what it starts in the background ignore SIGINT, and so would every program that a test starts and interrupts.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

# No deadline: how long an example takes says more about the machine than about the code.
settings.register_profile("ci", derandomize=True, deadline=None, print_blob=True)
settings.register_profile("share", derandomize=False, max_examples=20, deadline=None, print_blob=True)
settings.register_profile("thorough", derandomize=False, max_examples=2_000, deadline=None, print_blob=True)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "ci"))
