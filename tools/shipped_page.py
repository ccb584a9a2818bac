"""Writes `docs/shipped.md`: every plugin of this checkout, from the metadata and summaries that they are found by.

    python tools/shipped_page.py            writes the page
    python tools/shipped_page.py --check    says whether it is up to date; exit code 1 if it is not

Needs core and the plugins of this checkout installed: `make demo` does that.
"""

from __future__ import annotations

import sys
import tomllib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Final

from configuration_page import cell, shipped
from written_page import write

from harness2_core.model.kinds import KINDS, plural
from harness2_core.plugins.discovery import Found, normal
from harness2_core.plugins.registry import Registry

ROOT: Final = Path(__file__).resolve().parent.parent
PAGE: Final = ROOT / "docs" / "shipped.md"

HEAD: Final = """\
# Plugins that come along

<!-- Written by `python tools/shipped_page.py` from the plugins' metadata. Change those, and run it again. -->

They use the same hooks as yours, and have no privilege. `harness2 plugins list` says what is installed where you are.
The default of a kind is what the bundle `harness2` names, and is used where the configuration says nothing.
"""


def page() -> str:
    """The whole page."""
    registry, folders = Registry.installed(), shipped()
    parts = [HEAD, "## Distributions\n", *_distributions()]
    for kind in KINDS:
        ours = [found for found in registry.catalog.all(kind) if normal(found.distribution) in folders]
        if ours:
            parts.append(f"## {plural(kind).capitalize()}\n")
            parts += _table(registry, kind, ours, folders)
    return "\n".join(parts)


def _distributions() -> Iterator[str]:
    yield "| distribution | what it is |\n| --- | --- |"
    for file in sorted(ROOT.glob("plugins/*/pyproject.toml")):
        project = tomllib.loads(file.read_text(encoding="utf-8"))["project"]
        yield f"| [`{project['name']}`](../plugins/{file.parent.name}/README.md) | {cell(project['description'])} |"
    yield ""


def _table(registry: Registry, kind: str, ours: list[Found], folders: Mapping[str, str]) -> Iterator[str]:
    default = "" if kind in ("command", "listener") else registry.default(kind)
    yield "| name | what it is | from |\n| --- | --- | --- |"
    for found in ours:
        token = f" (`{found.token}`)" if found.token and found.token != found.name else ""
        summary = cell(registry.provider(kind, found.name).summary) if kind != "listener" else ""
        mark = " The default." if found.name == default else ""
        folder = folders[normal(found.distribution)]
        yield f"| `{found.name}`{token} | {summary}.{mark} | [`{found.distribution}`](../plugins/{folder}/README.md) |"
    yield ""


FILES: Final = {PAGE: page}

if __name__ == "__main__":
    sys.exit(write(FILES, sys.argv[1:]))
