"""Captured rollouts for tests of pure functions: blobs in memory, and values that mention them."""

from __future__ import annotations

from collections.abc import Mapping

from harness2_core.api import Digest, Entry, Manifest, Outcome, Rollout, blob_entry, decode_manifest


class Blobs:
    """What a store would hold. Everything put here is found again by digest."""

    def __init__(self) -> None:
        self._data: dict[Digest, bytes] = {}

    def put(self, data: bytes | str) -> Entry:
        raw = data.encode() if isinstance(data, str) else data
        self._data[blob_entry(raw).digest] = raw
        return blob_entry(raw)

    def manifest(self, files: Mapping[str, bytes | str]) -> Manifest:
        made = Manifest({path: self.put(data) for path, data in files.items()})
        self.put(made.encode())
        return made

    def add(self, new: Mapping[Digest, bytes]) -> None:
        for data in new.values():
            self.put(data)

    def rollout(
        self,
        label: str,
        files: Mapping[str, bytes | str] | None = None,
        *,
        transcript: str | None = None,
        outcome: Outcome = Outcome.FINISHED,
        delivered: bool | None = None,
        views: Mapping[str, bytes | str] | None = None,
    ) -> Rollout:
        """A rollout that left `files`; its views are `<name>.txt` with the same content unless given."""
        made = files or {}
        shown = {f"{path}.txt": data for path, data in made.items()} if views is None else views
        said = f"[ASSISTANT]\nI am {label}.\n" if transcript is None else transcript
        return Rollout(
            request=blob_entry(label.encode()).digest,
            outcome=outcome,
            delivered=bool(made) if delivered is None else delivered,
            transcript=self.put(said),
            deliverables=self.manifest(made),
            views=self.manifest(shown),
        )

    def texts(self) -> dict[Digest, str]:
        """Every blob that is UTF-8 text."""
        found = {}
        for digest, data in self._data.items():
            try:
                found[digest] = data.decode()
            except UnicodeDecodeError:
                continue
        return found

    def flat(self, manifest: Manifest) -> dict[str, Entry]:
        """Every file of `manifest`, nested ones included."""
        files: dict[str, Entry] = {}
        for path, entry in manifest.entries.items():
            if path.endswith("/"):
                inner = self.flat(decode_manifest(self._data[entry.digest]))
                files.update({path + name: item for name, item in inner.items()})
            else:
                files[path] = entry
        return files

    def files(self, manifest: Manifest) -> dict[str, str]:
        """Every file's text; a `KeyError` when a blob was never put."""
        entries = self.flat(manifest).items()
        return {path: self._data[entry.digest].decode("utf-8", "replace") for path, entry in entries}
