"""The contract of listeners. Subclass it in your tests and give `listener`, the module with the hooks.

    from my_package import plugin

    class TestMine(ListenerContract):
        @pytest.fixture
        def listener(self): return plugin

Events come from a sweep's own thread, one after the other; a listener that raises or lags is dropped for the rest.
"""

from __future__ import annotations

import time
from collections.abc import Sequence

import pluggy
import pytest

from harness2_core.api import Happened, HarnessTree, hookspecs

HOOKS = ("harness2_event", "harness2_check_tree", "harness2_preflight")

AT = "2024-05-06T07:08:09.123456Z"


def sample_events(steps: int = 3) -> tuple[Happened, ...]:
    """What a sweep of one task tells, with an attempt that is lost on the way."""
    events = [_happened("sweep-started", namespace="toy-toy-agg1", steps="3", slots="2", tasks="1")]
    for number in range(1, steps + 1):
        label = f"inv{number}"
        events += [
            _happened("step-started", label),
            _happened("attempt-queued", label, kind="rollout"),
            _happened("attempt-started", label, kind="rollout", role="executor", model="vendor/model", draw=label),
            _happened("attempt-lost", label, cause="rate-limit", role="executor"),
            _happened("attempt-waits", label, seconds="3"),
            _happened("attempt-ended", label, role="executor", source="paid", usd="0.25"),
            _happened("step-held", label, why="the budget is spent"),
            _happened("step-ended", label),
        ]
    return (*events, _happened("sweep-ended", exit="0"))


class ListenerContract:
    @pytest.fixture
    def listener(self) -> object:
        raise NotImplementedError("give the module that the entry point names")

    @pytest.fixture
    def trees(self) -> Sequence[HarnessTree]:
        """Harnesses that `harness2_check_tree` has something to say of, and others."""
        return (
            HarnessTree({}),
            HarnessTree({"PROMPT.md": "Do as the task says.\n"}),
            HarnessTree({"skills/a/SKILL.md": "---\nname: a\n---\n", "scripts/run.py": "print(1)\n"}),
        )

    @pytest.fixture
    def hooks(self, listener: object) -> pluggy.HookRelay:
        """The hooks, called as core calls them: by keyword, those left out that an implementation does not name."""
        manager = pluggy.PluginManager(hookspecs.PROJECT)
        manager.add_hookspecs(hookspecs)
        manager.register(listener, "under test")
        manager.check_pending()
        return manager.hook

    def test_it_implements_one_of_the_hooks_with_arguments_that_fit(
        self, listener: object, hooks: pluggy.HookRelay
    ) -> None:
        assert [name for name in HOOKS if getattr(hooks, name).get_hookimpls()]

    def test_every_event_of_a_sweep_is_taken(self, hooks: pluggy.HookRelay) -> None:
        for event in sample_events():
            hooks.harness2_event(event=event)

    def test_events_and_facts_of_a_later_version_are_no_trouble(self, hooks: pluggy.HookRelay) -> None:
        hooks.harness2_event(event=_happened("something-new", surprise="yes"))
        hooks.harness2_event(event=Happened("attempt-ended", AT))

    def test_another_sweep_may_follow(self, hooks: pluggy.HookRelay) -> None:
        for event in (*sample_events(), *sample_events(1), *sample_events()[5:]):
            hooks.harness2_event(event=event)

    def test_it_keeps_up(self, hooks: pluggy.HookRelay) -> None:
        """A thousand events in ten seconds: a sweep's listeners share one thread."""
        begun = time.monotonic()
        for event in sample_events(1_000 // 8):
            hooks.harness2_event(event=event)
        assert time.monotonic() - begun < 10

    def test_standard_output_is_left_to_the_command(
        self, hooks: pluggy.HookRelay, capfd: pytest.CaptureFixture[str]
    ) -> None:
        """`--json` of a command is read by programs."""
        for event in sample_events():
            hooks.harness2_event(event=event)
        assert capfd.readouterr().out == ""

    def test_problems_of_a_tree_are_told_in_words_and_alike_each_time(
        self, hooks: pluggy.HookRelay, trees: Sequence[HarnessTree]
    ) -> None:
        for tree in trees:
            told = hooks.harness2_check_tree(tree=tree)
            assert all(_texts(problems) for problems in told), told
            assert hooks.harness2_check_tree(tree=tree) == told

    def test_preflight_tells_problems_in_words(self, hooks: pluggy.HookRelay) -> None:
        assert all(_texts(problems) for problems in hooks.harness2_preflight())


def _happened(what: str, label: str = "", **facts: str) -> Happened:
    mode = "agg" if label else ""
    return Happened(what, AT, task="d01/t0001" if label else "", mode=mode, label=label, facts=facts, sweep="1")


def _texts(problems: object) -> bool:
    if isinstance(problems, str) or not isinstance(problems, Sequence):
        return False
    return all(isinstance(problem, str) and problem.strip() for problem in problems)
