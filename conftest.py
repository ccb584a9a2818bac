"""Settings of all tests: hypothesis measures no time, since the machines that run these tests are busy ones.

Tests of real agents, which wait most, come first: at the end nobody should have to wait for the longest of them.

`HYPOTHESIS_MAX_EXAMPLES` makes property tests shorter: one Python tries many, the others a few. Where there
is no bwrap, what tests run is told to run without a sandbox, as a person has to tell it. A shell makes what it begins
in the background deaf to interrupts, and that is inherited: tests of interrupts begin with ears.
"""

from __future__ import annotations

import os
import shutil
import signal

import pytest
from hypothesis import settings

settings.register_profile(
    "steady", deadline=None, max_examples=int(os.environ.get("HYPOTHESIS_MAX_EXAMPLES", settings().max_examples))
)
settings.load_profile("steady")

if shutil.which("bwrap") is None:
    os.environ.setdefault("HARNESS2_RUN__SANDBOX", "none")

if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    items.sort(key=lambda item: item.get_closest_marker("agent") is None)
