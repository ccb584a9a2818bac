"""Writes `docs/records.md` from the record classes and the table of events.

    python tools/records_page.py            writes the page
    python tools/records_page.py --check    says whether it is up to date; exit code 1 if it is not

Needs core and the plugins of this checkout installed: `make demo` does that.
"""

from __future__ import annotations

import ast
import inspect
import re
import sys
import textwrap
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final

import attrs
from configuration_page import cell
from written_page import write

from harness2_core.model import records
from harness2_core.model.channel import Outcome, Usage
from harness2_core.model.events import Happened
from harness2_core.model.manifest import Entry
from harness2_core.model.strategy import Edit, Lesson
from harness2_core.sweep import telling

ROOT: Final = Path(__file__).resolve().parent.parent
PAGE: Final = ROOT / "docs" / "records.md"
VALUES: Final = (Usage, Entry, Lesson, Edit)
"""Values that records hold, and that are no records."""

MEANT: Final[Mapping[str, str]] = {
    "request": "Digest of the request that this belongs to.",
    "outcome": "How it ended.",
    "delivered": "Whether anything was delivered.",
    "stderr": "Raw standard error, bounded.",
    "deliverables": "What was delivered: path and content.",
    "usage": "What it took.",
    "versions": "Versions of agent, plugins and core, by name.",
    "note": "What befell it, in words.",
    "host": "The machine it ran on.",
    "finished_at": "When, in UTC.",
    "started_at": "When, in UTC.",
    "ended_at": "When, in UTC.",
    "text": "The reply.",
    "cause": "Of dead work: the kind of its last loss.",
    "ordinal": "The number of the try, from 1.",
    "item": "Name of the item.",
    "passed": "Whether it holds; `null`: it could not be judged.",
    "weight": "Of the item in the score.",
    "verdicts": "One for each item.",
    "error": "What went wrong, in words; empty when nothing did.",
    "label": "Label of the stage or rollout.",
    "kind": "What kind of step or session.",
    "StageRecord.kind": "The template of its mission: `inv`, `dom`, `agg` and others.",
    "tree": "Fingerprint of the harness.",
    "fell_back": "The edit was refused twice, and the stage went back to what it started from.",
    "kept": "The editor asked to keep what it was given.",
    "selector": "Who picked.",
    "reflector": "Who reflected.",
    "SelectionRecord.ok": "Whether anything was picked.",
    "ModeRecord.ok": "Whether the mode came to something.",
    "why": "The reason, in words.",
    "SelectionRecord.why": "The selector's reason.",
    "Adoption.why": "The selector's reason.",
    "chosen_id": "The anonymous id of the pick.",
    "trivial": "Only one candidate was left, so nobody was asked.",
    "base_pick": "A base was picked: nothing is adopted.",
    "sessions": "Request digests of the sessions that took part.",
    "lesson": "What to do.",
    "ReflectionRecord.lesson": "The lesson, if there is one.",
    "Adoption.lesson": "The lesson, if there is one.",
    "edits": "What was said of each edit.",
    "task": "Id of the task.",
    "mode": "Token of the mode.",
    "domain": "Its domain.",
    "k": "Base rollouts, and stages of each kind.",
    "plan": "Digest of the mode's plan.",
    "stages": "In plan order.",
    "rolls": "In plan order.",
    "bases": "The shared base rollouts.",
    "selection": "Which final was picked.",
    "reflection": "What was learnt.",
    "attempt": "1; more after `--retry`.",
    "view": "Digest of the library view: a manifest.",
    "seen": "The earlier tasks of the stream that the view holds.",
    "seed": "Of the stream's order.",
    "status": "`ok`, `partial` or `base-failed`.",
    "modes": "Token to record.",
    "errors": "Of all modes, in words.",
    "usd": "Cost in USD; `null`: unknown.",
    "tokens": "Kind of token to count.",
    "elapsed_ms": "Time it took, in milliseconds.",
    "digest": "Of the content.",
    "size": "In bytes.",
    "cue": "When it applies.",
    "evidence": "What it was drawn from.",
    "confidence": "As the reflector put it.",
    "component": "What was changed.",
    "change": "How.",
    "candidates": "Who had it.",
    "observed": "What was seen.",
    "verdict": "What it did.",
    "what": "The word for what happened: below.",
    "at": "When, in UTC.",
    "facts": "What is told with it: below.",
    "sweep": "Tells sweeps apart.",
}
"""`Class.field` or `field` -> what it is, where the class leaves that to the name."""

HEAD: Final = """\
# Records and events

<!-- Written by `python tools/records_page.py` from the record classes and the table of events. Change those, and run it
again. -->

What a run leaves to be read, field by field. Where it lies, and what may be deleted: [on disk](on-disk.md).

| to know | look at |
| --- | --- |
| what became of a task | `harness2 show TASK`, `summary.json` |
| why that final was picked | `selection/selection.json`; `harness2 show TASK` has the reason |
| what a session was given | `harness2 show TASK --evidence LABEL`, `context/<label>.json` |
| what a rollout did and delivered | `harness2 show TASK --trajectory LABEL`, `--deliverables LABEL` |
| what an edit changed | `harness2 diff TASK`, `harnesses/<label>/` |
| what a judge said | `harness2 judge --json` |
| what was paid, and what was lost | `harness2 report`, `_sweeps/*.json` |
| what happened, and when | `events.jsonl` |
| all of it as values | [Python](python.md) |

## Records

Values in the store, and in `summary.json` as JSON of these fields. A field that is at its default is left out of the
JSON, and a reader takes a missing one for it. USD and weights are decimal strings, durations integer milliseconds. Keys
that end in `_at`, and `elapsed_ms` and `host`, are all that may differ between two runs that ended alike.
"""

EVENTS: Final = """\
## Events

`events.jsonl` has one JSON object a line, and a listener is called with the same as a `Happened`. They carry no text
that a model wrote. Pass over words and facts that you do not know: later releases may have more.
"""


def page() -> str:
    """The whole page."""
    parts = [HEAD, *(_class(cls) for cls in record_classes())]
    parts += ["## Values in records\n", *(_class(cls) for cls in VALUES), _outcomes()]
    parts += [EVENTS, _class(Happened), "### What happens\n", *_events()]
    return "\n".join(parts)


def record_classes() -> list[type]:
    """Every class of `model/records.py`, in the order in which it has them."""
    found = [item for item in vars(records).values() if inspect.isclass(item) and attrs.has(item)]
    return [cls for cls in found if cls.__module__ == records.__name__]


def _class(cls: type) -> str:
    said, helps = _text(cls.__dict__["__doc__"] or ""), _helps(cls)
    said = "" if said.startswith("Method generated by attrs") else said
    lines = [f"### `{cls.__name__}`", "", *([said, ""] if said else [])]
    lines += ["| field | type | default | meaning |", "| --- | --- | --- | --- |"]
    for attribute in attrs.fields(cls):
        name = attribute.name
        meaning = _text(helps.get(name) or MEANT.get(f"{cls.__name__}.{name}") or MEANT[name])
        lines.append(f"| `{attribute.name}` | `{_type(cls, attribute.name)}` | {_default(attribute)} | {meaning} |")
    return "\n".join(lines) + "\n"


def _outcomes() -> str:
    said = _text(inspect.getdoc(Outcome) or "")
    return f"### `Outcome`\n\n{said} One of {', '.join(f'`{item.value}`' for item in Outcome)}.\n"


def _events() -> Iterator[str]:
    """The table of `sweep/telling.py`, as it is."""
    yield "\n".join(line for line in (telling.__doc__ or "").splitlines() if line.startswith("|"))
    yield "\n`usd` is what the request has cost so far, its lost attempts included.\n"


def _helps(cls: type) -> Mapping[str, str]:
    """Field -> the docstring below it."""
    (node,) = ast.parse(textwrap.dedent(inspect.getsource(cls))).body
    assert isinstance(node, ast.ClassDef)
    found: dict[str, str] = {}
    for former, item in zip(node.body, node.body[1:], strict=False):
        if isinstance(former, ast.AnnAssign) and isinstance(former.target, ast.Name) and isinstance(item, ast.Expr):
            value = item.value
            if isinstance(value, ast.Constant) and isinstance(value.value, str):
                found[former.target.id] = value.value
    return found


def _type(cls: type, field: str) -> str:
    """As it stands in the source: attrs' own may have been resolved by whoever reads records, and then says `str`."""
    written = next(notes[field] for notes in map(inspect.get_annotations, cls.__mro__) if field in notes)
    return str(written).replace("|", "\\|")


def _default(attribute: attrs.Attribute[Any]) -> str:
    value: Any = attribute.default
    if value is attrs.NOTHING:
        return ""
    if hasattr(value, "takes_self") or value == () or value is records.EMPTY:
        return "empty"
    if isinstance(value, bool):
        return f"`{str(value).lower()}`"
    return "`null`" if value is None else f"`{value}`" if isinstance(value, int) else f'`"{value}"`'


def _text(said: str) -> str:
    return cell(re.sub(r"\s+", " ", said).strip())


FILES: Final = {PAGE: page}

if __name__ == "__main__":
    sys.exit(write(FILES, sys.argv[1:]))
