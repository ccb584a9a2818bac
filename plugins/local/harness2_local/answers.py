"""What the scripted improver answers when it is asked to choose, and to tell a lesson."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Final

from harness2_core.api import canonical, digest_bytes

from .evidence import HARNESS, Evidence
from .improve import tried, worse
from .playbook import Playbook, Remedy

TAG: Final = "[scripted, no model]"
_ERROR_LINE: Final = re.compile(r"^\W*(error|traceback)\b", re.IGNORECASE | re.MULTILINE)


def choice(evidence: Evidence) -> str:
    """Blind: the candidate whose views have the fewest error lines; of equals, the smallest digest of content."""
    candidates = _candidates(evidence)
    if not candidates:
        return f"{TAG} there is no candidate under candidates/: nothing to choose from"
    counted = {
        id: (len(_ERROR_LINE.findall("\n".join(views.values()))), digest_bytes(canonical(dict(views))))
        for id, views in candidates.items()
    }
    first, *others = sorted(counted, key=lambda id: counted[id])
    rest = ", ".join(f"{id} {counted[id][0]}" for id in others) or "none"
    why = (
        f"{TAG} {first} has {counted[first][0]} error lines (others: {rest}); equals go by the digest of their content."
    )
    return f"<why>{why}</why>\n\n```choice\n{first}\n```\n"


def reflection(playbook: Playbook, evidence: Evidence) -> str:
    """Rows for the remedies tried, and the first lesson among those that the adopted harness has and that helped."""
    pool = tried(evidence)
    rows = {remedy.name: _row(remedy, playbook, evidence) for remedy in playbook.remedies if _had(remedy, pool)}
    edits = "\n\n".join(row.text for row in rows.values())
    base, adopted = evidence.tree("base_harness/"), evidence.tree(HARNESS)
    for remedy in playbook.remedies:
        if (
            remedy.lesson
            and remedy.name in rows
            and rows[remedy.name].helped
            and remedy.is_in(adopted)
            and not remedy.is_in(base)
        ):
            entry = (
                f"cue: {remedy.cue}\nlesson: {remedy.lesson}\n"
                f"evidence: {TAG} {rows[remedy.name].observed}\nconfidence: medium, told by a playbook"
            )
            return f"{TAG}\n\n<edits>\n{edits}\n</edits>\n\n<experience>\n{entry}\n</experience>\n"
    return f"{TAG} no remedy of the adopted harness has a lesson to tell\n\n<edits>\n{edits}\n</edits>\n\nNO_ENTRY\n"


class _Row:
    """What one remedy did, over the candidates that had it."""

    def __init__(self, remedy: Remedy, labels: Sequence[str], observed: str, verdict: str) -> None:
        self.observed = observed
        self.helped = verdict == "helped"
        self.text = (
            f"component: {remedy.file}\ncandidates: {', '.join(labels)}\nchange: {remedy.name}: {remedy.why}\n"
            f"observed: {TAG} {observed}\nverdict: {verdict}"
        )


def _row(remedy: Remedy, playbook: Playbook, evidence: Evidence) -> _Row:
    pool = tried(evidence)
    labels = _had(remedy, pool)
    seen = evidence.seen(remedy)
    where = f"{seen.path} says '{seen.line}'" if seen else "its symptom is not in the transcripts"
    bad = [label for label in labels if worse(evidence, label, playbook)]
    if bad:
        alone = any(len(pool[label]) == 1 for label in bad)
        return _Row(
            remedy,
            labels,
            f"{where}; {bad[0]} showed {worse(evidence, bad[0], playbook)}",
            "hurt" if alone else "confounded",
        )
    fewer = [label for label in labels if _mended(remedy, evidence, label)]
    if fewer:
        return _Row(remedy, labels, f"{where}; gone from the rollout of {', '.join(fewer)}", "helped")
    return _Row(remedy, labels, f"{where}; as before in the rollout of {', '.join(labels)}", "no observed effect")


def _mended(remedy: Remedy, evidence: Evidence, label: str) -> bool:
    """Its symptom shows in a base rollout and no longer in the candidate's."""
    before = any(remedy.symptom.search(text) for text in evidence.base_transcripts())
    return before and not remedy.symptom.search(evidence.transcript(label))


def _had(remedy: Remedy, pool: Mapping[str, frozenset[str]]) -> list[str]:
    return [label for label, names in pool.items() if remedy.name in names]


def _candidates(evidence: Evidence) -> Mapping[str, Mapping[str, str]]:
    """Id -> path -> text view, from `candidates/<ID>/...`; `<ID>.md` is core's index of them, and only names the id."""
    ids = {path.split("/")[1].removesuffix(".md") for path in evidence.matching("candidates/**")}
    return {id: evidence.tree(f"candidates/{id}/") for id in ids}
