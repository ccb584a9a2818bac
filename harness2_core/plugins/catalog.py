"""Looking names up among what is installed, by name, token or `distribution:name`; metadata only.

A name that two distributions offer is an error when it is used, not before: the error lists both and says how to
decide. Everything here is pure and cheap; nothing is imported.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from harness2_core import __version__
from harness2_core.model.errors import PluginError
from harness2_core.model.kinds import KINDS, plural
from harness2_core.model.nearest import near

from .core_version import unmet, wants_newer
from .discovery import Flaw, Found, Scan, normal, release_that_fits
from .off_switches import OffSwitch


@dataclass(frozen=True, slots=True)
class Catalog:
    """What is installed and switched on. `built_in` are core's own, found like any other."""

    scan: Scan
    switches: tuple[OffSwitch, ...] = ()
    built_in: tuple[Found, ...] = ()

    def all(self, kind: str) -> tuple[Found, ...]:
        """Every usable entry of a kind, clashing names included, sorted by name and distribution."""
        return tuple(item for item in self.listed(kind) if not unmet(item.core))

    def listed(self, kind: str) -> tuple[Found, ...]:
        """As `all`, with those that do not fit this core: it reads no versions, for which `--help` has no time."""
        found = [item for item in (*self.built_in, *self.scan.found) if item.kind == kind and not self.off(item)]
        return tuple(sorted(found, key=lambda item: (item.name, item.distribution)))

    def names(self, kind: str) -> tuple[str, ...]:
        """The distinct names of a kind, sorted."""
        return tuple(dict.fromkeys(item.name for item in self.all(kind)))

    def off(self, found: Found) -> OffSwitch | None:
        """The switch that keeps `found` from being imported."""
        return next((switch for switch in self.switches if switch.covers(found)), None)

    def rivals(self, found: Found) -> tuple[Found, ...]:
        """Other entries that answer to the same name."""
        return tuple(item for item in self._matching(found.kind, found.name) if item != found)

    def find(self, kind: str, name: str) -> Found:
        """The one entry that `name` means; `PluginError` for none (with near names) and for several (how to decide)."""
        if kind not in KINDS:
            raise PluginError(
                f"there is no kind of plugin {kind!r}", f"{near(kind, KINDS)}known are {', '.join(KINDS)}"
            )
        matching = self._matching(kind, name)
        if not matching:
            raise self._unknown(kind, name)
        if len(matching) > 1:
            raise clash(kind, name, matching)
        return matching[0]

    def named(self, name: str) -> tuple[Found, ...]:
        """The entries of any kind that `name`, `kind.name` or `distribution:name` means, disabled ones included."""
        installed = (*self.built_in, *self.scan.found)
        distribution, colon, rest = name.rpartition(":")
        kind, _, alone = rest.partition(".")
        return tuple(
            item
            for item in installed
            if _answers(item, name) or (item.kind == kind and _answers(item, distribution + colon + alone))
        )

    def _matching(self, kind: str, name: str) -> tuple[Found, ...]:
        return tuple(item for item in self.all(kind) if _answers(item, name))

    def _unknown(self, kind: str, name: str) -> PluginError:
        """Says the most useful thing: switched off, of another API version, unreadable, or simply not there."""
        for found in self.named(name):
            switch = self.off(found)
            if found.kind == kind and switch is not None:
                return PluginError(f"{found} is disabled by {switch.origin}", _switch_on(switch))
            if found.kind == kind and unmet(found.core):
                return misfit(found)
        for flaw in self.scan.flaws:
            if flaw.found is not None and flaw.found.kind == kind and name in (flaw.found.name, flaw.found.token):
                return flaw_error(flaw)
        known = [form for item in self.all(kind) for form in (item.name, item.token) if form]
        listed = ", ".join(self.names(kind))
        return PluginError(
            f"no {kind} is named {name!r}",
            f"{near(name, known)}installed: {listed}" if listed else nothing_installed(kind),
        )


def _answers(found: Found, name: str) -> bool:
    """Whether `name` is the entry's name or token, alone or behind its distribution."""
    distribution, _, rest = name.rpartition(":")
    return rest in (found.name, found.short) and (
        not distribution or normal(distribution) == normal(found.distribution)
    )


def clash(kind: str, name: str, found: Sequence[Found]) -> PluginError:
    """The error for a name that several entries answer to."""
    offers = "; ".join(f"{item.source} ({item.module})" for item in found)
    same = len({normal(item.distribution) for item in found}) < len(found)
    decide = " or ".join(repr(item.name if same else item.qualified) for item in found)
    return PluginError(
        f"{kind} {name!r} is offered more than once: {offers}",
        f"write {decide} instead, or switch one off with `harness2 plugins disable <distribution>`",
    )


def misfit(found: Found) -> PluginError:
    """The error for an entry whose distribution does not admit this core."""
    needed = unmet(found.core)
    return PluginError(
        f"{found} requires {needed}, this is {__version__}", release_that_fits(found, wants_newer(needed))
    )


def flaw_error(flaw: Flaw) -> PluginError:
    """The error for using what a flawed entry names."""
    return PluginError(f"{flaw.entry!r} of {flaw.distribution} {flaw.version}: {flaw.what}", flaw.remedy)


def nothing_installed(kind: str) -> str:
    return f"no {kind} is installed: `pip install harness2` brings the default {plural(kind)}"


def _switch_on(switch: OffSwitch) -> str:
    if switch.origin.endswith("plugins.toml"):
        return f"`harness2 plugins enable {switch.name}` switches it on"
    return f"leave {switch.name!r} out of {switch.origin}"
