"""Two harnesses of one task side by side, each named by a label, or as `base` or `adopted`."""

from __future__ import annotations

from harness2_core.model.canonical import Digest
from harness2_core.model.errors import ConfigError
from harness2_core.model.nearest import near
from harness2_core.model.records import Summary
from harness2_core.model.tree import diff

from .read import Reading

BASE = "base"
ADOPTED = "adopted"


def changes_between(reading: Reading, summary: Summary, span: str, mode: str = "") -> str:
    """Unified diffs of a span `A..B`; `A` alone is `base..A`, and an empty end is the default's. Empty: no change.

    `ConfigError` for a label that does not exist, or that means different harnesses in several modes.
    """
    first, last = _ends(span)
    old, new = (harness_named(reading, summary, name, mode) for name in (first, last))
    return diff(reading.tree(old), reading.tree(new), first, last)


def harness_named(reading: Reading, summary: Summary, name: str, mode: str = "") -> Digest:
    """The tree that `name` means; `mode` decides where several modes have one of that name."""
    if name == BASE:
        return reading.study.base_digest
    found: dict[str, Digest] = {}
    for token, record in summary.modes.items():
        if mode not in ("", token):
            continue
        trees = {roll.label: roll.tree for roll in (*summary.bases, *record.rolls)}
        trees |= {stage.label: stage.tree for stage in record.stages}
        trees |= {ADOPTED: record.adopted} if record.adopted else {}
        if name in trees:
            found[token] = trees[name]
    if len(set(found.values())) > 1:
        raise ConfigError(
            f"{name!r} of {summary.task} is another harness in each mode: {', '.join(found)}", "say which, with --mode"
        )
    if not found:
        raise _unknown(reading, summary, name, mode)
    return next(iter(found.values()))


def _ends(span: str) -> tuple[str, str]:
    first, dots, last = span.partition("..")
    return (first or BASE, last or ADOPTED) if dots or not span else (BASE, first)


def _unknown(reading: Reading, summary: Summary, name: str, mode: str) -> ConfigError:
    where = f"{summary.task}" + (f" in mode {mode!r}" if mode else "")
    if name == ADOPTED:
        return ConfigError(f"nothing was adopted of {where}", f"`harness2 show {summary.task}` tells why")
    labels = [BASE, ADOPTED, *(roll.label for roll in summary.bases)]
    for record in reading.modes(summary, mode):
        labels += [stage.label for stage in record.stages] + [roll.label for roll in record.rolls]
    labels = list(dict.fromkeys(labels))
    return ConfigError(f"{where} has no harness {name!r}", f"{near(name, labels)}known are {', '.join(labels)}")
