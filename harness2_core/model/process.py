"""Processes as values: what to run, where the agent sees things, how it ended."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from attrs import field, frozen

from .check import at_least
from .errors import InvalidValue
from .frozen import FrozenMap, frozen_map, texts
from .paths import unsafe


def _bytes_map(items: Mapping[str, bytes]) -> FrozenMap[bytes]:
    problems = [problem for path in items for problem in unsafe(path)]
    if problems:
        raise InvalidValue("; ".join(problems), "install files at normal relative paths")
    return frozen_map(items)


@frozen
class Place:
    """Absolute paths as the agent sees them: on the host, in a sandbox or in a container."""

    workspace: str
    home: str
    output: str
    """Where deliverables go."""
    temp: str = "/tmp"
    sandboxed: bool = False
    """Whether a sandbox stands around the program: rights that the agent gives itself inside go no further."""
    network: str = ""
    """What task and configuration grant, in the words of `Policy.network`; empty when that is not known."""


@frozen
class Endpoint:
    """Model access of one request. `key` works for this request only when a gateway stands in between."""

    url: str = ""
    key: str = field(default="", repr=False)
    env: FrozenMap[str] = field(converter=texts, factory=FrozenMap, repr=False)
    socket: Path | None = None
    """A unix socket of this machine that leads where `url` does: the way there for a sandbox that cuts the network."""


@frozen
class Install:
    """What a substrate describes: files to write, and what to run. `reads` are host paths the agent must read."""

    files: FrozenMap[bytes] = field(converter=_bytes_map)
    """Path in the workspace -> content."""
    home: FrozenMap[bytes] = field(converter=_bytes_map)
    """Path in the private home -> content."""
    argv: tuple[str, ...]
    env: FrozenMap[str] = field(converter=texts, repr=False)
    reads: tuple[Path, ...] = ()
    stdin: bytes = b""


@frozen
class Resources:
    """What an execution took. Times in milliseconds, memory in KiB (peak of one process)."""

    elapsed_ms: int = 0
    user_ms: int = 0
    system_ms: int = 0
    max_rss_kib: int = 0
    left_behind: int = 0
    """Descendants that were still alive at the end, and were killed."""
    limits: str = "none"
    """What enforced memory and process limits: `cgroup`, `rlimits`, `counting`, `none`."""
    exceeded: str = ""
    """The limit that ended it: `memory`, `processes`, `disk`, or empty."""


@frozen
class Exit:
    """How a supervised execution ended. Its streams are files, bounded when `truncated`; any bytes may be in them."""

    code: int | None
    """Exit status; `None` when a signal ended it."""
    signal: int | None
    timed_out: bool
    truncated: bool
    stdout: Path
    stderr: Path
    usage: Resources = field(factory=Resources)
    cancelled: bool = False


@frozen
class Mount:
    """A host path shown inside the sandbox."""

    host: Path
    writable: bool = False


@frozen
class Bridge:
    """A port of the loopback inside a sandbox, and the unix socket of this machine that answers on it."""

    port: int = field(validator=at_least(1))
    socket: Path


def _mounts(items: Mapping[str, Mount]) -> FrozenMap[Mount]:
    return frozen_map(items)


@frozen
class Policy:
    """What a sandbox grants. Everything not listed is out of reach; processes see their own kind only."""

    mounts: FrozenMap[Mount] = field(converter=_mounts)
    """Absolute path inside -> path on the host. Parents come before children."""
    network: str = "model"
    """`none`, `model`, `hosts:<name>,...` or `open`: the stricter of the task's promise and the configuration."""
    memory_mb: int = field(default=0, validator=at_least(0))
    processes: int = field(default=0, validator=at_least(0))
    bridges: tuple[Bridge, ...] = ()
    """What leads out of a sandbox whose network is `model`; nothing else does."""
    disk_mb: int = field(default=0, validator=at_least(0))
    """MiB of everything written, and of any one file. This limit, memory and processes: 0 is none."""
    limit_seconds: int = field(default=0, validator=at_least(0))
    """Wall time. The supervisor keeps all four from outside; a sandbox on another machine has to keep them itself."""
