"""Plain progress of a sweep on standard error: a line for each task that opens or ends, and each lost attempt."""

from __future__ import annotations

from harness2_core.model.events import Happened

from .live.state import State
from .terminal import one_line, warn


def tell_progress(event: Happened) -> None:
    """A listener. Steps in between are in `events.jsonl`."""
    match event.what, event.kind:
        case "sweep-started", _:
            warn(f"{one_line(event.facts.get('namespace', ''))}: {event.facts.get('tasks', '0')} tasks to do")
        case "judging-started" | "reselecting-started", _:
            warn(f"{one_line(event.facts.get('namespace', ''))}: {event.facts.get('steps', '0')} to do")
        case "step-ended", "grade" | "reselect":
            warn(" ".join(filter(None, map(one_line, (event.task, event.mode, event.label, "done")))))
        case "step-started", "open":
            warn(f"{one_line(event.task)}: started")
        case "step-ended", "close":
            warn(f"{one_line(event.task)}: {one_line(event.mode)} done")
        case "step-ended", "finish":
            warn(f"{one_line(event.task)}: finished")
        case "attempt-lost", _:
            step = f"{event.mode} {event.label or event.kind}".strip()
            why = one_line(event.facts.get("cause", ""))
            warn(f"{one_line(event.task)}: {one_line(step)}: an attempt was lost ({why})")
        case "step-held", _:
            warn(f"{one_line(event.task)}: held back: {one_line(event.facts.get('why', ''))}")


def tell_state(state: State) -> None:
    """Where a sweep stands that has been going on for a while."""
    done, total = state.tasks_done
    warn(f"{one_line(state.namespace)}: {done} of {total} tasks done, {len(state.opened)} begun")
