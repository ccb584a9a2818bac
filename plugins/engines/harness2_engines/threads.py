"""The engine `threads`."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import Final

from harness2_core.api import Engine, executor_engine

from .settings import ThreadsSettings

ENOUGH: Final = 256
"""More than one machine has slots. A thread is made only when work waits for one, so a high number costs nothing."""


def threads_engine(settings: ThreadsSettings) -> Engine:
    """Threads suffice: each waits for the programs of one request; slots, not threads, bound what runs at once."""
    return executor_engine(ThreadPoolExecutor(settings.workers or ENOUGH, thread_name_prefix="harness2-worker"))
