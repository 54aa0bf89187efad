"""How hypothesis searches: `ci` gives the same verdict on every run, `thorough` looks further (HYPOTHESIS_PROFILE)."""

import os

from hypothesis import settings

# No deadline: how long an example takes says more about the machine than about the code.
settings.register_profile("ci", derandomize=True, deadline=None, print_blob=True)
settings.register_profile("thorough", max_examples=2_000, deadline=None, print_blob=True)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "ci"))
