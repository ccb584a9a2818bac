"""How a test alters what a store keeps, behind its back."""

from __future__ import annotations

from pathlib import Path

from harness2_core.api import Store


class Flips:
    def flip_byte(self, store: Store, runs: Path, marker: bytes) -> None:
        """Alters every stored copy of `marker` by one bit, behind the store's back."""
        close = getattr(store, "close", None)
        if close is not None:
            close()
        found = 0
        for path in (path for path in runs.rglob("*") if path.is_file()):
            data = path.read_bytes()
            if marker in data:
                found += 1
                path.write_bytes(data.replace(marker, bytes([marker[0] ^ 1]) + marker[1:]))
        assert found, "the store keeps values in a form that this test does not find: override flip_byte"
