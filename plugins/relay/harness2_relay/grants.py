"""What each token opens: an endpoint and its real key, until the run that it was made for has ended."""

from __future__ import annotations

import hmac
import re
import secrets
import threading
from typing import Final
from urllib.parse import unquote, urlsplit

from attrs import field, frozen

from harness2_core.api import ConfigError

_TOKEN_BYTES: Final = 32
_SEPARATORS: Final = re.compile(r"[/\\;]")
"""A `;` too: some servers take what follows it in a segment for no part of the name."""
_CONTROL: Final = re.compile(r"[\x00-\x1f\x7f]")
_DEEPEST: Final = 8
"""Times that a path is decoded: no server on the way comes near, and each time costs."""


@frozen
class Upstream:
    """Where requests go. `origin` is scheme, host and port; `path` the configured one, without a slash at its end."""

    origin: str
    path: str
    key: str = field(default="", repr=False)

    def target(self, raw_path: str) -> str | None:
        """The whole url for the path and query that a client asks for; `None` unless it lies below `path`.

        Servers on the way may decode a path once or more: one that could climb in any reading is refused.
        """
        path, _, _ = raw_path.partition("?")
        if not path.startswith("/") or not _is_below(path, self.path):
            return None
        read, base = _decoded(path), _decoded(self.path)
        if read is None or base is None or not _is_below(read.replace("\\", "/"), base) or _climbs(read):
            return None
        return self.origin + raw_path


def upstream(url: str, key: str = "") -> Upstream:
    """`ConfigError` for a url that is none of http or https, or that holds more than host, port and path."""
    try:
        parts = urlsplit(url)
        host, _ = parts.hostname, parts.port
    except ValueError:  # whose words may hold a password
        raise ConfigError(f"the url {_plain(url)!r} cannot be read", _REMEDY) from None
    if parts.scheme not in ("http", "https") or not host:
        raise ConfigError(f"the url {_plain(url)!r} is no http or https address", _REMEDY)
    if "@" in parts.netloc:
        raise ConfigError(
            f"the url {_plain(url)!r} holds a name or a password", _REMEDY + "; `key_variable` names a key"
        )
    if parts.query or parts.fragment:
        raise ConfigError(f"the url {_plain(url)!r} ends in a query or a fragment", _REMEDY)
    path = parts.path.rstrip("/")
    read = _decoded(path)
    if read is None or _climbs(read):
        raise ConfigError(f"the url {_plain(url)!r} climbs", _REMEDY)
    return Upstream(f"{parts.scheme}://{parts.netloc}", path, key)


_REMEDY: Final = 'give scheme, host and path: `url = "https://models.example/v1"`'


class Grants:
    """Tokens in force. Any thread may ask."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._open: dict[str, Upstream] = {}

    def grant(self, to: Upstream) -> str:
        """A token that nobody can guess and nobody had before."""
        token = f"run-{secrets.token_urlsafe(_TOKEN_BYTES)}"
        with self._lock:
            self._open[token] = to
        return token

    def revoke(self, token: str) -> None:
        with self._lock:
            self._open.pop(token, None)

    def find(self, token: str) -> Upstream | None:
        """Compares in a time that tells nothing of how much was right."""
        with self._lock:
            known = tuple(self._open.items())
        given = token.encode(errors="surrogateescape")
        found = [upstream for own, upstream in known if hmac.compare_digest(own.encode(), given)]
        return found[0] if found else None


def _is_below(path: str, base: str) -> bool:
    return path == base or path.startswith(f"{base}/")


def _decoded(path: str) -> str | None:
    """Without percent signs that hide others; `None` when it hides more than any server would look for."""
    for _ in range(_DEEPEST):
        try:
            read = unquote(path, errors="strict")
        except UnicodeDecodeError:  # what a server reads there is anybody's guess
            return None
        if read == path:
            return None if _CONTROL.search(read) else read
        path = read
    return None


def _climbs(read: str) -> bool:
    return ".." in _SEPARATORS.split(read)


def _plain(url: str) -> str:
    """For people: without what stands before an `@`, which may be a password, and without a query."""
    head, _, rest = url.partition("://")
    place = rest.partition("?")[0].rpartition("@")[2]
    return f"{head}://{place}" if rest else head.rpartition("@")[2]
