"""What was raised, as a kind of loss: the table's cause, a note for people, and the price if it is known."""

from __future__ import annotations

import errno
import traceback

from attrs import frozen

from harness2_core.api.runtime import Store
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
    cause: str
    note: str
    wait_seconds: int = 0
    usage: Usage | None = None


def loss_of(error: Exception, who: str, store: Store) -> Loss:
    """The loss that `error` is. `who` names the plugin or core part at work; a traceback is kept as a blob."""
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
            return Loss("worker", f"{who} raised {type(error).__name__}: {error}{_traceback(error, store)}")


def _said(error: Harness2Error) -> str:
    return f"{error.what} ({error.remedy})" if error.remedy else error.what


def _traceback(error: Exception, store: Store) -> str:
    text = "".join(traceback.format_exception(error))
    try:
        return f" (traceback: blob {store.put_blob(text.encode('utf-8', 'replace'))})"
    except (StoreError, OSError):
        return ""  # the loss itself matters more than its trace
