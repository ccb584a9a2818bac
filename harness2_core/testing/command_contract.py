"""The contract of commands. Subclass it in your tests and give `command`, made as your factory makes it.

    class TestMine(CommandContract):
        calls = [["--runs", "{tmp_path}/runs"]]

        @pytest.fixture
        def command(self): return my_factory()

It is called as core calls it: `harness2 <name> ARGUMENTS`, with the options before the command as `ctx.obj`.
"""

from __future__ import annotations

import os
import random
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import ClassVar

import pytest
import typer
from typer.testing import CliRunner, Result

from harness2_core.api import Harness2Error
from harness2_core.cli.invocation import Invocation

NO_OPTION = "--no-command-has-such-an-option"


class CommandContract:
    calls: ClassVar[Sequence[Sequence[str]]] = ()
    """Arguments that must work; `{tmp_path}` in them becomes a fresh directory, in which the command is run."""

    @pytest.fixture
    def command(self) -> typer.Typer | Callable[..., object]:
        raise NotImplementedError("give what the factory returns: a typer.Typer or a function")

    @pytest.fixture
    def invoke(
        self, command: typer.Typer | Callable[..., object], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> Callable[..., Result]:
        """Runs the command with these arguments; what it raises on purpose is told as core would tell it."""
        monkeypatch.chdir(tmp_path)

        def run(*arguments: str) -> Result:
            return CliRunner().invoke(_app(command), arguments, obj=Invocation())

        return run

    def test_it_is_a_command(self, command: typer.Typer | Callable[..., object]) -> None:
        assert isinstance(command, typer.Typer) or callable(command)

    def test_help_says_what_it_does(
        self, command: typer.Typer | Callable[..., object], invoke: Callable[..., Result]
    ) -> None:
        shown = invoke("--help")
        assert shown.exit_code == 0, shown.output
        told = typer.main.get_command(_app(command)).help
        assert told, "give the function a docstring, or the typer.Typer a help text: it is what help shows"
        assert told.split()[0] in shown.output

    def test_an_option_it_does_not_have_is_refused(self, invoke: Callable[..., Result]) -> None:
        refused = invoke(NO_OPTION)
        assert refused.exit_code != 0
        assert NO_OPTION in refused.output

    def test_it_does_what_it_is_there_for(self, invoke: Callable[..., Result], tmp_path: Path) -> None:
        if not self.calls:
            pytest.skip("no calls given")
        for call in self.calls:
            done = invoke(*(argument.replace("{tmp_path}", str(tmp_path)) for argument in call))
            assert done.exit_code == 0, f"{done.output}\n{done.exception!r}"

    def test_calls_change_nothing_of_this_process(self, invoke: Callable[..., Result], tmp_path: Path) -> None:
        """Commands are also called from Python, and after one another."""
        before = (dict(os.environ), random.getstate(), Path.cwd())
        for call in ([], *self.calls):
            done = invoke(*(argument.replace("{tmp_path}", str(tmp_path)) for argument in call))
            failed = done.exception
            assert failed is None or isinstance(failed, SystemExit | Harness2Error), repr(failed)
        assert (dict(os.environ), random.getstate(), Path.cwd()) == before


def _app(command: typer.Typer | Callable[..., object]) -> typer.Typer:
    """As core does it: a function is a command of its own."""
    if isinstance(command, typer.Typer):
        return command
    app = typer.Typer(add_completion=False)
    app.command()(command)
    return app
