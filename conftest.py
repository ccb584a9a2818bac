"""Settings of all tests: hypothesis measures no time, since the machines that run these tests are busy ones.

`HYPOTHESIS_MAX_EXAMPLES` makes property tests shorter: one Python tries the full number, the others a few.
"""

from __future__ import annotations

import os

from hypothesis import settings

settings.register_profile(
    "steady", deadline=None, max_examples=int(os.environ.get("HYPOTHESIS_MAX_EXAMPLES", settings().max_examples))
)
settings.load_profile("steady")
