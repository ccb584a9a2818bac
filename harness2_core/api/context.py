"""What a worker lends to plugin code while one request runs."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from harness2_core.model.canonical import Digest
from harness2_core.model.channel import Channel
from harness2_core.model.process import Endpoint, Exit, Install, Place

if TYPE_CHECKING:
    from .substrates import Substrate


class Context(Protocol):
    """Given to plugin code with each request; the only way to processes and models that is confined and metered."""

    @property
    def key(self) -> Digest:
        """The request's digest: the idempotency key for a remote service."""

    @property
    def scratch(self) -> Path:
        """A private directory outside the workspace, removed afterwards."""

    def place(self, cwd: Path) -> Place:
        """Where a program that `spawn` runs with this `cwd` sees things: what `Substrate.install` is to be told."""

    def spawn(self, install: Install, cwd: Path, limit_seconds: int) -> Exit:
        """Runs a program to its end, supervised, sandboxed and metered; `cwd` becomes its workspace.

        `install.files` go below `cwd`, `install.home` into a fresh private home. Raises `Lost` when it could not run.
        """

    def substrate(self, name: str) -> Substrate:
        """An installed substrate, by name or token."""

    def endpoint(self, channel: Channel, *, own: bool = False) -> Endpoint:
        """Model access for this request, as a program that `spawn` runs reaches it: what `install` is to be told.

        `own`: as code of this process, or a container of its making, reaches it. In a sandbox these differ.
        """

    def cancelled(self) -> bool:
        """Whether the work is no longer wanted: return soon."""
