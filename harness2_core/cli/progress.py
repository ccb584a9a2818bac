"""Plain progress of a sweep on standard error: a line for each task that opens or ends, and each lost attempt."""

from __future__ import annotations

from harness2_core.model.events import Happened

from .terminal import one_line, warn


def tell_progress(event: Happened) -> None:
    """A listener. Steps in between are in `events.jsonl`."""
    match event.what, event.kind:
        case "sweep-started", _:
            warn(f"{event.facts['namespace']}: {event.facts['tasks']} tasks to do")
        case "step-started", "open":
            warn(f"{one_line(event.task)}: started")
        case "step-ended", "close":
            warn(f"{one_line(event.task)}: {event.mode} done")
        case "step-ended", "finish":
            warn(f"{one_line(event.task)}: finished")
        case "attempt-lost", _:
            why = event.facts.get("cause", "")
            warn(f"{one_line(event.task)}: {event.mode} {event.label or event.kind}: an attempt was lost ({why})")
        case "step-held", _:
            warn(f"{one_line(event.task)}: held back: {one_line(event.facts.get('why', ''))}")
