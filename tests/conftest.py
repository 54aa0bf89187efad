"""How hypothesis searches (HYPOTHESIS_PROFILE).

`ci` gives the same verdict on every run. `share` looks at a few examples that are drawn anew on every run. `thorough` looks
at many of them.
"""

import os

from hypothesis import settings

# No deadline: how long an example takes says more about the machine than about the code.
settings.register_profile("ci", derandomize=True, deadline=None, print_blob=True)
settings.register_profile("share", max_examples=20, deadline=None, print_blob=True)
settings.register_profile("thorough", max_examples=2_000, deadline=None, print_blob=True)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "ci"))
