"""The `scripted` proposer: plays every role of the improver from a playbook. No model takes part, and it says so.

It keeps the session contract: it reads only `context/`, edits only `context/harness/`, and answers in the formats
that missions ask for. What it does goes by the request's kind.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from harness2_core.api import NO_MODEL, Channel, Context, Harness2Error, Outcome, Said, SessionRequest

from .answers import TAG, choice, reflection
from .evidence import Evidence
from .improve import Improved, compose, edit
from .playbook import Playbook, read_playbook
from .settings import ScriptedSettings

COMPOSES: Final = ("agg", "compose", "round")
EDITS: Final = ("inv", "dom")


class ScriptedProposer:
    def __init__(self, settings: ScriptedSettings | None = None) -> None:
        self._playbooks = (settings or ScriptedSettings()).playbooks

    def run(self, request: SessionRequest, workspace: Path, ctx: Context) -> Said:  # noqa: ARG002 - the seam's
        return Said(Outcome.FINISHED, self._answer(request, workspace / "context"), NO_MODEL)

    def knows_price(self, channel: Channel) -> bool:  # noqa: ARG002 - the seam's
        """No model takes part."""
        return True

    def preflight(self) -> Sequence[str]:
        problems = []
        for path in self._playbooks.values():
            try:
                read_playbook(path)
            except Harness2Error as error:
                problems.append(str(error))
        return tuple(problems)

    def _answer(self, request: SessionRequest, context: Path) -> str:
        evidence = Evidence(context)
        if request.kind == "select":
            return choice(evidence)
        if request.kind == "keep":
            return f"{TAG} asked to keep what is there\n\nKEEP_BASE\n"
        playbook = self._playbook(request.task)
        if request.kind == "reflect":
            return reflection(playbook, evidence)
        if request.kind in EDITS:
            return _edited(edit(request.kind, playbook, evidence, _index(request.draw)), context / "harness")
        if request.kind in COMPOSES:
            return _edited(compose(playbook, evidence), context / "harness")
        return f"{TAG} a playbook has nothing for sessions of the kind {request.kind!r}\n\nKEEP_BASE\n"

    def _playbook(self, task: str) -> Playbook:
        """That of the longest beginning of the task's id; an empty one when there is none."""
        fits = [key for key in self._playbooks if task == key or task.startswith(f"{key}/")]
        return read_playbook(self._playbooks[max(fits, key=len)]) if fits else Playbook()


def _edited(improved: Improved, harness: Path) -> str:
    for path, text in improved.files.items():
        target = harness / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(text.encode())
    if improved.files:
        headline, keep = f"{TAG} edited {', '.join(sorted(improved.files))}", ""
    else:
        headline, keep = (
            f"{TAG} nothing in the playbook fits what the evidence shows: nothing was edited",
            "\nKEEP_BASE\n",
        )
    notes = "\n".join(f"- {TAG} {note}" for note in improved.notes) or f"- {TAG} nothing to note"
    return f"{headline}\n\n<notes>\n{notes}\n</notes>\n{keep}"


def _index(draw: str) -> int:
    """The number at the end of the draw's label: `.../inv2` -> 2."""
    found = re.search(r"(\d+)(?:\.\w+)*\Z", draw)
    return int(found.group(1)) if found else 1
