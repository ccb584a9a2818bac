"""The list of skills as the agent is told them, by us and not by Codex's own search.

Codex looks for skills in the workspace, its repository, the user's home, /etc and its own bundle, and knows no way to
leave a place out: a skill that a task brings, or that a user has, would be part of the harness. So its own list is
switched off, and this one takes its place, in the same kind of message.
"""

from __future__ import annotations

from typing import Final

from harness2_core.api import HarnessTree, front_matter

from .surface import SKILLS, SURFACE

_HEAD: Final = """\
## Skills
A skill is a set of instructions in a file of the working directory. These are the skills you have. When a task \
names one, or is what its description speaks of, read its whole SKILL.md first and follow it; paths in it are relative \
to the working directory.
"""


def skill_list(tree: HarnessTree) -> str:
    """Name, description and path of each skill; empty when there is none."""
    lines = [_line(path, text) for path, text in sorted(tree.files.items()) if SURFACE.component(path) == "skill"]
    return _HEAD + "".join(lines) if lines else ""


def _line(path: str, text: str) -> str:
    name = path.removeprefix(f"{SKILLS}/").split("/")[0]
    meta = front_matter(text)
    description = "" if isinstance(meta, str) else str(meta.get("description", ""))
    return f"- {name}: {' '.join(description.split())} (file: {path})\n"
