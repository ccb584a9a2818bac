"""Playbooks: what an improver would do on seeing what, as data in a TOML file.

[[remedy]]
name = "count-once"
kind = "inv"                                     # or "dom"
symptom = 'reference \\S+ was seen before'        # a regular expression, looked for in the evidence
where = ["rollouts/*.md"]                        # default: transcripts, those of the pool too
why = "an entry that comes again is a copy"
file = "scripts/ledger.py"                       # in the harness
old = "count(line)"                              # must be there exactly once ...
new = "seen(line) or count(line)"                # ... and is replaced
# or: text = "the whole file"
# or: from_library = 'a regular expression'      # takes `file` from a harness whose EXPERIENCE.md has it
group = "dates"                                  # of a group, the i-th of several candidates takes the i-th
reveals = 'line \\d+'                             # errors it brings to light rather than causes
lesson = { cue = "the situation", lesson = "what to do" }
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Final

from attrs import field, fields, frozen

from harness2_core.api import ConfigError, unsafe

from .folders import text_of
from .task_files import near

TRANSCRIPTS: Final = ("rollouts/*.md", "pool/*/rollout.md")
KINDS: Final = ("inv", "dom")


@frozen
class Remedy:
    """One way to mend one thing. Exactly one of `old` with `new`, `text` and `from_library` says how."""

    name: str
    kind: str
    symptom: re.Pattern[str]
    file: str
    why: str = ""
    where: tuple[str, ...] = TRANSCRIPTS
    old: str = ""
    new: str = ""
    text: str = ""
    from_library: re.Pattern[str] | None = None
    group: str = ""
    reveals: re.Pattern[str] | None = None
    cue: str = ""
    lesson: str = ""

    def mended(self, tree: Mapping[str, str], library: str | None) -> str | None:
        """The text of `file` after the edit; `None` when it does not fit. `library` is the file found there."""
        present = tree.get(self.file, "")
        if self.from_library is not None:
            return library if library != present else None
        if self.text:
            return self.text if self.text != present else None
        if present.count(self.old) != 1 or self.is_in(tree):  # what was put beside `old` leaves it there
            return None
        return present.replace(self.old, self.new)

    def is_in(self, tree: Mapping[str, str]) -> bool:
        """Whether `tree` has the edit. Of a deletion, or what came from a library, that cannot be told."""
        added, present = self.text or self.new, tree.get(self.file, "")
        replaced = not self.old or self.old in self.new or self.old not in present
        return bool(added) and added in present and replaced


@frozen
class Playbook:
    remedies: tuple[Remedy, ...] = field(default=())

    def of_kind(self, kind: str) -> tuple[Remedy, ...]:
        return tuple(remedy for remedy in self.remedies if remedy.kind == kind)

    def named(self, names: frozenset[str]) -> tuple[Remedy, ...]:
        return tuple(remedy for remedy in self.remedies if remedy.name in names)


def read_playbook(path: Path) -> Playbook:
    """`ConfigError` names the file, remedy and key of what is wrong."""
    try:
        table = tomllib.loads(text_of(path))
    except tomllib.TOMLDecodeError as error:
        raise ConfigError(f"the playbook {path} is not valid TOML: {error}", "mend it") from None
    listed = table.pop("remedy", [])
    for key in table:
        raise ConfigError(f"the playbook {path}: unknown key {key!r}", near(key, ("remedy",)))
    if not isinstance(listed, list) or not all(isinstance(item, dict) for item in listed):
        raise ConfigError(f"the playbook {path}: remedy is no list of tables", "begin each with [[remedy]]")
    remedies = tuple(_remedy(item, f"the playbook {path}: remedy {number}") for number, item in enumerate(listed, 1))
    names = [remedy.name for remedy in remedies]
    for name in names:
        if names.count(name) > 1:
            raise ConfigError(f"the playbook {path}: two remedies are named {name!r}", "rename one")
    return Playbook(remedies)


_KEYS: Final = tuple(part.name for part in fields(Remedy) if part.name != "cue")


def _remedy(item: Mapping[str, object], where: str) -> Remedy:
    for key in item:
        if key not in _KEYS:
            raise ConfigError(f"{where}: unknown key {key!r}", near(key, _KEYS))
    texts = {key: _text(item, key, where) for key in ("name", "kind", "file", "why", "old", "new", "text", "group")}
    where = f"{where} ({texts['name'] or 'unnamed'})"
    if not re.fullmatch(r"[a-z0-9][a-z0-9\-]*", texts["name"]):
        raise ConfigError(f"{where}: its name will not do", "give a name of lower-case letters, digits and '-'")
    if texts["kind"] not in KINDS:
        raise ConfigError(f"{where}: kind is {texts['kind']!r}", "give inv (procedure) or dom (the domain's facts)")
    for problem in unsafe(texts["file"]):
        raise ConfigError(f"{where}: file: {problem}", "name a file of the harness")
    symptom = _pattern(item, "symptom", where)
    if symptom is None:
        raise ConfigError(f"{where}: it has no symptom", "give a regular expression to be found in the evidence")
    library = _pattern(item, "from_library", where)
    if sum((bool(texts["old"]), bool(texts["text"]), library is not None)) != 1 or (texts["new"] and not texts["old"]):
        raise ConfigError(f"{where}: it does not say what to edit", "give old and new, or text, or from_library")
    return Remedy(
        **texts,
        symptom=symptom,
        where=tuple(_where(item, where)) or TRANSCRIPTS,
        from_library=library,
        reveals=_pattern(item, "reveals", where),
        **_lesson(item, where),
    )


def _text(item: Mapping[str, object], key: str, where: str) -> str:
    value = item.get(key, "")
    if not isinstance(value, str):
        raise ConfigError(f"{where}: {key} is {value!r}", 'give a text: "..."')
    return value


def _pattern(item: Mapping[str, object], key: str, where: str) -> re.Pattern[str] | None:
    if key not in item:
        return None
    try:
        return re.compile(_text(item, key, where), re.MULTILINE)
    except re.error as error:
        raise ConfigError(f"{where}: {key} is no regular expression: {error}", "mend it") from None


def _where(item: Mapping[str, object], where: str) -> Iterator[str]:
    listed = item.get("where", [])
    if not isinstance(listed, list):
        raise ConfigError(f"{where}: where is {listed!r}", 'give a list of file patterns: ["task.md"]')
    for pattern in listed:
        if not isinstance(pattern, str):
            raise ConfigError(f"{where}: where has {pattern!r}", 'give a list of file patterns: ["task.md"]')
        yield pattern


def _lesson(item: Mapping[str, object], where: str) -> Mapping[str, str]:
    given = item.get("lesson")
    if given is None:
        return {}
    if not isinstance(given, dict) or set(given) != {"cue", "lesson"}:
        raise ConfigError(f"{where}: lesson is {given!r}", 'give { cue = "...", lesson = "..." }')
    texts = {key: " ".join(_text(given, key, where).split()) for key in ("cue", "lesson")}
    if not all(texts.values()):
        raise ConfigError(f"{where}: its lesson has a blank part", 'give { cue = "...", lesson = "..." }')
    return texts
