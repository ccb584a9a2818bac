"""The engine of a plugin, as the scheduler sees it: what it raises names the plugin, and the way out."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AbstractContextManager
from typing import final

from attrs import frozen

from harness2_core.api.runtime import Call, Engine, Work
from harness2_core.model.assignment import Assignment
from harness2_core.model.canonical import Digest
from harness2_core.plugins.discovery import Found
from harness2_core.plugins.loading import blaming


@final
@frozen
class BlamedEngine:
    """Passes everything on to `engine`, which `found` brought."""

    engine: Engine
    found: Found

    def submit(self, call: Call, work: Assignment) -> Work:
        with self._in("submit"):
            return self.engine.submit(call, work)

    def wait(self, seconds: float | None) -> Sequence[Work]:
        with self._in("wait"):
            return self.engine.wait(seconds)

    def now(self) -> float:
        with self._in("now"):
            return self.engine.now()

    def cancel(self, request: Digest) -> None:
        with self._in("cancel"):
            self.engine.cancel(request)

    def close(self) -> None:
        with self._in("close"):
            self.engine.close()

    def _in(self, method: str) -> AbstractContextManager[None]:
        return blaming(self.found, f"its engine's `{method}`")
