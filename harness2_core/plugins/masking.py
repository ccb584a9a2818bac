"""Values that must not be shown: keys and passwords, wherever settings are printed or blamed.

A field is secret when its class says so (`repr=False`) or when its name does. Credentials inside URLs are cut out of
any value. Settings should name the *variable* that holds a key instead; this is for when they do not.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final

MASK: Final = "(hidden)"

_SECRET: Final = re.compile(
    r"(^|[_\-.])(api_?)?(key|token|secret|password|passwd|credential|authorization|cookie|bearer)s?$", re.IGNORECASE
)
_USER: Final = re.compile(r"(?<=://)[^/\s@?#]+(?=@)")
_QUERY: Final = re.compile(
    r"(?<=[?&])([^=&#\s]*(?:key|token|secret|password|sig|auth)[^=&#\s]*)=[^&#\s]*", re.IGNORECASE
)


def is_secret(name: str) -> bool:
    """Whether a setting or header of this name holds a secret; `key_env` names a variable and does not."""
    return _SECRET.search(name) is not None


def masked(name: str, value: object, *, secret: bool = False) -> str:
    """`value` as text to show, without what must not be seen; `secret` hides all of a non-empty value."""
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{key} = {masked(str(key), item, secret=secret)}" for key, item in value.items()) + "}"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int):  # `max_tokens` counts; it is no token
        return str(value)
    if value not in (None, "", ()) and (secret or is_secret(name)):
        return MASK
    if isinstance(value, list | tuple):
        return "[" + ", ".join(masked("", item) for item in value) + "]"
    if value is None:
        return "(none)"
    text = _QUERY.sub(rf"\1={MASK}", _USER.sub(MASK, str(value)))
    return f'"{text}"'
