"""`setup`: what can be brought, and bringing it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

BRINGS = """
    from pathlib import Path
    from harness2_core.api import ConfigError
    from pocket_made import Pocket

    class Made(Pocket):
        tested_version = "2.0.0"

        def version(self):
            if not Path({there!r}).exists():
                raise ConfigError("it is not there", "bring it")
            return Path({there!r}).read_text()

        def set_up(self, to):
            if str(to).endswith("full"):
                raise ConfigError("the disk is full", "make room")
            Path({there!r}).write_text("2.0.0")
            return f"brought, {{to}}"
"""


@pytest.fixture
def toy(bench: Any) -> Path:
    """A substrate `toy` that can be set up; the file says which version is there."""
    there: Path = bench.root / "toy-version"
    bench.plugin("substrate", "toy", BRINGS.format(there=str(there)), token="ty")
    return there


def test_an_agent_is_brought_and_the_person_is_told_where(toy: Path, typed: Callable[..., Any]) -> None:
    said = typed("setup", "toy")
    assert (said.code, said.out) == (0, "brought, None\n")
    assert toy.read_text() == "2.0.0"


def test_that_it_may_take_a_while_is_told_unless_it_is_there(toy: Path, typed: Callable[..., Any]) -> None:
    assert "bringing toy 2.0.0" in typed("setup", "toy").err
    assert typed("setup", "toy").err == ""


def test_it_may_go_elsewhere(toy: Path, typed: Callable[..., Any]) -> None:
    assert typed("setup", "toy", "--to", "there").out == "brought, there\n"


def test_what_can_be_set_up_is_listed_with_what_is_there(toy: Path, typed: Callable[..., Any]) -> None:
    def listed() -> Any:
        return next(row for row in typed("setup", "--json").json if row["name"] == "toy")

    assert listed() == {"name": "toy", "tested": "2.0.0", "version": ""}
    toy.write_text("1.9.0")
    assert listed() == {"name": "toy", "tested": "2.0.0", "version": "1.9.0"}
    assert any(line.split() == ["toy", "2.0.0", "1.9.0"] for line in typed("setup").out.splitlines())


def test_one_that_has_nothing_to_set_up_is_told_with_those_that_have(toy: Path, typed: Callable[..., Any]) -> None:
    said = typed("setup", "pocket")
    assert said.code == 1
    assert "has no agent to set up" in said.err
    assert "toy" in said.err


def test_an_unknown_name_is_told_with_the_nearest(toy: Path, typed: Callable[..., Any]) -> None:
    said = typed("setup", "toyy")
    assert said.code == 1
    assert "did you mean 'toy'" in said.err


def test_what_went_wrong_is_told_with_the_way_out(toy: Path, typed: Callable[..., Any]) -> None:
    said = typed("setup", "toy", "--to", "full")
    assert said.code == 1
    assert "the disk is full" in said.err
    assert "make room" in said.err


def test_a_place_without_a_name_is_refused(toy: Path, typed: Callable[..., Any]) -> None:
    assert typed("setup", "--to", "there").code == 1


def test_check_shows_the_version_that_is_there_beside_the_tested_one(
    toy: Path, bench: Any, typed: Callable[..., Any]
) -> None:
    bench.set(substrate="toy")
    toy.write_text("1.9.0")
    facts = typed("check", "--json").json["facts"]
    assert (facts["agent"], facts["agent tested"]) == ("1.9.0", "with 2.0.0")
