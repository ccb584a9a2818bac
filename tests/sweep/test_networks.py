from __future__ import annotations

from typing import Any

import pytest

from harness2_core.sweep.networks import confinement

INSIDE = {"sandbox": "harness2-cell 1.0"}


@pytest.mark.parametrize(
    ("network", "promised"), [("none", "none"), ("model", "none"), ("model", "model"), ("hosts:a", "hosts:a")]
)
def test_a_promise_that_is_kept_is_not_spoken_of(network: str, promised: str) -> None:
    assert confinement([{"network": network, **INSIDE}] * 3, promised) == ()


def test_the_whole_network_is_told_and_what_was_promised() -> None:
    versions = [{"network": "open", **INSIDE}, {"network": "none", **INSIDE}]

    (told,) = confinement(versions, "none")
    assert told.startswith("1 of 2 executions had the whole network (open)")
    assert told.endswith("the tasks promise 'none'")
    (told,) = confinement(versions[:1], "open")
    assert "promise" not in told


def test_less_than_is_promised_is_told() -> None:
    assert confinement([{"network": "model", **INSIDE}], "open") == (
        "1 of 1 executions had the network 'model', where the tasks promise 'open'",
    )


def test_an_execution_without_a_sandbox_keeps_no_promise() -> None:
    (told,) = confinement([{"network": "open", "sandbox": "none"}], "model")

    assert "no sandbox: your own rights and the whole network, though the tasks promise the network 'model'" in told


def test_what_ran_elsewhere_is_not_spoken_of() -> None:
    """Agents behind services, and runs in containers of the benchmark's own."""
    assert confinement([{"sandbox": "none"}], "none") == ()


def test_a_run_without_a_sandbox_says_so_before_anything_is_paid(bench: Any) -> None:
    result = bench.run()
    said = [notice.partition(":")[0] for notice in bench.notices]
    assert said.index("no sandbox") < said.index("to do")
    assert "no sandbox: agents run with your own rights (the configuration asks for none)" in result.notes
