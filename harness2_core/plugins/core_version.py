"""Whether a distribution's requirement of harness2-core admits this core.

pip checks it when it installs; later upgrades, forced installs and `--no-deps` go round pip, and then the plugin would
fail somewhere inside. The rules of versions and markers are `packaging`'s: writing them anew would be wrong in corners.
Only bounds such as `>=0.1,<0.2` of a release such as `0.1.0`, which nearly all plugins have, are compared here: they
have no corners, and the import of `packaging` would cost every list of plugins more than reading them.
"""

from __future__ import annotations

import re
from functools import cache
from typing import Final

from harness2_core import __version__

_BOUNDS: Final = re.compile(r"[\w.-]+ ?\(?((?: ?(?:>=|<) ?[0-9]+(?:\.[0-9]+)* ?,?)*)\)?")
_BOUND: Final = re.compile(r"(>=|<) ?([0-9.]+)")
_RELEASE: Final = re.compile(r"[0-9]+(\.[0-9]+)*")


@cache
def unmet(requirements: tuple[str, ...], version: str = __version__) -> str:
    """The first requirement that `version` does not meet, as its metadata has it; empty when all are met."""
    if _RELEASE.fullmatch(version) and all(map(_BOUNDS.fullmatch, requirements)):
        return next((text for text in requirements if not _within(text, version)), "")
    return _unmet(requirements, version)


def _unmet(requirements: tuple[str, ...], version: str) -> str:
    from packaging.requirements import InvalidRequirement, Requirement  # here: listing names needs no version

    for text in requirements:
        try:
            needed = Requirement(text)
        except InvalidRequirement:
            continue  # pip refuses such metadata, so nobody installed it by mistake; it says nothing about versions
        applies = needed.marker is None or needed.marker.evaluate({"extra": ""})
        if applies and not needed.specifier.contains(version, prereleases=True):
            return text
    return ""


def _within(bounds: str, version: str) -> bool:
    """Whether a release lies within bounds of releases."""
    for operator, text in _BOUND.findall(bounds):
        here, bound = ([int(part) for part in item.split(".")] for item in (version, text))
        length = max(len(here), len(bound))
        here, bound = (item + [0] * (length - len(item)) for item in (here, bound))
        if (here >= bound) is not (operator == ">="):
            return False
    return True


def wants_newer(requirement: str, version: str = __version__) -> bool:
    """Whether a newer core would meet an unmet `requirement`, as far as its bounds tell."""
    from packaging.requirements import Requirement
    from packaging.version import Version

    lower = [item for item in Requirement(requirement).specifier if item.operator in (">=", ">", "==", "~=")]
    return any(Version(item.version.removesuffix(".*")) > Version(version) for item in lower)
