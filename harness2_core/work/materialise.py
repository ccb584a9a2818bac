"""Writing a manifest, or a few files, below a directory.

Copies, never hard links: agents edit in place. Nothing is followed and nothing is overwritten: every directory on
the way is opened without following links, and every file is created anew. A file that begins with `#!` is executable.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Final

from harness2_core.api.runtime import Store
from harness2_core.model.errors import InvalidValue
from harness2_core.model.manifest import Manifest
from harness2_core.model.paths import unsafe

from .trees import flatten

_DIRECTORY: Final = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_NEW: Final = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
_CHUNK: Final = 1 << 20


def materialise(store: Store, manifest: Manifest, root: Path, *, read_only: bool = False) -> tuple[str, ...]:
    """Writes every file of `manifest` below `root` and returns their paths.

    `root` is made when missing. `InvalidValue` for a path that is unsafe, exists already or is one name with another
    on this file system. With `read_only`, files and directories below lose their write bits (no bar to root).
    """
    files = flatten(store, manifest)
    with _Writer(root) as writer:
        for path, entry in files.items():
            with store.open_blob(entry.digest) as stream:
                writer.write(path, iter(lambda: stream.read(_CHUNK), b""))
    if read_only:
        make_read_only(root)
    return tuple(files)


def write_files(files: Mapping[str, bytes], root: Path) -> None:
    """As `materialise`, of bytes at hand."""
    with _Writer(root) as writer:
        for path, data in files.items():
            writer.write(path, (data,))


def make_read_only(root: Path) -> None:
    """Takes the write bits of everything below `root`, and of itself."""
    for directory, _, names in os.walk(root, topdown=False):
        for name in names:
            path = Path(directory, name)
            path.chmod(path.stat().st_mode & ~0o222)
        Path(directory).chmod(0o555)


class _Writer:
    """Keeps the directory of the last file open: files of one directory come together."""

    def __init__(self, root: Path) -> None:
        root.mkdir(parents=True, exist_ok=True)
        self._root = os.open(root, _DIRECTORY)
        self._parent = ""
        self._at = os.dup(self._root)

    def __enter__(self) -> _Writer:
        return self

    def __exit__(self, *_: object) -> None:
        os.close(self._at)
        os.close(self._root)

    def write(self, path: str, data: Iterable[bytes]) -> None:
        problems = unsafe(path)
        if problems:
            raise InvalidValue("; ".join(problems), "give it a normal relative path")
        parent, _, name = path.rpartition("/")
        if parent != self._parent:
            self._enter(parent, path)
        chunks = iter(data)
        head = b""
        while len(head) < 2 and (more := next(chunks, b"")):
            head += more
        mode = 0o755 if head.startswith(b"#!") else 0o644
        try:
            opened = os.open(name, _NEW, mode, dir_fd=self._at)
        except FileExistsError:
            raise InvalidValue(
                f"{path!r} is there already, or is one name with another file on this file system",
                "rename one of the two",
            ) from None
        with os.fdopen(opened, "wb") as out:
            os.fchmod(opened, mode)  # whatever the umask: an agent under another user id must read and run it
            out.write(head)
            out.writelines(chunks)

    def _enter(self, parent: str, path: str) -> None:
        at = os.dup(self._root)
        try:
            for part in parent.split("/") if parent else ():
                with contextlib.suppress(FileExistsError):
                    os.mkdir(part, 0o755, dir_fd=at)
                try:
                    at, before = os.open(part, _DIRECTORY, dir_fd=at), at
                except OSError:
                    raise InvalidValue(
                        f"{path!r}: {part!r} on the way is a file or a link", "rename one of the two"
                    ) from None
                os.close(before)
        except BaseException:
            os.close(at)
            raise
        os.close(self._at)
        self._at, self._parent = at, parent
