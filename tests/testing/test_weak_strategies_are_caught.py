"""Selectors and reflectors that cheat, modes that promise what they do not hold, and a sandbox that is none."""

from __future__ import annotations

import random
import subprocess
import sys
from collections.abc import Callable, Sequence
from itertools import count
from pathlib import Path

import pytest

from harness2_core.api import (
    Ask,
    Ballot,
    Choice,
    ConfigError,
    Dialogue,
    Lesson,
    Manifest,
    Place,
    Plan,
    Policy,
    Roll,
    Round,
    Selector,
    Stage,
    Templates,
    asked,
    blob_entry,
    choice_in,
)
from harness2_core.testing import ModeContract, ReflectorContract, SandboxContract, SelectorContract
from harness2_core.testing.sandbox_room import make_room


def red(test: Callable[[], object]) -> None:
    with pytest.raises((AssertionError, pytest.fail.Exception)):
        test()


# --- selectors


class Positional:
    """Goes by the first id, whatever it stands for, and asks in vain."""

    def select(self, ballot: Ballot) -> Dialogue[Choice]:
        yield (Ask("choice", ballot.mission(), ballot.evidence),)
        return Choice(ballot.ids[0])


class Moody:
    """Is in another mood each time."""

    moods = count()

    def select(self, ballot: Ballot) -> Dialogue[Choice]:
        yield from ()
        return Choice(ballot.ids[next(self.moods) % len(ballot.ids)])


class Leaky:
    """Shows its sessions more than the ballot, twice under one tag."""

    def select(self, ballot: Ballot) -> Dialogue[Choice]:
        more = Manifest({**ballot.evidence.entries, "scores.txt": blob_entry(b"A: 1\n")})
        yield (Ask("a vote", ballot.mission(), more),)
        return (yield from asked(Ask("a vote", ballot.mission(), more), lambda reply: choice_in(reply, ballot.ids)))


def of(selector: Selector) -> SelectorContract:
    class Contract(SelectorContract):
        factory = "json:dumps"

        def selector(self) -> Selector:
            return selector

    return Contract()


def test_selectors_that_cheat_are_caught() -> None:
    red(of(Positional()).test_the_ids_do_not_matter)
    red(of(Positional()).test_an_unusable_reply_is_asked_for_once_more)
    red(lambda: of(Positional()).test_without_a_usable_reply_it_says_so_after_one_correction("no idea"))
    red(of(Moody()).test_the_same_ballot_and_replies_give_the_same_pick_and_asks)
    red(of(Leaky()).test_sessions_are_shown_nothing_but_the_ballot)
    red(of(Leaky()).test_tags_are_labels_and_each_is_asked_once)


# --- reflectors


class Fabulist:
    """Tells a lesson whatever it hears, another one each time, and half of one."""

    def reflect(self, round: Round) -> Dialogue[Lesson | None]:
        yield (Ask("lesson", "Tell.", Manifest({"grade.txt": blob_entry(b"1\n")})),)
        return Lesson(f"cue {random.random()}", " ", "evidence")


def test_reflectors_that_make_things_up_are_caught() -> None:
    class Contract(ReflectorContract):
        factory = "json:dumps"

        def reflector(self) -> Fabulist:
            return Fabulist()

    contract = Contract()
    red(contract.test_it_tells_a_whole_lesson_or_none)
    red(contract.test_the_same_round_and_replies_give_the_same_lesson)
    red(contract.test_it_looks_at_nothing_but_the_round)
    red(contract.test_sessions_are_shown_nothing_but_the_round)
    red(contract.test_an_unusable_reply_is_asked_for_once_more)
    red(lambda: contract.test_without_a_usable_reply_it_says_so_after_one_correction("Nothing comes to mind."))


# --- modes


class Unrolled:
    """Edits that nobody runs, in an order that tells effects before causes, by a mission that is not there."""

    def plan(self, k: int) -> Plan:
        bases = tuple(f"base{number}" for number in range(1, k + 1))
        first, second = Stage("one", "no_such_mission", "two", bases), Stage("two", "inv", "base", bases)
        return Plan((first, second, Roll("two", "two")), ("two",), rollouts=k + 1, sessions=2)


def test_modes_that_waste_what_is_paid_are_caught() -> None:
    class Contract(ModeContract):
        factory = "json:dumps"

        def mode(self) -> Unrolled:
            return Unrolled()

    red(Contract().test_every_stage_is_rolled_once)
    red(Contract().test_steps_stand_after_what_they_need)
    with pytest.raises(ConfigError, match="no_such_mission"):
        Contract().test_every_stage_has_a_mission()


class Shadow:
    """Brings a text whose name core's has, and one that no benchmark without a yardstick can be told."""

    def plan(self, k: int) -> Plan:
        stage = Stage("one", "own", "base", ("base1",))
        return Plan((stage, Roll("one", "one")), ("one",), rollouts=k + 1, sessions=1)

    def templates(self) -> Templates:
        return Templates({"own": "{% if not words.yardstick %}{{ gone }}{% endif %}x", "_data": "x"})


def test_modes_whose_texts_hide_core_s_or_break_on_blank_words_are_caught() -> None:
    class Contract(ModeContract):
        factory = "json:dumps"

        def mode(self) -> Shadow:
            return Shadow()

    red(Contract().test_templates_of_its_own_hide_none_of_core_unasked)
    with pytest.raises(ConfigError, match="'gone' is undefined"):
        Contract().test_every_stage_has_a_mission()

    class OnPurpose(Contract):
        replaces = frozenset({"_data"})

    OnPurpose().test_templates_of_its_own_hide_none_of_core_unasked()


def test_a_mode_whose_plan_follows_from_the_hash_seed_is_caught(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "zz_hashed.py").write_text(
        "from harness2_core.api import Plan, Roll\n"
        "class Hashed:\n"
        "    def plan(self, k):\n"
        "        labels = list({'one', 'two', 'three', 'four', 'five', 'six', 'seven'})\n"
        "        return Plan(tuple(Roll(label, 'base') for label in labels), labels[:1], rollouts=k + 7, sessions=0)\n"
    )
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))

    class Contract(ModeContract):
        factory = "zz_hashed:Hashed"

    red(Contract().test_the_plan_is_the_same_in_another_process)


# --- sandboxes


class Open:
    """Confines nothing."""

    def works(self) -> str:
        return ""

    def wrap(self, argv: Sequence[str], policy: Policy, place: Place) -> Sequence[str]:
        return argv


@pytest.mark.process
@pytest.mark.skipif(sys.platform != "linux", reason="sandboxes are tried on Linux")
def test_a_sandbox_that_is_none_is_caught(tmp_path: Path) -> None:
    contract, room = SandboxContract(), make_room(Open(), tmp_path.resolve())
    read = "import sys\nfor path in sys.argv[1:]:\n    print(open(path).read())\n"
    red(lambda: contract.test_nothing_around_the_workspace_can_be_read(room, read, "the store"))
    red(lambda: contract.test_a_link_that_an_earlier_program_planted_leads_nowhere(room))
    red(lambda: contract.test_network_none_does_not_reach_the_machine_and_open_does(room))
    red(lambda: contract.test_a_mount_that_is_not_there_is_refused_by_name(room, Open()))
    with subprocess.Popen(["sleep", "60"]) as bystander:
        red(lambda: contract.test_other_processes_cannot_be_signalled(room, bystander))
        bystander.kill()
