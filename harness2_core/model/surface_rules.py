"""The rules of a surface, applied to a tree: one pure function that returns *all* problems."""

from __future__ import annotations

import json
import re
import warnings
from collections.abc import Iterator, Mapping
from pathlib import PurePosixPath
from typing import Final

import yaml

from .surface import Surface
from .tree import HarnessTree

DESCRIPTION_CHARS: Final = 1024
"""Longest description that agents read; longer ones vanish silently."""
FRONT_MATTER_CHARS: Final = 20_000
"""Longest front matter that is parsed at all; a real one has a few hundred characters."""
NAMED: Final = 6
"""Off-surface files named in one message."""

_FRONT_MATTER: Final = re.compile(r"\A\ufeff?---[ \t]*\r?\n(.*?)^---[ \t]*\r?$", re.DOTALL | re.MULTILINE)
_INVOKED: Final = re.compile(
    r"\bpython(?:\d+(?:\.\d+)*)?[ \t]+"
    r"(?:-[WX][ \t]*\S+[ \t]+|-[A-Za-z]+[ \t]+)*"  # options, of which two take a value
    r"[\"'`]?(?:\./)*(?P<script>[\w./\-]+\.py)(?![\w/\-]|\.\w)"
)
_TEMPLATE_TAGS: Final = ("{{", "{%", "{#")


def problems(surface: Surface, tree: HarnessTree) -> tuple[str, ...]:
    """Everything in `tree` that breaks `surface`, in words; empty when it is acceptable."""
    return tuple(dict.fromkeys([*_paths(surface, tree), *_sizes(surface, tree), *_contents(surface, tree)]))


def always_on_text(surface: Surface, tree: HarnessTree) -> str:
    return "\n".join(tree.files[path] for path in surface.always_on if path in tree.files)


def skills(surface: Surface, tree: HarnessTree) -> Mapping[str, str]:
    """Skill name (its directory) -> path of its file."""
    return {PurePosixPath(p).parent.name: p for p in tree.files if surface.component(p) == "skill"}


def trigger_missing(surface: Surface, tree: HarnessTree) -> tuple[str, ...]:
    """Skills that always-on text does not name, as far as the surface asks for that."""
    if not surface.trigger_file:
        return ()
    text = always_on_text(surface, tree)
    return tuple(
        name for name in skills(surface, tree) if not re.search(rf"(?<![\w-]){re.escape(name)}(?![\w-])", text)
    )


def front_matter(text: str) -> Mapping[str, object] | str:
    """The YAML mapping between the leading `---` lines, or a sentence that says why there is none."""
    found = _FRONT_MATTER.match(text)
    if not found:
        return "it does not begin with front matter between two '---' lines"
    if len(found.group(1)) > FRONT_MATTER_CHARS:
        return f"its front matter has more than {FRONT_MATTER_CHARS:,} characters"
    try:
        parsed = yaml.safe_load(found.group(1))
    except Exception as error:  # for odd scalars such as '!!bool x' the library raises whatever it stumbles over
        place = getattr(error, "problem_mark", None)
        where = f" at line {place.line + 2}" if place is not None else ""
        return f"its front matter is not valid YAML{where} (quote values that contain ': ')"
    if not isinstance(parsed, dict):
        return "its front matter is not a mapping of 'key: value' lines"
    return {str(key): value for key, value in parsed.items()}


def _paths(surface: Surface, tree: HarnessTree) -> Iterator[str]:
    outside = [path for path in tree.files if surface.component(path) is None]
    if outside:
        more = f" and {len(outside) - NAMED} more" if len(outside) > NAMED else ""
        patterns = ", ".join([*surface.always_on, *(item.pattern for item in surface.allowed)])
        names = ", ".join(repr(path) for path in outside[:NAMED])
        yield f"{names}{more}: not on the editable surface; allowed are {patterns} (names in lower case)"
    if not tree.files:
        yield "the tree is empty: no file of the editable surface came back"
    for path in surface.required:
        if not tree.files.get(path, "").strip():
            yield f"{path}: must exist and not be blank"
    if not surface.sub_agents:
        for path in tree.files:
            if surface.component(path) == "sub-agent":
                yield f"{path}: sub-agents are not available here; remove it"


def _sizes(surface: Surface, tree: HarnessTree) -> Iterator[str]:
    always_on = sum(len(tree.files[path]) for path in surface.always_on if path in tree.files)
    if surface.cap_chars and always_on > surface.cap_chars:
        yield f"always-on text has {always_on:,} characters, the cap is {surface.cap_chars:,}: cut text or use a skill"
    total = sum(len(text) for text in tree.files.values())
    if total > surface.max_chars:
        yield f"the tree has {total:,} characters, the cap is {surface.max_chars:,}"
    if len(tree.files) > surface.max_files:
        yield f"the tree has {len(tree.files)} files, the cap is {surface.max_files}"


def _contents(surface: Surface, tree: HarnessTree) -> Iterator[str]:
    for path, text in tree.files.items():
        match surface.component(path):
            case "skill":
                yield from _skill(surface, path, text)
            case "sub-agent" if surface.sub_agents:
                yield from _sub_agent(surface, path, text)
            case "hooks":
                yield from _hooks(surface, path, text)
            case "always-on" if surface.plain_always_on:
                for tag in _TEMPLATE_TAGS:
                    if tag in text:
                        yield f"{path}: contains {tag!r}, which the framework would run as a template"
        if path.endswith(".py"):
            yield from _compiles(path, text)
    for name in trigger_missing(surface, tree):
        yield f"skill {name!r} is not named in always-on text: add a line to {surface.trigger_file} on when to load it"
    yield from _duplicate_skills(surface, tree)
    yield from _invocations(surface, tree)


def _skill(surface: Surface, path: str, text: str) -> Iterator[str]:
    meta = front_matter(text)
    if isinstance(meta, str):
        yield f"{path}: {meta}"
        return
    yield from _described(path, meta)
    yield from _fields(path, meta, surface.skill_fields)
    directory = PurePosixPath(path).parent.name
    if "name" not in meta and surface.skill_name == "required":
        yield f"{path}: front matter needs 'name: {directory}'"
    yield from _named(path, meta, directory, "directory")


def _sub_agent(surface: Surface, path: str, text: str) -> Iterator[str]:
    meta = front_matter(text)
    if isinstance(meta, str):
        yield f"{path}: {meta}"
        return
    yield from _described(path, meta)
    yield from _fields(path, meta, surface.sub_agent_fields)
    if surface.sub_agent_name == "required":
        file = PurePosixPath(path)
        # `agents/checker.md`, or `agents/checker/AGENT.md` whose name is the directory's
        own, what = (file.stem, "file") if file.stem.islower() else (file.parent.name, "directory")
        if "name" not in meta:
            yield f"{path}: front matter needs 'name: {own}'"
        yield from _named(path, meta, own, what)
    if surface.sub_agent_mode and meta.get("mode") != surface.sub_agent_mode:
        yield f"{path}: front matter needs 'mode: {surface.sub_agent_mode}'"


def _named(path: str, meta: Mapping[str, object], own: str, what: str) -> Iterator[str]:
    name = meta.get("name", own)
    if not isinstance(name, str):  # not shown: a value that refers to itself many times prints without end
        yield f"{path}: its name is a {type(name).__name__} to YAML; write it as text, in quotes: name: '{own}'"
    elif name != own:
        yield f"{path}: its name is {name[:80]!r} but its {what} is {own!r}; make them equal"


def _fields(path: str, meta: Mapping[str, object], known: tuple[str, ...]) -> Iterator[str]:
    others = [name for name in meta if name not in known] if known else []
    if others:
        shown = ", ".join(repr(name[:80]) for name in others[:NAMED])
        yield f"{path}: front matter may not have {shown} here; it may have {', '.join(known)}"


def _described(path: str, meta: Mapping[str, object]) -> Iterator[str]:
    description = meta.get("description")
    if not isinstance(description, str) or not description.strip():
        yield f"{path}: front matter needs a 'description' of one sentence"
    elif len(description) > DESCRIPTION_CHARS:
        yield f"{path}: its description has {len(description):,} characters; agents read at most {DESCRIPTION_CHARS:,}"


def _duplicate_skills(surface: Surface, tree: HarnessTree) -> Iterator[str]:
    seen: dict[str, str] = {}
    for path in tree.files:
        if surface.component(path) == "skill":
            name = PurePosixPath(path).parent.name
            if name in seen:
                yield f"{path}: a skill named {name!r} is also at {seen[name]}; agents load one of them only"
            seen.setdefault(name, path)


def _hooks(surface: Surface, path: str, text: str) -> Iterator[str]:
    try:
        value = json.loads(text)
    except (ValueError, RecursionError) as error:
        yield f"{path}: not valid JSON ({error})"
        return
    hooks = value.get("hooks") if isinstance(value, dict) else None
    if not isinstance(hooks, dict) or set(value) != {"hooks"}:
        yield f"{path}: needs one top-level object 'hooks' of event -> list of entries"
        return
    for event, entries in hooks.items():
        if event not in surface.hook_events:
            yield f"{path}: unknown event {event!r}; known are {', '.join(surface.hook_events)}"
        if not isinstance(entries, list):
            yield f"{path}: {event} must be a list of entries"
            continue
        for index, entry in enumerate(entries):
            commands = entry.get("hooks") if isinstance(entry, dict) else None
            good = isinstance(commands, list) and all(
                isinstance(c, dict)
                and c.get("type") == "command"
                and isinstance(c.get("command"), str)
                and c["command"].strip()
                for c in commands
            )
            if not good or not commands or not isinstance(entry.get("matcher", ""), str):
                yield f"{path}: {event}[{index}] needs 'hooks': a list of {{'type': 'command', 'command': '...'}}"


def _hook_commands(text: str) -> Iterator[str]:
    """The commands of a hooks file, as far as it has the form that `_hooks` asks for."""
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return
    waiting: list[object] = [value]
    while waiting:
        match waiting.pop():
            case {"command": str(command)}:
                yield command
            case dict() as mapping:
                waiting += mapping.values()
            case list() as items:
                waiting += items


def _compiles(path: str, text: str) -> Iterator[str]:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            compile(text.encode(), path, "exec", dont_inherit=True)  # bytes: a BOM is read as from the file
    except SyntaxError as error:
        yield f"{path}: does not compile: {error.msg} at line {error.lineno}"
    except (ValueError, RecursionError, MemoryError, OverflowError) as error:
        yield f"{path}: does not compile: {type(error).__name__}"


def _invocations(surface: Surface, tree: HarnessTree) -> Iterator[str]:
    shipped = {PurePosixPath(path).name for path in tree.files if path.endswith(".py")}
    for path, text in tree.files.items():
        component = surface.component(path)
        if component not in ("always-on", "skill", "sub-agent", "hooks"):
            continue
        said = "\n".join(_hook_commands(text)) if component == "hooks" else text
        for script in dict.fromkeys(_INVOKED.findall(said)):
            name = PurePosixPath(script).name
            if script in tree.files or name in surface.reserved_scripts:
                continue
            # A program elsewhere (`python output/build.py`) is the agent's own: it writes it before it runs it.
            if script.split("/")[0] in surface.directories or name in shipped:
                yield f"{path}: invokes {script!r}, which the tree does not ship; give its path from the tree's root"
