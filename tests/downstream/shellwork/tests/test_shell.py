from __future__ import annotations

from pathlib import Path

import pytest
from shellwork.agent import ShellAgent, ShellSettings
from shellwork.shortest import Shortest

from harness2_core.api import Channel, HarnessTree, Outcome, Substrate
from harness2_core.testing import RunHarness2, SelectorContract, SubstrateContract, WorkRoom, drive
from harness2_core.testing.selector_contract import sample_ballot

TREE = HarnessTree(
    {"main.sh": ". agent/lib/say.sh\nsay hello\n", "lib/say.sh": 'say() { echo "$@"; }\n', "data/a.txt": "1\n"}
)
ADDS = 'total=0\nwhile read -r n; do total=$((total + n)); done < numbers.txt\necho $total > "$OUTPUT/sum.txt"\n'


class TestShell(SubstrateContract):
    @pytest.fixture
    def substrate(self) -> Substrate:
        return ShellAgent(ShellSettings())

    @pytest.fixture
    def tree(self) -> HarnessTree:
        return TREE


class TestShortest(SelectorContract):
    factory = "shellwork.shortest:Shortest"


def test_fewer_characters_win() -> None:
    assert drive(Shortest().select(sample_ballot({"A": "long\n", "B": "s\n"})), lambda ask: "").result.id == "B"


@pytest.mark.process
class TestAtWork:
    """Through the worker that real runs use."""

    @pytest.fixture
    def room(self, tmp_path: Path) -> WorkRoom:
        room = WorkRoom(tmp_path)
        room.agent = ShellAgent(ShellSettings())
        return room

    def test_a_script_delivers(self, room: WorkRoom) -> None:
        record = room.rolled({"main.sh": ADDS})
        assert (record.outcome, record.delivered) == (Outcome.FINISHED, True)
        assert room.text(record.deliverables.entries["sum.txt"]) == "3\n"

    def test_a_command_that_fails_ends_it(self, room: WorkRoom) -> None:
        record = room.rolled({"main.sh": "echo before\nfalse\necho after\n"})
        assert record.outcome is Outcome.CRASHED
        assert "before" in room.text(record.transcript)
        assert "after" not in room.text(record.transcript)

    def test_a_script_that_waits_is_ended(self, room: WorkRoom) -> None:
        record = room.rolled({"main.sh": "sleep 60\n"}, Channel(limit_seconds=1))
        assert record.outcome is Outcome.TIMED_OUT
        assert "out of time" in room.text(record.transcript)


def test_its_settings_are_explained(run_harness2: RunHarness2) -> None:
    shown = run_harness2("plugins", "show", "shell")
    assert shown.code == 0
    assert "[substrates.shell]" in shown.out
    assert "The shell that runs main.sh." in shown.out


def test_both_are_listed_and_well(run_harness2: RunHarness2) -> None:
    states = {row["name"]: row["state"] for row in run_harness2("plugins", "list", "--json").json}
    assert (states["shell"], states["shortest"]) == ("ok", "ok")
    doctor = run_harness2("plugins", "doctor", process=True)
    assert doctor.code == 0, doctor.out + doctor.err


def test_a_shell_that_is_not_there_is_told_before_anything_runs() -> None:
    assert ShellAgent(ShellSettings("/bin/no-such-shell")).preflight()
    assert not ShellAgent(ShellSettings()).preflight()
