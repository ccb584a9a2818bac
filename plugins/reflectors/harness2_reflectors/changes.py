"""`diff`: which files each harness of the round changed, computed from the trees. No session.

It claims no effect: that a change helped is not to be seen from files, so every verdict is `confounded`.
"""

from __future__ import annotations

import difflib
from collections.abc import Mapping

from harness2_core.api import Dialogue, Edit, Lesson, Round


class Changes:
    def reflect(self, round: Round) -> Dialogue[Lesson | None]:
        yield from ()
        adopted = _changed(round.base, round.trees.get(round.adopted, round.base))
        if not adopted:
            return None
        owners: dict[tuple[str, str | None], list[str]] = {}
        for label, tree in round.trees.items():
            for path in _changed(round.base, tree):
                owners.setdefault((path, tree.get(path)), []).append(label)
        edits = tuple(
            Edit(
                path,
                change=_change(round.base.get(path), text),
                candidates=", ".join(labels),
                observed="adopted" if round.adopted in labels else "not adopted",
                verdict="confounded",
            )
            for (path, text), labels in owners.items()
        )
        return Lesson(
            cue="a task whose unmodified harness is the one that this entry began from",
            lesson=f"the adopted harness changed {', '.join(adopted)}: compare it with yours before you write your own",
            evidence="computed from the files of this round; no model took part, and no effect was looked at",
            edits=edits,
        )

    def sessions(self, candidates: int) -> int:  # noqa: ARG002 - the protocol's
        return 0


def _changed(base: Mapping[str, str], tree: Mapping[str, str]) -> list[str]:
    return [path for path in sorted({*base, *tree}) if base.get(path) != tree.get(path)]


def _change(before: str | None, after: str | None) -> str:
    if after is None:
        return "removed"
    if before is None:
        return f"added, {len(after.splitlines())} lines"
    hunks = list(difflib.unified_diff(before.splitlines(), after.splitlines(), n=0))[2:]
    plus, minus = (sum(line.startswith(sign) for line in hunks) for sign in "+-")
    return f"{plus} lines in, {minus} lines out"
