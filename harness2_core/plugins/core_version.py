"""Whether a distribution's requirement of harness2-core admits this core.

pip checks it when it installs; later upgrades, forced installs and `--no-deps` go round pip, and then the plugin would
fail somewhere inside. The rules of versions and markers are `packaging`'s: writing them anew would be wrong in corners.
"""

from __future__ import annotations

from functools import cache

from harness2_core import __version__


@cache
def unmet(requirements: tuple[str, ...], version: str = __version__) -> str:
    """The first requirement that `version` does not meet, as its metadata has it; empty when all are met."""
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


def wants_newer(requirement: str, version: str = __version__) -> bool:
    """Whether a newer core would meet an unmet `requirement`, as far as its bounds tell."""
    from packaging.requirements import Requirement
    from packaging.version import Version

    lower = [item for item in Requirement(requirement).specifier if item.operator in (">=", ">", "==", "~=")]
    return any(Version(item.version.removesuffix(".*")) > Version(version) for item in lower)
