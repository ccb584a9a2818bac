"""Names of files in a store, and back. Pure.

A key may be any text of any length. Its file lies in one of 256 directories, chosen by digest, so that 100,000 keys
stay quick. A plain lower-case key is its own file name; any other is escaped, and a digest is added so that two keys
never meet, not even on a disk that ignores case. `key_of` inverts the name; of a shortened name it cannot, then the
key is read from the file. Paths are texts: a store asks for a hundred of them in the time that one step may take.
"""

from __future__ import annotations

from typing import Final

from harness2_core.api import Digest, InvalidValue, digest_bytes, file_name, unescape

_MARK: Final = "~"
"""Between an escaped key and its digest; no escaped name contains it."""


def utf8(key: str) -> bytes:
    """The bytes of a key; `InvalidValue` for text that has none."""
    try:
        return key.encode()
    except UnicodeEncodeError:
        raise InvalidValue(
            f"the key {key!r} holds half a character (a lone surrogate)",
            "decode bytes with errors='replace' before they become part of a key",
        ) from None


def kind_path(root: str, kind: str) -> str:
    """The directory of a kind of record."""
    return f"{root}/{_name(kind, _digest(kind))}"


def key_path(directory: str, key: str) -> str:
    """The file of `key` below `directory`."""
    digest = _digest(key)
    return f"{directory}/{digest[:2]}/{_name(key, digest)}"


def key_name(key: str) -> str:
    """The name of the file of `key`."""
    return _name(key, _digest(key))


def blob_path(directory: str, digest: Digest) -> str:
    return f"{directory}/{digest[:2]}/{digest}"


def key_of(folder: str, name: str) -> str | None:
    """The key whose file is `folder/name`; `None` when only the file can tell. `ValueError`: it is no file of ours."""
    escaped, mark, _ = name.rpartition(_MARK)
    if not mark:
        if name.startswith(".") or not is_for(folder, name, name):
            raise ValueError(f"{folder}/{name} is not named after a key")
        return name
    try:
        key = unescape(escaped)
    except ValueError:  # shortened; `InvalidValue` is one of these too
        return None
    if not is_for(folder, name, key):
        raise ValueError(f"{folder}/{name} is not named after a key")
    return key


def is_for(folder: str, name: str, key: str) -> bool:
    """Whether the digests in the name of a file and of its directory are those of `key`."""
    digest = _digest(key)
    return folder == digest[:2] and name.rpartition(_MARK)[2] in (digest[:16], key)


def _name(key: str, digest: Digest) -> str:
    name = file_name(key)
    return name if name == key == key.lower() else f"{name}{_MARK}{digest[:16]}"


def _digest(key: str) -> Digest:
    return digest_bytes(utf8(key))
