"""The program `harness2`: the table of commands, the options before them, and what becomes of errors.

`harness2 --help` imports no command and no plugin: built-in commands are a table of texts, commands of plugins come
from metadata. A command's module is imported when it is used, so that a broken plugin, or a slow library, stops nothing
else.
"""

from __future__ import annotations

import importlib
import os
import sys
import traceback
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any, Final, NamedTuple

import typer
from typer.core import TyperGroup

from harness2_core import __version__
from harness2_core.model.errors import ConfigError, Harness2Error
from harness2_core.model.exits import DONE, INTERRUPTED, NOT_DONE

from .invocation import Invocation
from .terminal import abandon, one_line, say, steady_streams, warn


class Built(NamedTuple):
    """A command of core's own: `module:name` of a `typer.Typer` or of a function, and one line for `--help`."""

    reference: str
    summary: str


COMMANDS: Final[dict[str, Built]] = {
    "run": Built("harness2_core.cli.run:run", "Improve the harness on every task, or go on where it stopped."),
    "watch": Built("harness2_core.cli.watch:watch", "Follow a run that another process does."),
    "plan": Built("harness2_core.cli.plan:plan", "Show what `run` would do, and pay nothing."),
    "check": Built("harness2_core.cli.check:check", "Check that everything a run needs is there."),
    "judge": Built("harness2_core.cli.judge:judge", "Grade what was delivered."),
    "report": Built("harness2_core.cli.report:report", "Base beside adopted, and what was paid."),
    "reselect": Built("harness2_core.cli.reselect:reselect", "Let another selector vote on the stored finals."),
    "diff": Built("harness2_core.cli.diff:diff", "What was changed in a task's harness."),
    "export": Built("harness2_core.cli.export:export", "Take an adopted harness out, as its agent loads it."),
    "library": Built("harness2_core.cli.library:app", "List, show, export and forget what was adopted."),
    "show": Built("harness2_core.cli.show:show", "Show what became of the tasks, or of one of them."),
    "split": Built("harness2_core.cli.split:split", "Split the tasks into train and test, with a seed."),
    "lint": Built("harness2_core.cli.lint:lint", "Check a folder against an agent's surface."),
    "cache": Built("harness2_core.cli.cache:app", "Count, prune and verify what the store holds."),
    "init": Built("harness2_core.cli.init:init", "Write a commented harness2.toml, or a benchmark to start from."),
    "setup": Built("harness2_core.cli.setup:setup", "Bring an agent that a substrate drives."),
    "config": Built("harness2_core.cli.config:app", "What is configured, and by whom."),
    "plugins": Built("harness2_core.cli.plugins:app", "List, show, check and switch off plugins."),
    "completion": Built("harness2_core.cli.completion:app", "Let the shell complete names."),
}
"""Every built-in command, in the order of `--help`."""

DISTRIBUTION_COMMANDS: Final = "Commands of plugins"


def main() -> None:
    """The entry point of the console script."""
    steady_streams()
    code = run(sys.argv[1:])
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except BrokenPipeError:  # the reader left with something still unwritten: at exit, Python would make 120 of it
            abandon(stream)
    sys.exit(code)


def run(arguments: Sequence[str]) -> int:
    """One invocation; returns the exit code. Prints one message for any error, a traceback only with `--debug`."""
    debug = "--debug" in arguments
    try:
        code = _root()(args=list(arguments), prog_name="harness2", standalone_mode=False)
        return code if isinstance(code, int) and not isinstance(code, bool) else DONE
    except Harness2Error as error:
        _tell(error, debug)
    except typer.Abort as error:
        return NOT_DONE if isinstance(error.__cause__, EOFError) else INTERRUPTED
    except KeyboardInterrupt:
        return INTERRUPTED
    except typer.TyperException as error:
        _tell_usage(error)
    except Exception as error:
        if debug:
            traceback.print_exc()
        if isinstance(error, OSError) and error.filename is not None and error.strerror:
            warn(f"error: {_name(error.filename)}: {error.strerror}")
            warn("  see to that path; `harness2 --debug ...` shows what wanted it")
            return NOT_DONE
        warn(f"error: unexpected {type(error).__name__}: {error}")
        if not debug:
            warn("  run it again as `harness2 --debug ...` and report what it prints")
    return NOT_DONE


def _name(given: object) -> str:
    """Of a file that an error is about: text, bytes or the number of an open one."""
    return os.fsdecode(given) if isinstance(given, str | bytes) else str(given)


class LazyGroup(TyperGroup):
    """A group whose commands are a table and metadata until one of them is used."""

    def list_commands(self, ctx: object) -> list[str]:
        return [*COMMANDS, *(name for name in _plugin_commands(ctx) if name not in COMMANDS)]

    def get_command(self, ctx: object, cmd_name: str) -> Any:  # the type is private to typer
        if cmd_name in COMMANDS:
            module, _, name = COMMANDS[cmd_name].reference.partition(":")
            return _command(getattr(importlib.import_module(module), name), cmd_name)
        completing = bool(getattr(ctx, "resilient_parsing", False))
        try:
            return _plugin_command(ctx, cmd_name)
        except Harness2Error:
            if completing:  # the shell asks what could come next: no answer is better than an error
                return None
            raise

    def shell_complete(self, ctx: Any, incomplete: str) -> Any:  # the types are private to typer
        """As the parent's, which would import every command for its summary."""
        try:
            from typer._click.shell_completion import CompletionItem
        except ImportError:  # another typer keeps it elsewhere: slower, and as good
            return super().shell_complete(ctx, incomplete)
        if incomplete.startswith("-"):
            return [item for item in super().shell_complete(ctx, incomplete) if item.value.startswith("-")]
        try:
            added = _plugin_commands(ctx)
        except Harness2Error:
            added = {}
        helps = {name: f"Of {source}." for name, source in added.items()}
        helps |= {name: built.summary for name, built in COMMANDS.items()}
        return [CompletionItem(name, help=text) for name, text in helps.items() if name.startswith(incomplete)]

    def format_commands(self, ctx: object, formatter: Any) -> None:  # the type is private to typer
        """As the parent's, from the texts at hand instead of from the commands."""
        with formatter.section("Commands"):
            formatter.write_dl([(name, built.summary) for name, built in COMMANDS.items()])
        try:
            added = {name: source for name, source in _plugin_commands(ctx).items() if name not in COMMANDS}
        except Harness2Error as error:  # help is for people in trouble too
            formatter.write(f"\n{one_line(error.what)}\n")
            return
        if added:
            with formatter.section(DISTRIBUTION_COMMANDS):
                formatter.write_dl([(name, f"Of {source}.") for name, source in added.items()])


def _root() -> Any:  # the type is private to typer
    app = typer.Typer(
        cls=LazyGroup,
        rich_markup_mode=None,  # Rich takes longer to import than everything else together
        pretty_exceptions_enable=False,
        no_args_is_help=True,
    )
    app.callback()(_options)
    return typer.main.get_command(app)


def _options(
    ctx: typer.Context,
    config: Annotated[
        Path | None,
        typer.Option("--config", metavar="FILE", help="Configuration; else the nearest harness2.toml above."),
    ] = None,
    disable_plugin: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME", help="Import no plugin of that name, kind.name or distribution. Repeatable.", is_eager=True
        ),
    ] = None,
    debug: Annotated[bool, typer.Option("--debug", help="Show the traceback of an error.")] = False,
    version: Annotated[
        bool,
        typer.Option(
            "--version", help="Show the version and exit.", is_eager=True, callback=lambda given: _version(given)
        ),
    ] = False,
) -> None:
    """Improves the harness around a frozen model for the task at hand, without any grade."""
    ctx.obj = Invocation(config, tuple(disable_plugin or ()), debug)


def _version(given: bool) -> None:
    if given:
        say(f"harness2-core {__version__}")
        raise typer.Exit


def _command(value: object, name: str) -> Any:  # the type is private to typer
    """A typer application, or a function as a command of its own."""
    if isinstance(value, typer.Typer):
        command = typer.main.get_command(value)
    else:
        app = typer.Typer(rich_markup_mode=None, add_completion=False, pretty_exceptions_enable=False)
        app.command()(value)  # type: ignore[type-var]  # typer inspects it at once
        command = typer.main.get_command(app)
    command.name = name
    return command


def _invocation(ctx: object) -> Invocation:
    """The global options while a command is looked up, which is before the callback runs."""
    given = getattr(ctx, "params", {})
    return Invocation(given.get("config"), tuple(given.get("disable_plugin") or ()), bool(given.get("debug")))


def _plugin_commands(ctx: object) -> dict[str, str]:
    """Name -> distribution and version, from metadata; what a switch covers is not listed."""
    from harness2_core.plugins.catalog import Catalog
    from harness2_core.plugins.discovery import Scan
    from harness2_core.plugins.quick_scan import installed_commands

    catalog = Catalog(Scan(installed_commands()), _invocation(ctx).switches())
    return {found.name: found.source for found in catalog.listed("command")}


def _plugin_command(ctx: object, name: str) -> Any:  # the type is private to typer
    from harness2_core.model.nearest import near
    from harness2_core.plugins.provider_settings import settings_of

    invocation = _invocation(ctx)
    registry = invocation.registry()
    known = [*COMMANDS, *registry.names("command")]
    if not any(found.kind == "command" for found in registry.catalog.named(name)):
        raise ConfigError(f"there is no command {name!r}", f"{near(name, known)}known are {', '.join(known)}")
    has_settings = registry.settings_class("command", name) is not None
    settings = settings_of(registry, invocation.config(), "command", name) if has_settings else None
    made = registry.make("command", name, settings)
    if not isinstance(made, typer.Typer) and not callable(made):
        from harness2_core.plugins.loading import broken

        found = registry.find("command", name)
        raise broken(found, f"its factory returned {type(made).__name__}, which is no typer.Typer and no function")
    return _command(made, name)


def _tell(error: Harness2Error, debug: bool) -> None:
    if debug:
        traceback.print_exception(error)
    warn(f"error: {error}")


def _tell_usage(error: typer.TyperException) -> None:
    ctx, message = getattr(error, "ctx", None), error.format_message()
    if message.startswith("Usage:"):  # called without arguments: the message is the help
        say(message)
        return
    warn(f"error: {message}")
    if ctx is not None:
        warn(f"  see `{ctx.command_path} --help`")
