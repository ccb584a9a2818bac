"""Proposers that drive an agent: that one is asked, configured, recorded and carried to workers in their place."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from harness2_core.model.errors import ConfigError
from harness2_core.sweep.naming import names_of

DRIVES = r"""
    from harness2_core.api import NO_MODEL, Outcome, Said
    from harness2_local.scripted import ScriptedProposer

    class Made:
        drives = {drives!r}

        def unfit(self, agent):
            return {unfit!r}

        def run(self, request, workspace, ctx):
            agent = ctx.substrate(self.drives or request.substrate)
            return Said(Outcome.FINISHED, f"as {{agent.mark}}\n\nKEEP_BASE\n", NO_MODEL)
"""

AGENT = """
    from attrs import frozen
    from harness2_core.api import Allowed, Surface
    from harness2_local.python_substrate import PythonSubstrate

    @frozen
    class Marked:
        mark: str = "unset"

    class Made(PythonSubstrate):
        def __init__(self, settings):
            super().__init__()
            self.mark = settings.mark

        def version(self):
            return f"marked {self.mark}"

        def knows_price(self, channel):
            return self.mark == "known"

        def preflight(self):
            return ["it is asleep; wake it"] if self.mark == "asleep" else []
"""


@pytest.fixture
def driving(bench: Any) -> Any:
    """A proposer `driver` that drives the substrate `marked`, which has a setting."""
    bench.plugin("substrate", "marked", AGENT, token="ma", settings="marked_substrate_made:Marked")
    bench.plugin("proposer", "driver", DRIVES.format(drives="marked", unfit=""))
    bench.set(**{"roles.improver.provider": "driver", "substrates.marked.mark": "one"})
    return bench


def settings_of_sessions(bench: Any) -> list[dict[str, str]]:
    return [item["settings"] for item in bench.requests() if item["kind_of_request"] == "session"]


def test_the_driven_agent_runs_with_its_own_settings_in_the_worker(driving: Any) -> None:
    driving.run()
    edits = [reply for reply in driving.replies() if reply.kept]
    assert edits
    assert all(reply.text.startswith("as one\n") for reply in edits)
    assert all(reply.versions["agent.marked"] == "marked one" for reply in edits)


def test_its_settings_are_part_of_the_sessions_identity(driving: Any) -> None:
    driving.run()
    assert {told["substrates.marked.mark"] for told in settings_of_sessions(driving)} == {"one"}


def test_its_version_is_recorded_with_the_experiment(driving: Any) -> None:
    driving.run()
    recorded = driving.reading().study.experiment.recorded
    assert (recorded["substrate.marked"], recorded["agent.marked"]) == ("marked-substrate-made 1.0", "marked one")


def test_another_version_of_it_is_told(driving: Any) -> None:
    driving.run()
    driving.run(**{"substrates.marked.mark": "two"})
    assert any("agent.marked was marked one, is now marked two" in note for note in driving.notices)


def test_without_a_name_the_runs_own_agent_is_driven(driving: Any) -> None:
    driving.plugin("proposer", "own", DRIVES.format(drives="", unfit=""))
    driving.set(substrate="marked", **{"roles.improver.provider": "own"})
    driving.run()
    assert {told["substrates.marked.mark"] for told in settings_of_sessions(driving)} == {"one"}


def checked(bench: Any, capsys: pytest.CaptureFixture[str], *lines: str) -> tuple[int, Sequence[str]]:
    code = bench.command("check")
    said = capsys.readouterr().out.splitlines()
    return code, [" ".join(line.split()) for line in said if line.startswith(lines)]


def test_check_shows_it_and_asks_it(driving: Any, capsys: pytest.CaptureFixture[str]) -> None:
    assert checked(driving, capsys, "agent marked") == (0, ["agent marked marked one"])
    driving.set(**{"substrates.marked.mark": "asleep"})
    assert checked(driving, capsys, "problem") == (1, ["problem: substrate marked: it is asleep; wake it"])


def test_an_agent_that_cannot_run_sessions_is_told_before_anything_is_paid(
    driving: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    driving.plugin("proposer", "picky", DRIVES.format(drives="marked", unfit="it cannot read"))
    driving.set(**{"roles.improver.provider": "picky"})
    code, (problem,) = checked(driving, capsys, "problem")
    assert code == 1
    assert "marked cannot run sessions: it cannot read" in problem


def test_an_agent_behind_a_service_cannot_be_driven(driving: Any, capsys: pytest.CaptureFixture[str]) -> None:
    driving.plugin("proposer", "own", DRIVES.format(drives="", unfit=""))
    driving.set(**{"roles.improver.provider": "own"})  # the bench's agent runs in this process, as services do
    code, (problem,) = checked(driving, capsys, "problem")
    assert code == 1
    assert "behind a service" in problem


def test_an_agent_that_is_not_installed_is_told_with_near_names(
    driving: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    driving.plugin("proposer", "lost", DRIVES.format(drives="markd", unfit=""))
    driving.set(**{"roles.improver.provider": "lost"})
    code, problems = checked(driving, capsys, "problem")
    assert code == 1
    assert any("did you mean 'marked'" in problem for problem in problems)


def test_a_limit_in_usd_asks_it_for_its_price(driving: Any) -> None:
    with pytest.raises(ConfigError, match="improver"):
        driving.run(max_usd="5", **{"roles.executor.provider": "python"})
    driving.set(substrate="python", **{"substrates.marked.mark": "known"})
    assert driving.run(max_usd="5", max_tasks=1).exit_code in (0, 2)


# -- roles


def test_what_is_said_to_every_role_reaches_its_requests(bench: Any) -> None:
    improver = {"model": "m-i", "effort": "high", "steps": "9", "limit_seconds": "77", "options.temperature": "0"}
    bench.set(**{f"roles.improver.{key}": value for key, value in improver.items()})
    bench.set(**{"roles.executor.model": "m-e", "roles.executor.limit_seconds": "66", "roles.selector.model": "m-s"})
    bench.run()
    channels: dict[str, set[str]] = {}
    for item in bench.requests():
        role = item.get("role", "executor")
        channel = item["channel"]
        shown = [str(channel.get(key, "")) for key in ("model", "effort", "steps", "limit_seconds")]
        channels.setdefault(role, set()).add(" ".join((*shown, str(channel.get("options", "")))))
    options = "{'temperature': '0'}"
    assert channels["executor"] == {"m-e   66 "}
    assert channels["improver"] == channels["reflector"] == {f"m-i high 9 77 {options}"}
    assert channels.get("selector", {f"m-s high 9 77 {options}"}) == {f"m-s high 9 77 {options}"}


def test_the_executors_provider_is_the_substrate(bench: Any) -> None:
    bench.set(substrate="", **{"roles.executor.provider": "pocket"})
    assert bench.run().exit_code == 0
    assert bench.reading().study.experiment.substrate == "po"


def test_two_names_for_the_substrate_are_told(bench: Any) -> None:
    from harness2_core.plugins.registry import Registry

    _, notes = names_of(bench.config(**{"roles.executor.provider": "python"}), Registry.installed())
    assert any("'python'" in note and "that of [run] is used" in note for note in notes)
    _, notes = names_of(bench.config(**{"roles.executor.provider": "po"}), Registry.installed())
    assert not any("is used" in note for note in notes)
