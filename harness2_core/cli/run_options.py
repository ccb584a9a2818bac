"""Options that several commands share: each is a key of `[run]` or of a role under a shorter name.

`@run_options` adds them to a command; what was given arrives as one mapping of configuration keys to texts, so that a
flag, a variable and a line of `harness2.toml` mean the same and are validated in one place.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator
from functools import wraps
from typing import Annotated, Any, Final, NamedTuple, TypeAlias

import typer

from .names import adapters, domains, in_a_list, mode_plugins, reflectors, selectors, substrates, tasks

NoLive: TypeAlias = Annotated[
    bool, typer.Option("--plain", "--no-live", help="Lines instead of the live view, on a terminal too.")
]
"""The option of commands that have a live view."""


class Flag(NamedTuple):
    """A flag and the configuration keys it sets."""

    name: str
    keys: tuple[str, ...]
    help: str
    switch: bool = False
    metavar: str = "TEXT"
    names: Callable[[typer.Context, str], list[str]] | None = None
    """What the shell may complete its value with."""


_ROLES: Final = ("executor", "improver", "selector", "reflector")

FLAGS: Final = (
    Flag("bench", ("run.bench",), "Adapter that brings the tasks.", metavar="NAME", names=adapters),
    Flag("substrate", ("run.substrate",), "Agent framework, by name or token.", metavar="NAME", names=substrates),
    Flag("k", ("run.k",), "Base rollouts of a task, and stages of each kind.", metavar="N"),
    Flag("modes", ("run.modes",), "Modes side by side, as a comma list.", metavar="A,B", names=in_a_list(mode_plugins)),
    Flag("seed", ("run.seed",), "Seed of orders and shuffles.", metavar="N"),
    Flag("tag", ("run.tag",), "Distinguishes experiments that are alike.", metavar="TAG"),
    Flag("new-tag", ("run.tag",), "Start a new experiment beside one that this would no longer be.", metavar="TAG"),
    Flag("split", ("run.split",), "Tasks: all, train, test or a split of the benchmark's own.", metavar="NAME"),
    Flag("split-file", ("run.split_file",), "Splits that `harness2 split` wrote.", metavar="FILE"),
    Flag(
        "only-domains",
        ("run.only_domains",),
        "Only these domains, as a comma list.",
        metavar="A,B",
        names=in_a_list(domains),
    ),
    Flag(
        "only-tasks", ("run.only_tasks",), "Only these tasks, as a comma list.", metavar="A,B", names=in_a_list(tasks)
    ),
    Flag("max-tasks", ("run.max_tasks",), "Tasks per domain at most.", metavar="N"),
    Flag("runs", ("run.runs",), "Runs directory.", metavar="DIR"),
    Flag("slots", ("run.slots",), "Rollouts and sessions at once.", metavar="N"),
    Flag("rollouts", ("run.rollouts",), "Rollouts at once.", metavar="N"),
    Flag("sessions", ("run.sessions",), "Sessions at once.", metavar="N"),
    Flag("pool", ("run.pool",), "finals, or mixed: with the first usable base.", metavar="NAME"),
    Flag("sandbox", ("run.sandbox",), "auto, none, or a sandbox's name.", metavar="NAME"),
    Flag("selector", ("run.selector",), "Rule that picks one final.", metavar="NAME", names=selectors),
    Flag("reflector", ("run.reflector",), "Maker of lessons.", metavar="NAME", names=reflectors),
    Flag("model", tuple(f"roles.{role}.model" for role in _ROLES), "Model of all roles.", metavar="ID"),
    *(Flag(f"model-{role}", (f"roles.{role}.model",), f"Model of the {role}.", metavar="ID") for role in _ROLES),
    Flag("max-usd", ("run.max_usd",), "Limit of the experiment's cost, over all invocations.", metavar="USD"),
    Flag("max-rollouts", ("run.max_rollouts",), "Limit of the experiment's rollouts.", metavar="N"),
    Flag("max-sessions", ("run.max_sessions",), "Limit of the experiment's sessions.", metavar="N"),
    Flag(
        "max-hours",
        ("run.max_hours",),
        "Limit of the experiment's working time, over all invocations.",
        metavar="HOURS",
    ),
    Flag("strict", ("run.strict",), "Resume only with the same versions, sandbox and engine.", switch=True),
    Flag("offline", ("run.offline",), "Ask no model for a token first.", switch=True),
    Flag("keep-workspaces", ("run.keep_workspaces",), "Keep working directories.", switch=True),
)


def run_options(command: Callable[..., int | None]) -> Callable[..., int | None]:
    """Adds the shared flags and `-o`; the command gets them as `options`: `table.key=value` texts.

    A flag that the command has itself, with a meaning of its own, is not added.
    """
    signature = inspect.signature(command, eval_str=True)
    own = [item for item in signature.parameters.values() if item.name != "options"]
    taken = {name for item in own for name in _flags_of(item)}
    flags = [flag for flag in FLAGS if f"--{flag.name}" not in taken]
    added = [_parameter(flag) for flag in flags]
    more: Any = Annotated[
        list[str] | None,
        typer.Option("-o", metavar="TABLE.KEY=VALUE", help="Any setting of the configuration. Repeatable."),
    ]
    extra = inspect.Parameter("option_texts", inspect.Parameter.KEYWORD_ONLY, default=None, annotation=more)

    @wraps(command)
    def wrapped(**values: Any) -> int | None:
        texts: list[str] = list(values.pop("option_texts") or ())
        for flag in flags:
            value = values.pop(_python_name(flag.name))
            if value is not None:
                texts += [f"{key}={str(value).lower() if flag.switch else value}" for key in flag.keys]
        return command(**values, options=tuple(texts))

    keyword = inspect.Parameter.KEYWORD_ONLY
    shown = [item.replace(kind=keyword) for item in own]
    wrapped.__signature__ = signature.replace(parameters=[*shown, *added, extra])  # type: ignore[attr-defined]
    wrapped.__annotations__ = {item.name: item.annotation for item in (*own, *added, extra)}
    return wrapped


def _flags_of(item: inspect.Parameter) -> Iterator[str]:
    for told in getattr(item.annotation, "__metadata__", ()):
        # In an annotation, typer takes the first name for the default, and knows better later.
        names = (getattr(told, "default", None), *(getattr(told, "param_decls", None) or ()))
        yield from (name for name in names if isinstance(name, str))


def _parameter(flag: Flag) -> inspect.Parameter:
    option = typer.Option(
        f"--{flag.name}",
        help=flag.help,
        show_default=False,
        metavar=None if flag.switch else flag.metavar,
        autocompletion=flag.names,
    )
    kind: Any = Annotated[bool | None, option] if flag.switch else Annotated[str | None, option]
    return inspect.Parameter(_python_name(flag.name), inspect.Parameter.KEYWORD_ONLY, default=None, annotation=kind)


def _python_name(flag: str) -> str:
    return "flag_" + flag.replace("-", "_")
