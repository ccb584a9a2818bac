"""Settings of all tests: hypothesis measures no time, since the machines that run these tests are busy ones."""

from __future__ import annotations

from hypothesis import settings

settings.register_profile("steady", deadline=None)
settings.load_profile("steady")
