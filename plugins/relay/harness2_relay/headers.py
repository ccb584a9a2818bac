"""Headers on the way: what belongs to one connection stays there, and the token becomes the key."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final, TypeAlias

Headers: TypeAlias = Iterable[tuple[str, str]]

_OF_ONE_CONNECTION: Final = frozenset(
    {
        "connection",
        "keep-alive",
        "proxy-authenticate",
        "proxy-authorization",
        "proxy-connection",
        "te",
        "trailer",
        "transfer-encoding",
        "upgrade",
    }
)
_KEYS: Final = ("authorization", "x-api-key", "api-key")
"""Where clients put a key; the first as `Bearer <key>`."""
_BEARER: Final = "bearer "
_NOT_UP: Final = frozenset({"host", "expect", "accept-encoding", "cookie", "forwarded", "x-forwarded-for"})
_NOT_DOWN: Final = frozenset({"set-cookie", "alt-svc", "date", "server"})


def token_in(headers: Headers) -> str:
    """The token that a client brings; empty when it brings none. All that it brings must be the same."""
    brought = {_key(name, value) for name, value in headers if name.lower() in _KEYS}
    return brought.pop() if len(brought) == 1 else ""


def upwards(headers: Headers, key: str) -> Iterator[tuple[str, str]]:
    """What the endpoint is sent: the key in each header in which the token came; none without a key.

    Bodies are asked for as they are: what is not compressed can be looked through for the key.
    """
    listed = tuple(headers)
    dropped = _NOT_UP | _named(listed)
    for name, value in listed:
        lower = name.lower()
        if lower in _KEYS:
            if key:
                yield name, f"Bearer {key}" if lower == "authorization" else key
        elif lower not in dropped:
            yield name, value
    yield "Accept-Encoding", "identity"


def downwards(headers: Headers) -> Iterator[tuple[str, str]]:
    """What the client is sent."""
    listed = tuple(headers)
    dropped = _NOT_DOWN | _named(listed)
    yield from ((name, value) for name, value in listed if name.lower() not in dropped)


def _named(headers: Headers) -> frozenset[str]:
    """Headers of one connection: the known ones, and those that `Connection` names."""
    more = (
        part.strip().lower() for name, value in headers if name.lower() == "connection" for part in value.split(",")
    )
    return _OF_ONE_CONNECTION | frozenset(more)


def _key(name: str, value: str) -> str:
    is_bearer = name.lower() == "authorization" and value[: len(_BEARER)].lower() == _BEARER
    return value[len(_BEARER) :].strip() if is_bearer else value.strip()
