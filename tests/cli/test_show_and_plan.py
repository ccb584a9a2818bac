"""`show` and `plan` after a run: the mode that is asked for, and what is left to do."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from harness2_core.sweep import experiment


def test_of_several_modes_one_may_be_shown(bench: Any, typed: Callable[..., Any]) -> None:
    typed("run", "--modes", "parallel,null")
    both, one = typed("show", "sums/first").out, typed("show", "sums/first", "--mode", "nul").out
    assert ("mode agg:" in both, "mode nul:" in both) == (True, True)
    assert ("mode agg:" in one, "mode nul:" in one) == (False, True)


def test_what_is_finished_leaves_nothing_to_do(bench: Any, typed: Callable[..., Any]) -> None:
    typed("run")
    assert typed("plan").out.splitlines()[-1].startswith("to do: nothing")


def test_who_only_reads_claims_nothing(bench: Any, typed: Callable[..., Any], monkeypatch: pytest.MonkeyPatch) -> None:
    typed("run")

    def refuse(store: object, key: str) -> Any:
        raise AssertionError(f"{key} was claimed: a directory that may only be read does not give that")

    monkeypatch.setattr(experiment, "locked", refuse)

    assert typed("show").code == 0
    assert typed("report").code == 0
