"""`accept`: from the files an improver left to a harness tree, or to all the reasons why not.

Droppings of editors are noted and ignored; real edits off the surface are refused; missing trigger lines of skills
are added where they fit under the cap. Pure: the adapter's and substrate's own checks are passed in.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Final, TypeAlias

from attrs import evolve, frozen

from .errors import InvalidValue
from .frozen import FrozenMap
from .paths import collisions, unportable
from .surface import Surface
from .surface_rules import front_matter, problems, skills, trigger_missing
from .tree import HarnessTree, tree_problems

Check: TypeAlias = Callable[[HarnessTree], Sequence[str]]

_DROPPINGS: Final = re.compile(
    r"(.*/)?(\.DS_Store|Thumbs\.db|desktop\.ini|.*~|\.#.*|#.*#|.*\.sw[a-p]|.*\.pyc|.*\.orig|.*\.rej|.*\.bak|.*\.tmp)\Z"
    r"|(.*/)?(__pycache__|\.git|\.idea|\.vscode|\.mypy_cache|\.ruff_cache|\.pytest_cache|node_modules)/.*\Z",
    re.DOTALL,
)


@frozen
class Accepted:
    """`notes` say what was ignored or repaired."""

    tree: HarnessTree
    notes: tuple[str, ...] = ()


@frozen
class Rejected:
    """`problems` are words the improver can act on; all of them at once."""

    problems: tuple[str, ...]
    notes: tuple[str, ...] = ()


def is_dropping(path: str) -> bool:
    """Whether an editor, an interpreter or a file manager left `path` behind by habit."""
    return _DROPPINGS.match(path) is not None


def accept(surface: Surface, files: Mapping[str, bytes], checks: Sequence[Check] = ()) -> Accepted | Rejected:
    """The tree in `files` (path -> bytes, as harvested), if `surface` and every check take it."""
    notes = [f"ignored {path!r}: left behind by a tool" for path in sorted(files) if is_dropping(path)]
    texts: dict[str, str] = {}
    found: list[str] = []
    for path, data in sorted(files.items()):
        if is_dropping(path):
            continue
        try:
            texts[path] = data.decode()
        except UnicodeDecodeError as error:
            found.append(f"{path!r}: not UTF-8 text (byte {error.start}); a harness is text")
    found += tree_problems(FrozenMap(texts))
    if found:
        readable = _readable_part(surface, files)
        found += problems(surface, readable) if readable else ()
        return Rejected(tuple(dict.fromkeys(found)), tuple(notes))
    tree, repaired = _with_triggers(surface, HarnessTree(texts))
    found += problems(surface, tree)
    for check in checks:
        found += check(tree)
    if found:
        return Rejected(tuple(dict.fromkeys(found)), tuple(notes))
    return Accepted(tree, (*notes, *repaired))


def _readable_part(surface: Surface, files: Mapping[str, bytes]) -> HarnessTree | None:
    """What can be a tree in `files`, so that one correction hears of the surface's problems as well."""
    texts = {
        path: data.decode(errors="replace").replace("\x00", "\ufffd")
        for path, data in files.items()
        if not is_dropping(path) and not unportable(path)
    }
    if collisions(texts):
        texts = {path: text for path, text in texts.items() if surface.component(path)}
    return None if collisions(texts) else HarnessTree(texts)


def _with_triggers(surface: Surface, tree: HarnessTree) -> tuple[HarnessTree, tuple[str, ...]]:
    """Adds a line for each skill that always-on text does not name, as long as the cap allows."""
    notes = []
    for name in trigger_missing(surface, tree):
        meta = front_matter(tree.files[skills(surface, tree)[name]])
        when = "" if isinstance(meta, str) else " ".join(str(meta.get("description", "")).split())
        text = tree.files.get(surface.trigger_file, "")
        line = f"- Load the skill `{name}` when: {when or 'its subject comes up'}\n"
        if surface.plain_always_on:
            line = re.sub(r"\{(?=[{%#])", "{ ", line)
        joined = text + ("" if not text or text.endswith("\n") else "\n") + line
        candidate = evolve(tree, files={**tree.files, surface.trigger_file: joined})
        total = sum(len(candidate.files.get(path, "")) for path in surface.always_on)
        if not surface.cap_chars or total <= surface.cap_chars:
            tree = candidate
            notes.append(f"added the missing trigger line of skill {name!r} to {surface.trigger_file}")
    return tree, tuple(notes)


def tree_of(files: Mapping[str, bytes]) -> HarnessTree:
    """The harness tree of stored files; `InvalidValue` when they are none."""
    try:
        return HarnessTree({path: data.decode() for path, data in files.items()})
    except UnicodeDecodeError as error:
        raise InvalidValue(f"not a harness tree: a file is not UTF-8 text ({error})", "store text only") from error
