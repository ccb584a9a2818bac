"""What is installed, from metadata alone: no plugin module is imported here.

An entry of group `harness2.v1` reads `<kind>.<name> = package.module` or `<kind>.<name>.<token> = package.module`; the
number is the plugin API version. What cannot be used (a version that is not supported, a malformed entry, an unknown
kind) is kept as a `Flaw`, so that it is reported by name instead of being missed in silence.
"""

from __future__ import annotations

import itertools
import re
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass  # not attrs: `harness2 --help` lists command plugins, and must stay cheap
from typing import TYPE_CHECKING, Final, Protocol

from harness2_core.model.kinds import DEFAULTS, KINDS
from harness2_core.model.nearest import near

if TYPE_CHECKING:
    from importlib.metadata import Distribution

API_VERSION: Final = 1
"""The plugin API that this core speaks, and that new plugins are written for."""

OLDEST_API: Final = 1
"""The oldest version whose plugins still run. All between the two are understood."""

GROUP: Final = f"harness2.v{API_VERSION}"

_GROUP: Final = re.compile(r"harness2\.v(.*)", re.DOTALL)
_NAME: Final = re.compile(r"[a-z][a-z0-9_\-]*")
_TOKEN: Final = re.compile(r"[a-z]{2,8}")
_MODULE: Final = re.compile(r"[^\W\d]\w*(\.[^\W\d]\w*)*")
_CORE: Final = re.compile(r"harness2[-_.]+core(?![\w.-])", re.IGNORECASE)
_NAMED_IN_NAMESPACES: Final = ("substrate", "mode")


@dataclass(frozen=True, slots=True)
class Found:
    """One entry point. `distribution` is the name on the index, which need not be the package's."""

    kind: str
    name: str
    token: str
    """Short name; empty when the entry gives none."""
    module: str
    distribution: str
    version: str
    group: str = GROUP
    core: tuple[str, ...] = ()
    """What the distribution's metadata requires of harness2-core, as written there."""

    @property
    def api(self) -> int:
        """The version of the plugin API that it is written for."""
        return int(self.group.removeprefix("harness2.v"))

    @property
    def short(self) -> str:
        """The name used in namespaces."""
        return self.token or self.name

    @property
    def source(self) -> str:
        """Distribution and version, as recorded and as shown to people."""
        return f"{self.distribution} {self.version}"

    @property
    def qualified(self) -> str:
        """The name that no other distribution shares."""
        return f"{self.distribution}:{self.name}"

    def __str__(self) -> str:
        return f"{self.kind} {self.name!r} of {self.source}"


@dataclass(frozen=True, slots=True)
class Flaw:
    """Why an entry of a distribution cannot be used. `found` is set when at least its name could be read."""

    distribution: str
    version: str
    entry: str
    what: str
    remedy: str
    found: Found | None = None


@dataclass(frozen=True, slots=True)
class Scan:
    """Everything that the installed distributions say, sorted by kind, name and distribution."""

    found: tuple[Found, ...] = ()
    flaws: tuple[Flaw, ...] = ()


def scan(path: Sequence[str] | None = None) -> Scan:
    """Reads the metadata of every distribution on `path`, by default `sys.path`; each counts once, the first there."""

    read: list[Found | Flaw | None] = []
    folders = list(sys.path if path is None else path)
    for distribution in _speaking(folders):
        name, version = distribution.metadata["Name"], distribution.version or "unknown"
        core = tuple(text for text in distribution.requires or () if is_core(text))
        try:
            entries = list(dict.fromkeys(distribution.entry_points))
        except (
            Exception
        ) as error:  # the file is anyone's: a line without '=' raises a TypeError, a later Python another
            read.append(
                Flaw(name, version, "entry_points.txt", f"its entry points cannot be read: {error}", _reinstall(name))
            )
            continue
        read += [read_entry(entry, name, version, core) for entry in entries]
    return scan_of(read)


def scan_of(read: Sequence[Found | Flaw | None]) -> Scan:
    """What was read of entries, in order; an entry that is of no use counts only when nothing else bears its name."""
    found = newest([item for item in read if isinstance(item, Found)])
    flaws = [item for item in read if isinstance(item, Flaw)]
    spoken = {(item.kind, item.name, item.distribution) for item in found}
    return Scan(
        tuple(sorted(found, key=lambda item: (item.kind, item.name, item.distribution, item.module))),
        tuple(
            flaw
            for flaw in sorted(flaws, key=lambda flaw: (flaw.distribution, flaw.entry))
            if flaw.found is None or (flaw.found.kind, flaw.found.name, flaw.found.distribution) not in spoken
        ),
    )


def is_core(requirement: str) -> bool:
    """Whether a requirement, as metadata have it, is one of harness2-core."""
    return _CORE.match(requirement.strip()) is not None


def newest(found: Sequence[Found]) -> list[Found]:
    """Without entries that the same distribution also has for a later version of the API."""

    def plugin(item: Found) -> tuple[str, str, str]:
        return item.kind, item.name, item.distribution

    best: dict[tuple[str, str, str], int] = {}
    for item in found:
        best[plugin(item)] = max(item.api, best.get(plugin(item), 0))
    return [item for item in found if item.api == best[plugin(item)]]


def normal(distribution: str) -> str:
    """A distribution's name as indexes compare it."""
    return re.sub(r"[-_.]+", "-", distribution).lower()


def _speaking(folders: list[str]) -> Iterator[Distribution]:
    """Distributions with a group of ours. One that an earlier on the path shadows says nothing."""
    from importlib import metadata  # here: the import costs more than the scan

    names: dict[str, str] = {}
    for distribution in metadata.distributions(path=folders):
        if "harness2.v" in (distribution.read_text("entry_points.txt") or ""):
            # An installation interrupted half-way leaves metadata without a name: there is nothing to report it by.
            stated = distribution.read_text("METADATA") or distribution.read_text("PKG-INFO")
            name: str | None = distribution.metadata["Name"] if stated else None
            if name:
                names.setdefault(normal(name), name)
    for name in names.values():
        yield from itertools.islice(metadata.distributions(name=name, path=folders), 1)


class Entry(Protocol):
    """An entry point, whoever read it."""

    @property
    def group(self) -> str: ...

    @property
    def name(self) -> str: ...

    @property
    def value(self) -> str: ...


def read_entry(entry: Entry, distribution: str, version: str, core: tuple[str, ...]) -> Found | Flaw | None:
    """What an entry offers, or why that cannot be used; `None` for an entry that is not ours."""
    group = _GROUP.fullmatch(entry.group)
    if group is None:
        return None
    written = f"{entry.name} = {entry.value}"

    def flaw(what: str, remedy: str, found: Found | None = None) -> Flaw:
        return Flaw(distribution, version, written, what, remedy, found)

    if not group.group(1).isdecimal():
        return flaw(f"the group {entry.group!r} names no API version", f"its author should use the group {GROUP!r}")
    kind, _, rest = entry.name.partition(".")
    name, _, token = rest.partition(".")
    found = Found(kind, name, token, entry.value, distribution, version, entry.group, core)
    if not OLDEST_API <= found.api <= API_VERSION:
        spoken = f"{API_VERSION}" if OLDEST_API == API_VERSION else f"{OLDEST_API} to {API_VERSION}"
        what = f"it speaks plugin API {found.api}, this core speaks {spoken}"
        return flaw(what, release_that_fits(found, found.api > API_VERSION), found)
    if kind not in (*KINDS, DEFAULTS):
        return flaw(
            f"there is no kind {kind!r}",
            f"{near(kind, (*KINDS, DEFAULTS))}its author should use one of {', '.join((*KINDS, DEFAULTS))}",
        )
    if not _NAME.fullmatch(name) or (token and not _TOKEN.fullmatch(token)) or rest.endswith("."):
        return flaw("its name is malformed", "it reads '<kind>.<name>' or '<kind>.<name>.<token>', in lower case")
    if kind in _NAMED_IN_NAMESPACES and not _TOKEN.fullmatch(found.short):
        return flaw(
            f"a {kind} appears in the names of runs and needs a token",
            f"its author should write '{kind}.{name}.<two to eight letters> = ...'",
        )
    if not _MODULE.fullmatch(entry.value):
        return flaw("its value is no module", "it reads 'package.module': the module that implements the hook")
    return found


def release_that_fits(found: Found, newer: bool) -> str:
    """What to install for a plugin and a core that do not fit; `newer` when it is core that is too old."""
    core = next((text.partition(";")[0].strip() for text in found.core), "harness2-core")
    if newer:
        return f"pip install -U {_quoted(core)}"
    keep = f", or keep it with the core it was written for: pip install {_quoted(core)}" if found.core else ""
    return f"pip install -U {found.distribution}{keep}"


def _quoted(requirement: str) -> str:
    return requirement if re.fullmatch(r"[\w.-]+", requirement) else f"'{requirement}'"


def _reinstall(distribution: str) -> str:
    return f"pip install --force-reinstall {distribution}"
