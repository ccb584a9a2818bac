"""Is this folder a harness for that agent? The rules that improvers are held to, applied to any folder."""

from __future__ import annotations

from pathlib import Path

from attrs import field, frozen

from harness2_core.api.adapters import ChecksTree
from harness2_core.api.substrates import RemoteAgent, Substrate
from harness2_core.model.acceptance import Accepted, accept
from harness2_core.model.canonical import Digest
from harness2_core.model.errors import ConfigError
from harness2_core.model.frozen import sayings
from harness2_core.work.nofollow import chunks, open_regular, walk


@frozen
class Linted:
    """`problems` would have an improver's edit refused; `notes` say what would be ignored or repaired."""

    surface: str
    files: int
    problems: tuple[str, ...] = field(converter=sayings, default=())
    notes: tuple[str, ...] = field(converter=sayings, default=())
    fingerprint: Digest = ""
    """Of the tree as it would be taken, repairs included; empty when it would not."""


def lint(directory: Path, agent: Substrate | RemoteAgent) -> Linted:
    """What is wrong with the harness in `directory`. Links and devices in it are problems, and are not followed."""
    if not directory.is_dir():
        raise ConfigError(f"{directory}: no such directory", "name the folder that holds a harness")
    surface = agent.surface
    files: dict[str, bytes] = {}
    problems: list[str] = []
    for found in walk(directory):
        if found.kind:
            problems.append(f"{found.path!r} is {found.kind}; a harness holds regular files only")
        elif found.size > 4 * surface.max_chars:  # the longest form of so many characters
            problems.append(f"{found.path!r} has {found.size:,} bytes, more than a whole harness may have")
        else:
            files[found.path] = b"".join(chunks(open_regular(directory, found.path)))
    result = accept(surface, files, (agent.check_tree,) if isinstance(agent, ChecksTree) else ())
    if isinstance(result, Accepted):
        fingerprint = "" if problems else result.tree.fingerprint
        return Linted(surface.name, len(files), tuple(problems), result.notes, fingerprint)
    return Linted(surface.name, len(files), (*problems, *result.problems), result.notes)
