from __future__ import annotations

import pickle

import pytest

from harness2_core.model import errors
from harness2_core.model.channel import Usage
from harness2_core.model.errors import CAUSES, Harness2Error, InvalidValue, Lost


def test_an_error_says_what_and_then_the_way_out() -> None:
    error = Harness2Error("the file x is missing", "write it")
    assert str(error) == "the file x is missing\n  write it"
    assert str(Harness2Error("it broke")) == "it broke"


@pytest.mark.parametrize("cause", CAUSES)
def test_a_loss_crosses_processes_whole(cause: str) -> None:
    lost = Lost(cause, "the provider answered 429", wait_seconds=30, usage=Usage("0.01", source="stream"))
    copied = pickle.loads(pickle.dumps(lost))
    assert type(copied) is Lost
    assert (copied.cause, copied.what, copied.wait_seconds, copied.usage) == (
        cause,
        "the provider answered 429",
        30,
        lost.usage,
    )


@pytest.mark.parametrize(
    "kind", [value for value in vars(errors).values() if isinstance(value, type) and value is not Lost]
)
def test_every_other_error_crosses_processes_whole(kind: type) -> None:
    if not issubclass(kind, Harness2Error):
        pytest.skip("no error of ours")
    copied = pickle.loads(pickle.dumps(kind("what", "remedy")))
    assert (type(copied), copied.what, copied.remedy) == (kind, "what", "remedy")


def test_a_loss_has_a_cause_that_the_policy_table_knows() -> None:
    with pytest.raises(InvalidValue, match="'weather' is no cause"):
        Lost("weather", "it rained")
