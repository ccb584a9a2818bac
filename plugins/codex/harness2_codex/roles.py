"""Sub-agents of a harness as roles of Codex: files of the home, which `spawn_agent` offers by name and description.

A role's instructions take the place of what the agent itself is told beside AGENTS.md, so the list of skills follows
them: a sub-agent has the skills of the one that starts it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import PurePosixPath
from typing import Final

from harness2_core.api import HarnessTree, front_matter

from .config_file import quoted
from .surface import SURFACE

OWN_ROLES: Final = ("default", "explorer", "worker")
_FRONT_MATTER: Final = re.compile(r"\A\ufeff?---[ \t]*\r?\n.*?^---[ \t]*\r?$\n?", re.DOTALL | re.MULTILINE)


def role_files(tree: HarnessTree, skills: str) -> Mapping[str, bytes]:
    """File name below `agents/` of Codex's home -> content; `skills` is what the agent is told of them."""
    return {f"{name}.toml": _role(name, text, skills).encode() for name, text in _sub_agents(tree)}


def role_problems(tree: HarnessTree) -> Iterator[str]:
    """What Codex would not make a role of."""
    for name, text in _sub_agents(tree):
        if name in OWN_ROLES:
            yield f"sub_agents/{name}/AGENT.md: Codex has a role {name!r} of its own; choose another name"
        if not _FRONT_MATTER.sub("", text).strip():
            yield f"sub_agents/{name}/AGENT.md: says nothing below its front matter; write what the sub-agent is to do"


def _role(name: str, text: str, skills: str) -> str:
    meta = front_matter(text)
    description = "" if isinstance(meta, str) else " ".join(str(meta.get("description", "")).split())
    told = "\n\n".join(part for part in (_FRONT_MATTER.sub("", text).strip(), skills) if part)
    fields = {"name": name, "description": description, "developer_instructions": told}
    return "".join(f"{field} = {quoted(value)}\n" for field, value in fields.items())


def _sub_agents(tree: HarnessTree) -> Iterator[tuple[str, str]]:
    for path, text in sorted(tree.files.items()):
        if SURFACE.component(path) == "sub-agent":
            yield PurePosixPath(path).parent.name, text
