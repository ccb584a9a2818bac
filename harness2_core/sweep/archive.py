"""Typed access to the records in a store: which kind, which key, which type. Reads are cached a little, values freeze.

Kinds and keys: `rollout`, `session`, `grade` by request digest; `bases`, `view`, `mode`, `adoption`, `forgotten` and
`opening` by `<namespace>[@<attempt>]/<task>`. Everything is first-wins, so what was read once stays true.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from functools import cached_property, lru_cache
from threading import Lock
from typing import Final, TypeVar

from harness2_core import HOME
from harness2_core.api.runtime import Store
from harness2_core.model.canonical import Digest
from harness2_core.model.channel import Usage
from harness2_core.model.errors import StoreError
from harness2_core.model.manifest import Entry, Manifest
from harness2_core.model.namespace import Namespace
from harness2_core.model.records import (
    RESULTS,
    Adoption,
    BasesRecord,
    Grade,
    ModeRecord,
    Opening,
    Reply,
    Rollout,
    ViewRecord,
)
from harness2_core.model.serial import dump, load, load_field
from harness2_core.model.tree import HarnessTree
from harness2_core.work import trees
from harness2_core.work.wholeness import retire

T = TypeVar("T")

_LASTING: Final = frozenset({"bases", "view", "mode", "opening"})
"""Kinds that are written once, and read again while their task is at work; `drop_view` forgets its own here too."""

CACHED: Final = 256
"""Values of each type kept in memory: enough for the tasks at work, whatever the length of the sweep."""
RESULTS_CACHED: Final = 2 * CACHED
"""Of results there are two types, which share their room."""
STORED: Final = 10_000
"""Digests of blobs kept in memory: enough for the tasks at work."""


class Archive:
    """The records and texts of one store."""

    def __init__(self, store: Store) -> None:
        self.store = store
        self.tree = lru_cache(CACHED)(self._tree)
        self.manifest = lru_cache(CACHED)(self._manifest)
        self.notes = lru_cache(CACHED)(self.text)
        """Texts that several later sessions read: notes of stages."""
        self._adopted: dict[str, Adoption] = {}
        """Entries of libraries read so far: some kilobytes a task, and each is read for every later task."""
        self._found: dict[tuple[str, str], object] = {}
        """Records of tasks read so far, of kinds that last."""
        self._results: dict[tuple[str, Digest], object] = {}
        """Rollouts and replies read lately: who asked for them reads them, and who counts what was paid."""
        self._retired = 0
        """How many results were taken out."""
        self._stored: set[Digest] = set()
        """Blobs that this process has made sure of: stages of a task show the same again and again."""
        self._one_by_one = Lock()

    # -- results of paid work, by request digest

    def has(self, kind: str, digest: Digest) -> bool:
        return self.store.get(kind, digest) is not None

    def rollout(self, digest: Digest) -> Rollout:
        return self._kept("rollout", digest, Rollout)

    def reply(self, digest: Digest) -> Reply:
        return self._kept("session", digest, Reply)

    def grade(self, digest: Digest) -> Grade | None:
        return self._optional("grade", digest, Grade)

    def retire(self, kind: str, digest: Digest) -> None:
        """Takes out a record that has lost some of what it leads to; the caller holds the request's claim."""
        retire(self.store, kind, digest)
        with self._one_by_one:
            self._retired += 1
            self._results.pop((kind, digest), None)
        self.lost()

    def lost(self) -> None:
        """Blobs are gone from the store: none that this process has put is taken for stored any more."""
        self._stored.clear()

    def usage(self, kind: str, digest: Digest) -> Usage | None:
        """What the record of a result says of its cost; `None`: there is no such record."""
        held = self._results.get((kind, digest))
        if isinstance(held, Rollout | Reply):
            return held.usage
        data = self.store.get(kind, digest)
        return None if data is None else load_field(data, RESULTS[kind], "usage", Usage, f"{kind} {digest}")

    # -- what tasks ended with

    def bases(self, home: Namespace, task: str, attempt: int = 1) -> BasesRecord | None:
        return self._optional("bases", _key(home, task, attempt), BasesRecord)

    def view(self, namespace: Namespace, task: str, attempt: int = 1) -> ViewRecord | None:
        return self._optional("view", _key(namespace, task, attempt), ViewRecord)

    def drop_view(self, namespace: Namespace, task: str, attempt: int) -> None:
        """Of one that cannot be shown any more."""
        key = _key(namespace, task, attempt)
        self.store.delete("view", key)
        self._found.pop(("view", key), None)

    def mode(self, namespace: Namespace, task: str, attempt: int = 1) -> ModeRecord | None:
        return self._optional("mode", _key(namespace, task, attempt), ModeRecord)

    def openings(self, namespace: Namespace, task: str) -> Mapping[int, Opening]:
        """Attempt -> how the task was opened for it; the first attempt has an opening only when it began afresh."""
        if not self._opened:
            return {}
        home, attempt, found = namespace.of_mode(HOME), 1, {}
        while (key := _key(home, task, attempt)) in self._opened or attempt == 1:
            opening = self._optional("opening", key, Opening) if key in self._opened else None
            if opening is not None:
                found[attempt] = opening
            attempt += 1
        return found

    def attempt(self, namespace: Namespace, task: str) -> int:
        """The number of the latest attempt at the task, begun or not."""
        return max(self.openings(namespace, task), default=1)

    def ended(self, namespace: Namespace, task: str) -> int:
        """The number of the latest attempt at this mode of this task that came to its end; 0: none did."""
        for attempt in range(self.attempt(namespace, task), 0, -1):
            key = _key(namespace, task, attempt)
            if ("mode", key) in self._found or self.store.get("mode", key) is not None:
                return attempt
        return 0

    def latest_mode(self, namespace: Namespace, task: str) -> ModeRecord | None:
        """The record of the latest attempt at this mode of this task that came to its end."""
        return self._latest(namespace, task, self.mode)

    def latest_bases(self, home: Namespace, task: str) -> BasesRecord | None:
        return self._latest(home, task, self.bases)

    def adoptions(self, namespace: Namespace, tasks: Iterable[str]) -> tuple[Adoption, ...]:
        """The library's entries of these tasks, of the latest attempt of each, without what a person had forgotten."""
        forgotten = {key for key, _ in self.store.scan("forgotten")}
        keys = (self._adopted_key(namespace, task) for task in tasks)
        return tuple(self._adopted[key] for key in keys if key and key not in forgotten)

    def has_adoption(self, namespace: Namespace, task: str, attempt: int) -> bool:
        return self.store.get("adoption", _key(namespace, task, attempt)) is not None

    def forget(self, namespace: Namespace, task: str) -> None:
        """Hides the library's entry of this task, on a person's wish; an attempt that is open may bring another."""
        for attempt in range(1, self.attempt(namespace, task) + 1):
            if self.has_adoption(namespace, task, attempt):
                self.store.put("forgotten", _key(namespace, task, attempt), b"{}")

    def keep(self, namespace: Namespace, task: str, record: object, attempt: int = 1) -> bool:
        """Puts a task's record under its kind; False when one was there, which stays."""
        kinds = {
            BasesRecord: "bases",
            ViewRecord: "view",
            ModeRecord: "mode",
            Adoption: "adoption",
            Opening: "opening",
        }
        kind, key = kinds[type(record)], _key(namespace, task, attempt)
        if kind == "opening":
            self._opened.add(key)
        return self.store.put(kind, key, dump(record))

    # -- texts and trees

    def text(self, digest: Digest) -> str:
        """A blob as text; bytes that are not UTF-8 are replaced."""
        return trees.read_blob(self.store, digest).decode(errors="replace")

    def _manifest(self, digest: Digest) -> Manifest:
        return trees.read_manifest(self.store, digest)

    def _tree(self, digest: Digest) -> HarnessTree:
        return trees.read_tree(self.store, digest)

    def put_new(self, new: Mapping[Digest, bytes]) -> None:
        """Stores what a bundle made, but for what this process has stored already, and does not know to be lost."""
        missing = {digest: data for digest, data in new.items() if digest not in self._stored}
        trees.put_blobs(self.store, missing)
        if len(self._stored) >= STORED:
            self._stored.clear()
        self._stored.update(missing)

    def flat(self, manifest: Manifest) -> Mapping[str, Entry]:
        """Path -> blob of every file, nested manifests resolved."""
        return trees.flatten(self.store, manifest)

    def _adopted_key(self, namespace: Namespace, task: str) -> str:
        """The key of the task's entry, which is in `_adopted` then; empty when it has none."""
        for attempt in range(self.attempt(namespace, task), 0, -1):
            key = _key(namespace, task, attempt)
            found = self._adopted.get(key) or self._optional("adoption", key, Adoption)
            if found is not None:
                self._adopted[key] = found
                return key
        return ""

    def _latest(self, namespace: Namespace, task: str, read: Callable[[Namespace, str, int], T | None]) -> T | None:
        for attempt in range(self.attempt(namespace, task), 0, -1):
            found = read(namespace, task, attempt)
            if found is not None:
                return found
        return None

    def _kept(self, kind: str, digest: Digest, type_: type[T]) -> T:
        held = self._results.get((kind, digest))
        if isinstance(held, type_):
            return held
        retired = self._retired
        record = self._required(kind, digest, type_)
        with self._one_by_one:
            if retired != self._retired:  # meanwhile; it may have been this one
                return record
            if len(self._results) >= RESULTS_CACHED:
                del self._results[next(iter(self._results))]
            self._results[kind, digest] = record
        return record

    def _required(self, kind: str, key: str, type_: type[T]) -> T:
        record = self._optional(kind, key, type_)
        if record is None:
            raise StoreError(
                f"the store has no {kind} {key}",
                "it was deleted: run the same command again; of a finished task, with `--retry dead`",
            )
        return record

    @cached_property
    def _opened(self) -> set[str]:
        """Keys of all openings, as this process found them: few, and asked for at every turn."""
        return {key for key, _ in self.store.scan("opening")}

    def _optional(self, kind: str, key: str, type_: type[T]) -> T | None:
        held = self._found.get((kind, key))
        if isinstance(held, type_):
            return held
        data = self.store.get(kind, key)
        if data is None:
            return None
        record = load(data, type_, f"{kind} {key}")
        if kind in _LASTING:
            if len(self._found) >= CACHED:
                self._found.clear()
            self._found[kind, key] = record
        return record


def _key(namespace: Namespace, task: str, attempt: int) -> str:
    """The number stands where no task's name can be taken for it."""
    return f"{namespace}{f'@{attempt}' if attempt > 1 else ''}/{task}"
