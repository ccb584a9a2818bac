"""Settings whose content matters: a path becomes a digest before it enters a request, and a path again in the worker.

`file:<digest>` is a blob, `tree:<digest>` a manifest. So a playbook that is edited makes new work, one that is moved
does not, and a worker on another machine has it.
"""

from __future__ import annotations

import tempfile
from pathlib import Path

from harness2_core.api.runtime import Store
from harness2_core.model.canonical import is_digest
from harness2_core.model.errors import ConfigError
from harness2_core.model.manifest import Entry, Manifest

from .materialise import materialise
from .nofollow import walk
from .site import remove
from .trees import put_manifest, read_blob, read_manifest


def put_content(store: Store, path: Path) -> str:
    """Stores a file or directory and returns its name in requests. Links and devices inside are refused by name."""
    if path.is_file():
        return f"file:{store.put_blob(path.resolve())}"
    if not path.is_dir():
        raise ConfigError(f"{path}: no such file or directory", "mend the setting that names it")
    entries = {}
    for found in walk(path):
        if found.kind:
            raise ConfigError(f"{path / found.path}: {found.kind}", "leave only regular files below a setting's path")
        entries[found.path] = Entry(store.put_blob(path / found.path), found.size)
    return f"tree:{put_manifest(store, Manifest(entries))}"


def resolve_content(store: Store, text: str, scratch: Path) -> Path:
    """The path of a content below `scratch`, written there when it is not yet; `text` is what `put_content` said."""
    kind, _, digest = text.partition(":")
    if kind not in ("file", "tree") or not is_digest(digest):
        raise ConfigError(f"{text!r} names no stored content", "it reads file:<digest> or tree:<digest>")
    target = scratch / "content" / f"{kind}-{digest}"
    if target.exists():
        return target
    target.parent.mkdir(parents=True, exist_ok=True)
    # Written beside and renamed: workers in other threads and processes may ask for the same.
    beside = Path(tempfile.mkdtemp(dir=target.parent))
    if kind == "file":
        (beside / "file").write_bytes(read_blob(store, digest))
        (beside / "file").replace(target)
    else:
        materialise(store, read_manifest(store, digest), beside / "tree")
        try:
            (beside / "tree").rename(target)
        except OSError:
            if not target.is_dir():
                raise
    remove(beside)
    return target
