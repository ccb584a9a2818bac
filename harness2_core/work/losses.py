"""What was raised, as a kind of loss: the table's cause, a note for people, and the price if it is known."""

from __future__ import annotations

import errno
import traceback
from collections.abc import Callable
from contextlib import suppress

from attrs import evolve, frozen

from harness2_core.api.runtime import Store
from harness2_core.model.canonical import Digest
from harness2_core.model.channel import Usage
from harness2_core.model.errors import Harness2Error, Lost, StoreError

from .policy import CANCELLED

_FULL = (errno.ENOSPC, errno.EDQUOT, errno.EROFS, errno.EIO)


class Cancelled(Exception):
    """The work was no longer wanted, and ended for that."""

    def __init__(self, usage: Usage | None = None) -> None:
        super().__init__("cancelled: no longer wanted")
        self.usage = usage


class Unanswered(Exception):
    """A session that gave no answer; `outcome` says how it ended, in the words of the policy table."""

    def __init__(self, outcome: str, what: str, usage: Usage) -> None:
        super().__init__(what)
        self.outcome = outcome
        self.what = what
        self.usage = usage


@frozen
class Loss:
    """`note` is for people, and the same everywhere; `trace`, a traceback's blob, belongs to the attempt alone."""

    cause: str
    note: str
    wait_seconds: int = 0
    usage: Usage | None = None
    trace: Digest = ""


def loss_of(error: Exception, who: str, store: Store, rewrite: Callable[[str], str] = str) -> Loss:
    """The loss that `error` is. `who` names the plugin or core part at work; a traceback is kept as a blob.

    `rewrite` takes real paths and lent keys out of what was said: a dead record is the same wherever it died.
    """
    loss = _loss_of(error, who)
    if _is_fault(error):
        text = "".join(traceback.format_exception(error))
        with suppress(StoreError, OSError):  # the loss itself matters more than its trace
            loss = evolve(loss, trace=store.put_blob(rewrite(text).encode("utf-8", "replace")))
    return evolve(loss, note=rewrite(loss.note))


def _loss_of(error: Exception, who: str) -> Loss:
    match error:
        case Cancelled():
            return Loss(CANCELLED, str(error), usage=error.usage)
        case Unanswered():
            return Loss(error.outcome, error.what, usage=error.usage)
        case Lost():
            return Loss(error.cause, error.what, error.wait_seconds, error.usage)
        case StoreError():
            return Loss("disk", _said(error))
        case OSError() if error.errno in _FULL:
            return Loss("disk", f"{error.strerror}: the disk of the runs directory; make room, then resume")
        case Harness2Error():
            return Loss("worker", f"{who}: {_said(error)}")
        case _:
            return Loss("worker", f"{who} raised {type(error).__name__}: {error}")


def _is_fault(error: Exception) -> bool:
    """Nobody foresaw it: where it came from is worth keeping."""
    return not isinstance(error, Harness2Error | Cancelled | Unanswered) and not (
        isinstance(error, OSError) and error.errno in _FULL
    )


def _said(error: Harness2Error) -> str:
    return f"{error.what} ({error.remedy})" if error.remedy else error.what
