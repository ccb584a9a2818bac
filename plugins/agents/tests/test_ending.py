"""What all agents have in common when they end."""

from __future__ import annotations

from pathlib import Path

import pytest
from attrs import evolve
from harness2_agents.ending import last_problem, outcome_of, stopped, text_of, trajectory_of, with_code
from harness2_agents.failures import Kind, Problem

from harness2_core.api import Action, Assistant, Ending, Exit, Failure, Outcome, Resources, Trajectory, Usage

SAID = "gave up: "
ENDED = Exit(0, None, False, False, Path("out"), Path("err"), Resources(elapsed_ms=7))


def problem(text: str) -> Problem:
    return Problem(Kind.SERVICE, text)


@pytest.mark.parametrize(
    ("exit", "words"),
    [
        (ENDED, ""),
        (evolve(ENDED, code=1), ""),
        (evolve(ENDED, code=None, signal=9), "the agent was ended by signal 9"),
        (evolve(ENDED, code=None, signal=9, timed_out=True), "the agent was stopped at its time limit"),
        (
            evolve(ENDED, code=None, signal=9, usage=Resources(exceeded="memory")),
            "the agent was stopped: it used more memory than allowed",
        ),
    ],
    ids=["well", "with a code", "a signal", "time", "memory"],
)
def test_who_stopped_a_run_goes_before_the_signal_that_did(exit: Exit, words: str) -> None:
    assert stopped(exit) == words


def test_a_code_is_told_with_what_was_said_of_it() -> None:
    assert with_code(evolve(ENDED, code=3)) == "the agent ended with exit code 3"
    assert with_code(evolve(ENDED, code=3), "no disk") == "the agent ended with exit code 3: no disk"


def test_an_error_that_was_followed_by_work_was_an_episode() -> None:
    error = Failure(f"{SAID}overloaded")
    assert last_problem(Trajectory((error, Assistant("Done."))), SAID, problem) is None
    assert last_problem(Trajectory((Action("shell", "ls"), error, Failure("it ended"))), SAID, problem) == problem(
        "overloaded"
    )
    assert last_problem(Trajectory((Failure("it ended"),)), SAID, problem) is None


@pytest.mark.parametrize(
    ("kind", "ending"),
    [
        (Kind.REFUSAL, Ending(Outcome.REFUSED, "no")),
        (Kind.OVERFLOW, Ending(Outcome.CRASHED, "no")),
        (Kind.SERVICE, None),
    ],
)
def test_only_what_the_model_did_is_an_outcome(kind: Kind, ending: Ending | None) -> None:
    assert outcome_of(Trajectory(()), "out of steps", Problem(kind, "no")) == ending


def test_out_of_steps_goes_before_what_came_of_it() -> None:
    trajectory = Trajectory((Failure("out of steps, 3"), Failure("aborted")))
    assert outcome_of(trajectory, "out of steps", Problem(Kind.OVERFLOW, "no")) == Ending(
        Outcome.OUT_OF_STEPS, "out of steps, 3"
    )


def test_what_is_known_of_a_run_is_put_together_with_its_time_and_whether_it_was_cut() -> None:
    usage, words = Usage("0.5", {"input": 1}), (Assistant("a"),)
    assert trajectory_of(words, "", usage, ("n",), ENDED) == Trajectory(words, evolve(usage, elapsed_ms=7), ("n",))
    cut = trajectory_of(words, "it ended", usage, ("n",), evolve(ENDED, truncated=True))
    assert cut.events == (*words, Failure("it ended"))
    assert cut.notes == ("n", "its output was longer than what is kept")


def test_any_bytes_are_text() -> None:
    assert text_of([b"a\x00\xc3", b"\xa4\xff"]) == "aä\N{REPLACEMENT CHARACTER}"
