"""The known name that somebody probably meant: for every message about a name that is not known."""

from __future__ import annotations

from collections.abc import Iterable


def near(name: str, known: Iterable[str]) -> str:
    """`did you mean ...? ` with a trailing space, or nothing."""
    from difflib import get_close_matches  # here: only who mistyped waits for it

    close = get_close_matches(name, sorted(set(known)), n=3, cutoff=0.6)
    return f"did you mean {' or '.join(repr(item) for item in close)}? " if close else ""
