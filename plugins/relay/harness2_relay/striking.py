"""The key struck from what an endpoint answers: some say it back in an error, some echo whole requests.

As many stars stand in its place, so no length changes. Bytes are held back only while they may be the key's beginning:
a stream passes as it comes.
"""

from __future__ import annotations

from typing import Final

SHORTEST: Final = 6
"""Characters of a key below which it is not struck: it would hit words by chance."""


class Striking:
    """For one answer. `take` what comes, then `rest`."""

    def __init__(self, key: str) -> None:
        self._key = key.encode() if len(key) >= SHORTEST else b""
        self._held = b""

    def take(self, data: bytes) -> bytes:
        """What can be passed on now."""
        if not self._key:
            return data
        seen = (self._held + data).replace(self._key, b"*" * len(self._key))
        held = self._beginning_at_the_end(seen)
        self._held = seen[len(seen) - held :]
        return seen[: len(seen) - held]

    def rest(self) -> bytes:
        """What was held back, once nothing comes any more."""
        held, self._held = self._held, b""
        return held

    def text(self, text: str) -> str:
        """A header's value, whole."""
        return text.replace(self._key.decode(), "*" * len(self._key.decode())) if self._key else text

    def _beginning_at_the_end(self, seen: bytes) -> int:
        """Bytes at the end of `seen` with which the key begins, the most."""
        most = min(len(seen), len(self._key) - 1)
        return next((size for size in range(most, 0, -1) if seen.endswith(self._key[:size])), 0)
