"""The script that ends an agent at its limit of steps, with a log in the place of Codex."""

from __future__ import annotations

import subprocess
from importlib.resources import files

import pytest

pytestmark = pytest.mark.process
SCRIPT = files("harness2_codex").joinpath("steps.sh").read_text(encoding="utf-8")
ENDED = '{"type":"harness2.out_of_steps","steps":2}'


def answer(*, more: bool) -> str:
    told = f"needs_follow_up={str(more).lower()}"
    return f"2026-01-01T00:00:00Z TRACE codex_core::session::turn: post sampling token usage {told}"


def passed_on(*lines: str, steps: int = 2) -> list[str]:
    written = subprocess.run(
        ["/bin/sh", "-c", SCRIPT, "steps", str(steps), "cat"],
        input="".join(f"{line}\n" for line in lines).encode(),
        capture_output=True,
        check=True,
        timeout=60,
    )
    return written.stdout.decode().splitlines()


def test_an_agent_that_comes_to_its_end_in_its_last_step_is_left_alone() -> None:
    lines = [answer(more=True), answer(more=False)]
    assert passed_on(*lines) == lines


def test_an_agent_that_wants_more_after_its_last_step_is_ended() -> None:
    lines = [answer(more=True), answer(more=True)]
    assert passed_on(*lines, "later") == [*lines, ENDED]


def test_an_answer_beyond_the_limit_ends_the_run_whoever_gave_it() -> None:
    lines = [answer(more=True), answer(more=False), answer(more=False)]
    assert passed_on(*lines, "later") == [*lines, ENDED]


def test_what_is_no_answer_is_passed_on_and_not_counted() -> None:
    lines = ["{}", "2026 TRACE codex_core::session::turn: something else", "a last line"]
    assert passed_on(*lines, steps=1) == lines
