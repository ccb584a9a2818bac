"""How agents end: one rule for all, and what they were set up with is in the record."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from attrs import evolve

from harness2_core.api import (
    Action,
    Assistant,
    Channel,
    Ending,
    Endpoint,
    Event,
    Exit,
    FrozenMap,
    HarnessTree,
    Install,
    InvalidValue,
    Lost,
    Observation,
    Outcome,
    Place,
    Reasoning,
    Trajectory,
    ending_of,
)
from harness2_core.testing import TOY_FAILURES, Behaviour, ToyAgent, WorkRoom
from harness2_core.testing.workroom import SUM, ProgramAgent
from harness2_core.work.access import PlainAccess
from harness2_core.work.configured import config_digest

WORK: tuple[Event, ...] = (Assistant("Done."),)


def ended(code: int | None = 0, *, timed_out: bool = False) -> Exit:
    return Exit(code, None if code is not None else 9, timed_out, False, Path("out"), Path("err"))


class Telling:
    """Says of every run what it is given."""

    def __init__(self, ending: Ending | None = None, lost: Lost | None = None) -> None:
        self._ending, self._lost = ending, lost

    def outcome(self, trajectory: Trajectory, exit: Exit) -> Ending | None:
        return self._ending

    def loss(self, trajectory: Trajectory, exit: Exit) -> Lost | None:
        return self._lost


def outcome(agent: object, exit: Exit, events: tuple[Event, ...] = WORK, *, delivered: bool = False) -> Outcome:
    return ending_of(agent, Trajectory(events), exit, delivered=delivered).outcome


def test_without_a_word_of_the_agent_its_exit_says_how_it_ended() -> None:
    assert outcome(object(), ended(0)) is Outcome.FINISHED
    assert outcome(object(), ended(3)) is Outcome.CRASHED
    assert outcome(object(), ended(None)) is Outcome.CRASHED
    assert outcome(object(), ended(None, timed_out=True)) is Outcome.TIMED_OUT


@pytest.mark.parametrize("told", [Outcome.REFUSED, Outcome.OUT_OF_STEPS, Outcome.CRASHED])
def test_the_word_of_the_agent_goes_before_its_exit_code(told: Outcome) -> None:
    assert outcome(Telling(Ending(told)), ended(0)) is told
    assert outcome(Telling(Ending(told)), ended(1)) is told


def test_an_agent_may_say_that_it_finished_in_spite_of_its_exit_code() -> None:
    assert outcome(Telling(Ending(Outcome.FINISHED)), ended(1)) is Outcome.FINISHED


def test_the_time_limit_goes_before_the_word_of_the_agent() -> None:
    assert outcome(Telling(Ending(Outcome.CRASHED)), ended(None, timed_out=True)) is Outcome.TIMED_OUT


@pytest.mark.parametrize("exit", [ended(0), ended(1), ended(None, timed_out=True)])
def test_a_loss_goes_before_everything(exit: Exit) -> None:
    with pytest.raises(Lost) as caught:
        outcome(Telling(Ending(Outcome.REFUSED), Lost("network", "unreachable")), exit)
    assert caught.value.cause == "network"


@pytest.mark.parametrize("events", [(), (Assistant(" \n"),), (Reasoning("hm"),), (Observation(""),)])
@pytest.mark.parametrize("agent", [object(), Telling(Ending(Outcome.FINISHED))])
def test_one_that_ends_well_and_did_nothing_has_failed(agent: object, events: tuple[Event, ...]) -> None:
    assert outcome(agent, ended(0), events) is Outcome.CRASHED
    assert "did nothing" in ending_of(agent, Trajectory(events), ended(0), delivered=False).note
    assert outcome(agent, ended(0), events, delivered=True) is Outcome.FINISHED


@pytest.mark.parametrize("event", [Assistant("x"), Action("bash", ""), Observation("x")])
def test_a_word_or_an_action_is_work(event: Event) -> None:
    assert outcome(object(), ended(0), (event,)) is Outcome.FINISHED


def test_a_loss_is_no_ending() -> None:
    with pytest.raises(InvalidValue):
        Ending(Outcome.LOST)


# -- in the worker


class Silent(ToyAgent):
    """Its parser finds nothing in what it prints."""

    def parse(self, *streams: object) -> Trajectory:
        return Trajectory(())


@pytest.mark.process
def test_a_rollout_that_ended_well_and_did_nothing_is_a_crash_with_a_note(room: WorkRoom) -> None:
    room.agent = Silent(TOY_FAILURES)
    record = room.rolled({"PROMPT.md": "nothing\n"})
    assert (record.outcome, record.delivered) == (Outcome.CRASHED, False)
    assert "did nothing" in record.note
    delivering = room.rolled({"PROMPT.md": "as usual\n"})
    assert (delivering.outcome, delivering.delivered) == (Outcome.FINISHED, True)


@pytest.mark.process
@pytest.mark.parametrize(
    ("told", "behaviour"),
    [
        (Outcome.REFUSED, Behaviour()),
        (Outcome.OUT_OF_STEPS, Behaviour()),
        (Outcome.CRASHED, Behaviour(code=2)),
        (Outcome.TIMED_OUT, Behaviour(hangs=True)),
    ],
)
def test_what_was_delivered_is_kept_however_it_ended_and_the_record_says_how(
    told: Outcome, behaviour: Behaviour, room: WorkRoom
) -> None:
    class Agent(ToyAgent):
        def outcome(self, trajectory: Trajectory, exit: Exit) -> Ending | None:
            return Ending(told, "it said so") if exit.code == 0 else None

    room.agent = Agent(usual=behaviour)
    record = room.rolled({"PROMPT.md": "x\n"}, Channel(limit_seconds=3 if behaviour.hangs else 60))
    assert (record.outcome, record.delivered) == (told, True)
    assert list(record.deliverables.entries) == ["answer.txt"]
    if not behaviour.code and not behaviour.hangs:
        assert "it said so" in record.note


@pytest.mark.process
def test_a_providers_error_is_lost_and_not_a_delivered_nothing(room: WorkRoom) -> None:
    class Cut(ToyAgent):
        def loss(self, trajectory: Trajectory, exit: Exit) -> Lost | None:
            return Lost("provider", "overloaded")

    room.agent = Cut(usual=Behaviour({}))
    (item,) = room.perform(room.rollout_request({"PROMPT.md": "x\n"}))
    assert (item.final, item.cause, item.note) == (False, "provider", "overloaded")


# -- what it was set up with


class Configured(ToyAgent):
    """Writes a configuration as real agents do."""

    def __init__(self, extra: str = "", reads: Path = Path("/somewhere/agent")) -> None:
        super().__init__()
        self._extra, self._reads = extra, reads

    def install(self, tree: HarnessTree, prompt: str, channel: Channel, place: Place, endpoint: Endpoint) -> Install:
        made = super().install(tree, prompt, channel, place, endpoint)
        text = (
            f"{channel.model} {channel.effort} {endpoint.url} {endpoint.key} {place.home} {self._reads} {self._extra}"
        )
        return evolve(made, home=FrozenMap({"config": text.encode()}), reads=(*made.reads, self._reads))

    def version(self) -> str:
        return "toy 1.2"


CHANNEL = Channel("m1", "high", limit_seconds=60)


@pytest.mark.process
def test_a_record_bears_version_model_effort_and_how_the_agent_was_set_up(room: WorkRoom, tmp_path: Path) -> None:
    (tmp_path / "agent").mkdir()
    room.agent = Configured(reads=tmp_path / "agent")
    versions = room.rolled({"PROMPT.md": "x\n"}, CHANNEL).versions
    assert (versions["agent.toy"], versions["model"], versions["effort"]) == ("toy 1.2", "m1", "high")
    assert versions["config.toy"] == config_digest(Configured(), CHANNEL, Endpoint())


def test_the_digest_of_the_set_up_depends_on_neither_places_nor_keys() -> None:
    here, there = Configured(reads=Path("/somewhere/agent")), Configured(reads=Path("/elsewhere/agent"))
    one = config_digest(here, CHANNEL, Endpoint("http://127.0.0.1:5001/v1", "secret-a"))
    assert config_digest(there, CHANNEL, Endpoint("http://127.0.0.1:9/v1", "secret-b")) == one


@pytest.mark.parametrize(
    "change",
    [
        lambda agent, channel, endpoint: (Configured("autoupdate"), channel, endpoint),
        lambda agent, channel, endpoint: (agent, evolve(channel, model="m2"), endpoint),
        lambda agent, channel, endpoint: (agent, evolve(channel, effort="low"), endpoint),
        lambda agent, channel, endpoint: (agent, channel, Endpoint()),
    ],
    ids=["a setting", "the model", "the effort", "no endpoint"],
)
def test_the_digest_of_the_set_up_differs_with_what_the_agent_is_told(
    change: Callable[[ToyAgent, Channel, Endpoint], tuple[ToyAgent, Channel, Endpoint]],
) -> None:
    given = (Configured(), CHANNEL, Endpoint("http://127.0.0.1:1/v1", "secret"))
    assert config_digest(*change(*given)) != config_digest(*given)


@pytest.mark.process
def test_an_agent_that_cannot_be_asked_twice_costs_no_record(room: WorkRoom) -> None:
    class Once(ProgramAgent):
        asked = 0

        def install(self, *args: object) -> Install:
            self.asked += 1
            if self.asked > 1:
                raise KeyError("again")
            return super().install(*args)  # type: ignore[arg-type]

    room.agent = Once()
    room.access = PlainAccess({})
    assert room.rolled(SUM).versions["config.toy"] == "untold: KeyError"
