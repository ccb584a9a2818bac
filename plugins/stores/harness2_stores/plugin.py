"""The hooks of harness2-stores."""

from __future__ import annotations

from collections.abc import Sequence

from harness2_core.api import Provider, Store, hookimpl


@hookimpl
def harness2_stores() -> Sequence[Provider[Store]]:
    return (
        Provider(
            "filesystem",
            "plain files, readable with any tool",
            "harness2_stores.filesystem:filesystem_store",
            "harness2_stores.settings:FilesystemSettings",
        ),
        Provider(
            "sqlite",
            "one database, fewer files; large blobs beside it",
            "harness2_stores.sqlite:sqlite_store",
            "harness2_stores.settings:SqliteSettings",
        ),
    )
