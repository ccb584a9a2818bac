"""Surfaces: which paths of a harness may be edited on one substrate, with caps and rules, all as data.

`problems` checks a tree against a surface and returns everything that is wrong, in words an improver can act on.
What a framework does not need is left at its default.
"""

from __future__ import annotations

import re
from functools import cached_property
from typing import Final

from attrs import evolve, field, frozen

from .canonical import Digest, canonical, digest_bytes
from .check import Field, at_least, matches, one_of
from .errors import InvalidValue
from .frozen import strings

COMPONENTS: Final = ("always-on", "skill", "skill-file", "sub-agent", "script", "hooks", "plugin", "program")
_SLOT: Final = re.compile(r"<[a-z]+>")
_SLOTS: Final = {
    "<name>": r"[a-z0-9][a-z0-9_\-]*",
    "<script>": r"[a-z0-9_]+",
    "<file>": r"[^/]+",
    "<path>": r".+",
}


def _pattern(owner: object, field: Field, pattern: str) -> None:
    unknown = sorted(set(_SLOT.findall(pattern)) - set(_SLOTS))
    if unknown or not pattern or pattern.startswith("/"):
        why = f": {unknown[0]} stands for nothing" if unknown else ""
        raise InvalidValue(f"the path pattern {pattern!r}{why}", f"give a relative path; known are {', '.join(_SLOTS)}")


@frozen
class Allowed:
    """One kind of editable path.

    `pattern` is a path in which `<name>` stands for a component name, `<script>` for a script's stem, `<file>` for one
    file name and `<path>` for anything below. `role` and `cost` are words for the improver: what it is, and when it
    takes context.
    """

    component: str = field(validator=one_of(*COMPONENTS))
    pattern: str = field(validator=_pattern)
    role: str = ""
    cost: str = ""


@frozen(slots=False)
class Surface:
    """Data: no code of a framework runs to check a tree."""

    name: str = field(validator=matches(r"[a-z][a-z0-9_]*", "a lower-case name"))
    always_on: tuple[str, ...] = field(converter=strings)
    """Files always in the model's context."""
    cap_chars: int = field(validator=at_least(0))
    """Characters all always-on files may have together; 0 for no cap."""
    allowed: tuple[Allowed, ...]
    required: tuple[str, ...] = field(converter=strings, default=())
    """Files that must exist and not be blank."""
    trigger_file: str = ""
    """Always-on file that must name each skill, and to which missing trigger lines are added; empty: not needed."""
    skill_name: str = field(default="optional", validator=one_of("required", "optional"))
    """Whether a skill's front matter must have `name`; where present it equals the directory."""
    skill_fields: tuple[str, ...] = field(converter=strings, default=())
    """Keys that a skill's front matter may have; empty for any. Others would change the model, say, or rights."""
    sub_agents: bool = True
    sub_agent_mode: str = ""
    """Value the front matter's `mode` must have, when the framework asks for one."""
    sub_agent_name: str = field(default="optional", validator=one_of("required", "optional"))
    """Whether a sub-agent's front matter must have `name`, equal to what its path calls it."""
    sub_agent_fields: tuple[str, ...] = field(converter=strings, default=())
    """Keys that a sub-agent's front matter may have; empty for any."""
    hook_events: tuple[str, ...] = field(converter=strings, default=())
    plain_always_on: bool = False
    """Always-on text is rendered by a strict template engine: no `{{`, `{%`, `{#` in it."""
    reserved_scripts: tuple[str, ...] = field(converter=strings, default=())
    """Script names that the runtime supplies; they may be invoked without being shipped."""
    max_files: int = field(default=200, validator=at_least(1))
    max_chars: int = field(default=1_000_000, validator=at_least(1))
    """Characters of all files together."""

    def __attrs_post_init__(self) -> None:
        if self.trigger_file and self.trigger_file not in self.always_on:
            raise InvalidValue(
                f"the trigger file {self.trigger_file!r} of surface {self.name!r} is not always on",
                "name one of always_on: a skill that only an unread file mentions is never loaded",
            )
        for path in self.required:
            if self.component(path) is None:
                raise InvalidValue(
                    f"surface {self.name!r} requires {path!r}, which is off the surface",
                    "allow it, or do not require it",
                )

    @property
    def digest(self) -> Digest:
        """Part of the experiment's identity."""
        from .serial import plain  # serial needs every value type, this one too

        return digest_bytes(canonical(plain(self)))

    def component(self, path: str) -> str | None:
        """The component that `path` is, or `None` when the path is off the surface."""
        for component, pattern in self._patterns:
            if pattern.fullmatch(path):
                return component
        return None

    def extended(self, *, reserved_scripts: tuple[str, ...], sub_agents: bool) -> Surface:
        """The surface as a benchmark narrows or extends it."""
        return evolve(
            self,
            reserved_scripts=tuple(dict.fromkeys((*self.reserved_scripts, *reserved_scripts))),
            sub_agents=self.sub_agents and sub_agents,
        )

    @cached_property
    def directories(self) -> frozenset[str]:
        """First names of the directories in which a harness may have files: `skills`, `scripts`."""
        patterns = (*self.always_on, *(item.pattern for item in self.allowed))
        return frozenset(path.split("/")[0] for path in patterns if "/" in path)

    @cached_property
    def _patterns(self) -> tuple[tuple[str, re.Pattern[str]], ...]:
        always_on = tuple(("always-on", re.compile(re.escape(path))) for path in self.always_on)
        return always_on + tuple((item.component, _compiled(item.pattern)) for item in self.allowed)


def _compiled(pattern: str) -> re.Pattern[str]:
    fixed = [re.escape(part) for part in _SLOT.split(pattern)]
    slots = [_SLOTS[slot] for slot in _SLOT.findall(pattern)]
    return re.compile("".join(part for pair in zip(fixed, [*slots, ""], strict=True) for part in pair))
