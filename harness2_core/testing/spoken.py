"""What an error says, all of it: to see that no secret is in it."""

from __future__ import annotations

import traceback


def spoken(error: BaseException) -> str:
    """Its text, its arguments and its traceback with all causes, as a log would have it."""
    return "\n".join([str(error), repr(error), *traceback.format_exception(error)])
