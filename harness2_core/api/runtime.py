"""Where results live, where work runs, how it is confined, how models are reached."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from concurrent.futures import Future
from contextlib import AbstractContextManager
from pathlib import Path
from typing import BinaryIO, Protocol, TypeAlias, runtime_checkable

from harness2_core.model.assignment import Assignment, Ended
from harness2_core.model.canonical import Digest
from harness2_core.model.channel import Channel, Usage
from harness2_core.model.process import Endpoint, Exit, Place, Policy

Work: TypeAlias = "Future[tuple[Ended, ...]]"
Call: TypeAlias = Callable[[Assignment], tuple[Ended, ...]]


@runtime_checkable
class Store(Protocol):
    """Blobs by digest, small records first-wins, claims. Made by `factory(settings, runs)` with the runs directory.

    Safe for threads and processes. Every error is a `StoreError` that says what to do; nothing already stored is lost.
    """

    def put_blob(self, source: Path | bytes) -> Digest:
        """Stores bytes or a file's content (streamed); storing it again costs little."""

    def has_blob(self, digest: Digest) -> bool:
        """Presence and size only; `open_blob` verifies bytes."""

    def open_blob(self, digest: Digest) -> BinaryIO:
        """Verified while read: `Damaged` at the end of altered bytes, `StoreError` when absent."""

    def put(self, kind: str, key: str, value: bytes) -> bool:
        """Atomic, first wins: False when the key was there already, whose value stays."""

    def get(self, kind: str, key: str) -> bytes | None:
        """The value of a record, or `None`. `Damaged` when its bytes are not those that were put."""

    def scan(self, kind: str) -> Iterator[tuple[str, int]]:
        """(key, size in bytes) of every record of a kind, sorted by key."""

    def delete(self, kind: str, key: str) -> None:
        """Forgets a record; absent is fine. `kind` `blob` deletes a blob."""

    def claim(self, key: str) -> AbstractContextManager[bool]:
        """Entering says whether the claim is ours; never blocks, and dies with its owner."""


@runtime_checkable
class TakesMany(Protocol):
    """A store that puts or reads many small blobs in less time than one after the other: a database, a remote one."""

    def put_blobs(self, blobs: Mapping[Digest, bytes]) -> None:
        """As `put_blob` of each, under digests that the caller has made of these bytes.

        Killed on the way, some may be there and others not.
        """

    def read_blobs(self, digests: Collection[Digest]) -> Mapping[Digest, bytes]:
        """All bytes of each, verified: `Damaged` when they were altered, `StoreError` when one is absent."""


@runtime_checkable
class Engine(Protocol):
    """Runs work. The scheduler calls it from one thread; `api.executor_engine` makes one from any executor."""

    def submit(self, call: Call, work: Assignment) -> Work:
        """Begins `call(work)`; `call` is a module-level function. The future never raises for what befell a request."""

    def wait(self, seconds: float | None) -> Sequence[Work]:
        """Futures done since the last call; waits for the first, at most so long. A virtual clock advances here."""

    def now(self) -> float:
        """Seconds on this engine's clock."""

    def cancel(self, request: Digest) -> None:
        """Ends a request's work; its process tree is dead when the future ends."""

    def close(self) -> None:
        """Cancels what runs and frees everything."""


@runtime_checkable
class Sandbox(Protocol):
    """Confinement as a change of argv; the supervisor stays outside."""

    def wrap(self, argv: Sequence[str], policy: Policy, place: Place) -> Sequence[str]:
        """The command that runs `argv` under `policy`. Raises `ConfigError` for what it cannot grant or deny."""

    def works(self) -> str:
        """Empty when it works on this machine, else the reason in words."""


@runtime_checkable
class TellsFailure(Protocol):
    """A sandbox that can tell its own failure to start from what the program inside did: a loss, not an outcome."""

    def failure(self, exit: Exit) -> str:
        """Why the program never ran, in words; empty when it did."""


@runtime_checkable
class ModelAccess(Protocol):
    """Endpoint and key for a channel and a request, and the usage seen on the way."""

    def open(self, channel: Channel, key: Digest, role: str) -> AbstractContextManager[Endpoint]:
        """Access for the request `key` while the context lasts; leaving it ends what was granted. Raises `Lost`."""

    def usage(self, key: Digest) -> Usage | None:
        """What was seen to be used by the request `key`; `None` when nothing stands in between that could see it."""


@runtime_checkable
class ChecksChannels(Protocol):
    """Model access that can tell, before anything is paid, why a channel could not be opened."""

    def channel_problems(self, channel: Channel, role: str) -> Sequence[str]:
        """What would fail when a request of `role` came, each with its remedy; calls no model."""
