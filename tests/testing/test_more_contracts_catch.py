"""The contracts of access, commands and listeners turn red where a plugin breaks them, and green where none does."""

from __future__ import annotations

import os
import random
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from types import SimpleNamespace
from typing import Any

import pluggy
import pytest
import typer
from typer.testing import CliRunner

from harness2_core.api import (
    Channel,
    ConfigError,
    Endpoint,
    Happened,
    HarnessTree,
    ModelAccess,
    Usage,
    hookimpl,
    hookspecs,
)
from harness2_core.testing import AccessContract, CommandContract, ListenerContract
from harness2_core.testing.command_contract import NO_OPTION
from harness2_core.work.access import PlainAccess

CANARY = "canary-of-a-vault"
CHANNELS = (Channel("vendor/model"),)


def red(test: Callable[[], object]) -> None:
    with pytest.raises((AssertionError, pytest.fail.Exception)):
        test()


# --- access


class TestPlainAccess(AccessContract):
    """Core's own keeps it."""

    @pytest.fixture
    def access(self) -> ModelAccess:
        return PlainAccess({"THE_KEY": CANARY})

    @pytest.fixture
    def channels(self) -> Sequence[Channel]:
        return (Channel("m", options={"key_variable": "THE_KEY", "url": "http://127.0.0.1:9"}), Channel("m"))

    @pytest.fixture
    def refused(self) -> Sequence[Channel]:
        return (Channel("m", options={"key_variable": "NO_SUCH_KEY"}),)

    @pytest.fixture
    def secrets(self) -> Sequence[str]:
        return (CANARY,)


class Careless:
    """Puts its key into the environment and on the screen, swallows errors, and takes unknown for free."""

    def __init__(self) -> None:
        self.current = ""

    @contextmanager
    def open(self, channel: Channel, key: str, role: str) -> Iterator[Endpoint]:
        os.environ["ZZ_KEY"] = CANARY
        print(f"using {CANARY}")
        self.current = key
        time.sleep(0.005)
        with suppress(ZeroDivisionError):
            yield Endpoint(f"http://127.0.0.1:9/{self.current}")

    def usage(self, key: str) -> Usage | None:
        return Usage(usd="0")


class Telling(Careless):
    @contextmanager
    def open(self, channel: Channel, key: str, role: str) -> Iterator[Endpoint]:
        if channel.model:
            raise ConfigError("the vault is shut", "open it") from ValueError(CANARY)
        yield Endpoint()


def test_accesses_that_break_the_contract_are_caught(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("ZZ_KEY", "0")
    contract, access = AccessContract(), Careless()
    red(lambda: contract.test_opening_changes_no_variable_of_ours(access, CHANNELS))
    red(lambda: contract.test_requests_at_the_same_time_do_not_mix(access, CHANNELS))
    red(lambda: contract.test_an_error_inside_passes_through(access, CHANNELS))
    red(lambda: contract.test_no_secret_is_printed_or_shown(access, CHANNELS, [CANARY], capfd))
    red(lambda: contract.test_usage_that_nobody_saw_is_unknown(access))
    red(lambda: contract.test_what_it_cannot_serve_is_refused_with_a_remedy_and_no_secret(access, CHANNELS, []))
    telling = Telling()
    red(lambda: contract.test_what_it_cannot_serve_is_refused_with_a_remedy_and_no_secret(telling, CHANNELS, [CANARY]))


# --- listeners


class TestAListenerThatNamesNoArgument(ListenerContract):
    """A hook may be given more arguments one day: an implementation takes those it names."""

    @pytest.fixture
    def listener(self) -> object:
        @hookimpl
        def harness2_event() -> None:
            """Is called all the same."""

        return SimpleNamespace(harness2_event=harness2_event)


def hooks_of(**implementations: Callable[..., Any]) -> pluggy.HookRelay:
    listener = SimpleNamespace(**{name: hookimpl(function) for name, function in implementations.items()})
    manager = pluggy.PluginManager(hookspecs.PROJECT)
    manager.add_hookspecs(hookspecs)
    manager.register(listener)
    return manager.hook


def test_listeners_that_break_the_contract_are_caught(capfd: pytest.CaptureFixture[str]) -> None:
    contract = ListenerContract()

    def strict(event: Happened) -> None:
        assert event.what != "something-new"
        assert "kind" in event.facts or event.what != "attempt-queued"

    def slow(event: Happened) -> None:
        time.sleep(0.02)

    def printing(event: Happened) -> None:
        print(event.what)

    def moody(tree: HarnessTree) -> list[str]:
        return [f"{random.random()}"]

    def wordless(tree: HarnessTree) -> str:
        return "one problem"

    red(lambda: contract.test_it_implements_one_of_the_hooks_with_arguments_that_fit(object(), hooks_of()))
    red(lambda: contract.test_events_and_facts_of_a_later_version_are_no_trouble(hooks_of(harness2_event=strict)))
    red(lambda: contract.test_it_keeps_up(hooks_of(harness2_event=slow)))
    red(lambda: contract.test_standard_output_is_left_to_the_command(hooks_of(harness2_event=printing), capfd))
    trees = [HarnessTree({})]
    for bad in (moody, wordless):
        hooks = hooks_of(harness2_check_tree=bad)
        red(lambda: contract.test_problems_of_a_tree_are_told_in_words_and_alike_each_time(hooks, trees))  # noqa: B023
    red(lambda: contract.test_preflight_tells_problems_in_words(hooks_of(harness2_preflight=lambda: [""])))


def test_a_hook_with_an_argument_that_core_does_not_give_is_refused() -> None:
    def odd(event: Happened, weather: str) -> None:
        """Nobody tells it the weather."""

    with pytest.raises(pluggy.PluginValidationError, match="weather"):
        hooks_of(harness2_event=odd)


# --- commands


class TestAGroupOfCommands(CommandContract):
    calls = (["greet"], ["greet", "--name", "Ada"])

    @pytest.fixture
    def command(self) -> typer.Typer:
        app = typer.Typer(help="Greet people.", add_completion=False)

        @app.command()
        def greet(name: str = "you") -> None:
            """Greet one."""
            typer.echo(f"hello {name}")

        @app.command()
        def part() -> None:
            """Say good-bye."""

        return app


def calling(function: Callable[..., None]) -> Callable[..., Any]:
    app = typer.Typer(add_completion=False)
    app.command()(function)
    return lambda *arguments: CliRunner().invoke(app, arguments)


def test_commands_that_break_the_contract_are_caught(tmp_path: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ZZ_LEFT", "0")

    def silent() -> None:
        os.environ["ZZ_LEFT"] = "1"

    def broken() -> None:
        """Fail."""
        raise ZeroDivisionError

    contract = CommandContract()
    contract.calls = ([],)  # type: ignore[misc]
    red(lambda: contract.test_help_says_what_it_does(silent, calling(silent)))
    red(lambda: contract.test_calls_change_nothing_of_this_process(calling(silent), tmp_path))
    red(lambda: contract.test_it_does_what_it_is_there_for(calling(broken), tmp_path))
    red(lambda: contract.test_calls_change_nothing_of_this_process(calling(broken), tmp_path))
    assert NO_OPTION in calling(broken)(NO_OPTION).output
