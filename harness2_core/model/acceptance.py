"""`accept`: from the files an improver left to a harness tree, or to all the reasons why not.

Droppings of editors are noted and ignored, unless the harness had that very file before; real edits off the surface
are refused; missing trigger lines of skills are added where they fit under the cap. Pure: the adapter's and
substrate's own checks are passed in.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Final, TypeAlias

from attrs import evolve, frozen

from .errors import InvalidValue
from .frozen import FrozenMap
from .paths import collisions, unportable
from .surface import Surface
from .surface_rules import front_matter, problems, skills, trigger_missing
from .tree import HarnessTree, tree_problems

Check: TypeAlias = Callable[[HarnessTree], Sequence[str]]

_NAMES: Final = (
    r"\.DS_Store|\._.*|Icon\r|Thumbs\.db|ehthumbs\.db|desktop\.ini|\.directory|\.localized"  # file managers
    r"|.*~|\.#.*|#.*#|.*\.sw[a-p]|\..*\.s(?:w[q-z]|v[h-z])|4913|\..*\.kate-swp|.*\.save(?:\.\d+)?"  # editors at work
    r"|\.?~lock\..*#|~\$.*|.*___jb_(?:tmp|old|bak)___|\.goutputstream-.*|\.nfs[0-9a-f]+|\.fuse_hidden[0-9a-f]+"
    r"|\.viminfo|\.netrwhist|\.python_history|\.bash_history|\.node_repl_history|\.lesshst|nohup\.out"
    r"|.*\.py[cod]|.*\.elc|.*\.class|\.coverage|\.eslintcache"  # interpreters and checkers
    r"|.*\.orig|.*\.rej|.*\.bak|.*\.tmp|.*\.temp|.*\.old"
)
_FOLDERS: Final = (
    r"__pycache__|\.git|\.hg|\.svn|\.jj|\.bzr|\.idea|\.vscode|\.vs|\.history|\.ropeproject|\.ipynb_checkpoints"
    r"|\.[a-z]+_cache|\.cache|\.hypothesis|\.tox|\.nox|\.venv|node_modules|\.npm|\.AppleDouble|\.Spotlight-V100"
    r"|\.Trashes|\.Trash-\d+|\.fseventsd|__MACOSX|\$RECYCLE\.BIN"
)
_DROPPINGS: Final = re.compile(rf"(?:.*/)?(?:(?:{_NAMES})|(?:{_FOLDERS})(?:/.*)?)\Z", re.DOTALL | re.IGNORECASE)
"""A folder's own name too: left behind may be a link, or, of Git, a file."""


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


def accept(
    surface: Surface, files: Mapping[str, bytes], checks: Sequence[Check] = (), given: Collection[str] = ()
) -> Accepted | Rejected:
    """The tree in `files` (path -> bytes, as harvested), if `surface` and every check take it.

    `given` are the paths that the improver was handed: whatever they are called, they are no droppings.
    """
    droppings = frozenset(path for path in files if path not in given and is_dropping(path))
    notes = [f"ignored {path!r}: left behind by a tool" for path in sorted(droppings)]
    texts: dict[str, str] = {}
    found: list[str] = []
    for path, data in sorted(files.items()):
        if path in droppings:
            continue
        try:
            texts[path] = data.decode()
        except UnicodeDecodeError as error:
            found.append(f"{path!r}: not UTF-8 text (byte {error.start}); a harness is text")
    found += tree_problems(FrozenMap(texts))
    if found:
        readable = _readable_part(surface, {path: files[path] for path in files if path not in droppings})
        found += problems(surface, _with_triggers(surface, readable)[0]) if readable else ()
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
        if not unportable(path)
    }
    if collisions(texts):
        texts = {path: text for path, text in texts.items() if surface.component(path)}
    return None if collisions(texts) else HarnessTree(texts)


def _with_triggers(surface: Surface, tree: HarnessTree) -> tuple[HarnessTree, tuple[str, ...]]:
    """Adds a line for each skill that always-on text does not name, as long as the cap allows.

    A file that must not be blank is not begun with it: that would hide that the improver took the text away.
    """
    notes: list[str] = []
    if surface.trigger_file in surface.required and not tree.files.get(surface.trigger_file, "").strip():
        return tree, ()
    for name in trigger_missing(surface, tree):
        when = _description(tree.files[skills(surface, tree)[name]])
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


def _description(skill: str) -> str:
    """What a skill says of itself, on one line; empty where its front matter does not say it in words."""
    meta = front_matter(skill)
    told = "" if isinstance(meta, str) else meta.get("description", "")
    # Anything but a text is not shown: a value that refers to itself many times prints without end.
    return " ".join(told.split()) if isinstance(told, str) else ""


def tree_of(files: Mapping[str, bytes]) -> HarnessTree:
    """The harness tree of stored files; `InvalidValue` when they are none."""
    try:
        return HarnessTree({path: data.decode() for path, data in files.items()})
    except UnicodeDecodeError as error:
        raise InvalidValue(f"not a harness tree: a file is not UTF-8 text ({error})", "store text only") from error
