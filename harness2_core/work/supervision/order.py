"""What a supervisor is asked to do, and what it answers: JSON each way.

Plain classes instead of attrs values: the supervisor sees the standard library only.
"""

from __future__ import annotations

import json
import os

CANCEL = b"c"
"""The one command that may follow an order."""

_LENGTH_BYTES = 8


class Order:
    """Paths, argv and environment may hold undecodable bytes as surrogate escapes: JSON carries them unharmed."""

    def __init__(
        self,
        *,
        argv: list[str],
        cwd: str,
        env: dict[str, str],
        stdin: int,
        stdout: str,
        stderr: str,
        stream_bytes: int,
        limit_ms: int,
        grace_ms: int,
        memory_mb: int,
        processes: int,
        disk_mb: int,
        written: list[str],
    ) -> None:
        self.argv = argv
        self.cwd = cwd
        self.env = env
        self.stdin = stdin
        """An inherited descriptor; it becomes the program's standard input."""
        self.stdout = stdout
        self.stderr = stderr
        self.stream_bytes = stream_bytes
        self.limit_ms = limit_ms
        self.grace_ms = grace_ms
        self.memory_mb = memory_mb
        self.processes = processes
        self.disk_mb = disk_mb
        self.written = written
        """Directories whose files count against `disk_mb`."""

    def encode(self) -> bytes:
        """As sent: its length, then itself, so that commands may follow."""
        text = json.dumps(vars(self)).encode()
        return len(text).to_bytes(_LENGTH_BYTES, "big") + text


def read_order(descriptor: int) -> Order | None:
    """The order that comes through `descriptor`, and not a byte more; None when its sender went first."""
    head = _read_exactly(descriptor, _LENGTH_BYTES)
    text = _read_exactly(descriptor, int.from_bytes(head, "big")) if head else b""
    return Order(**json.loads(text)) if text else None


class Report:
    """How it ended. With `failed`, the program never ran: `argv`, `cwd` or `start`, and `detail` says why."""

    def __init__(
        self,
        *,
        code: int | None = None,
        signal: int | None = None,
        timed_out: bool = False,
        cancelled: bool = False,
        truncated: bool = False,
        elapsed_ms: int = 0,
        user_ms: int = 0,
        system_ms: int = 0,
        max_rss_kib: int = 0,
        left_behind: int = 0,
        limits: str = "none",
        exceeded: str = "",
        survivors: list[int] | None = None,
        disk: str = "",
        failed: str = "",
        detail: str = "",
    ) -> None:
        self.code = code
        self.signal = signal
        self.timed_out = timed_out
        self.cancelled = cancelled
        self.truncated = truncated
        self.elapsed_ms = elapsed_ms
        self.user_ms = user_ms
        self.system_ms = system_ms
        self.max_rss_kib = max_rss_kib
        self.left_behind = left_behind
        self.limits = limits
        self.exceeded = exceeded
        self.survivors = survivors or []
        """Descendants that could not be killed: of another user, or stuck in the kernel."""
        self.disk = disk
        """Why a stream could not be written."""
        self.failed = failed
        self.detail = detail

    def encode(self) -> bytes:
        return json.dumps(vars(self)).encode()


def decode_report(text: bytes) -> Report:
    """Raises `ValueError` or `TypeError` for anything that is no report."""
    value = json.loads(text)
    if not isinstance(value, dict):
        raise ValueError("not an object")
    return Report(**value)


def _read_exactly(descriptor: int, size: int) -> bytes:
    """Nothing when the end comes before `size` bytes."""
    data = bytearray()
    while len(data) < size:
        part = os.read(descriptor, size - len(data))
        if not part:
            return b""
        data += part
    return bytes(data)
