"""A claim that is waited for: for what several processes write for a moment. Never on the scheduler's thread."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

from harness2_core.api.runtime import Store
from harness2_core.model.errors import StoreError

LOCK_SECONDS: Final = 30.0
"""How long another process may hold it before we say so."""


@contextmanager
def locked(store: Store, key: str) -> Iterator[None]:
    until = time.monotonic() + LOCK_SECONDS
    while True:
        with store.claim(key) as mine:
            if mine:
                yield
                return
        if time.monotonic() > until:
            raise StoreError(f"another process has held {key!r} for {LOCK_SECONDS:.0f} s", "end that process")
        time.sleep(0.02)
