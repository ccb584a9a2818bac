"""`harness2 export`: the adopted harness in its agent's own layout, ready to use."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import Annotated

import typer

from .experiment import Ns, reading_of
from .names import modes, tasks_and_domains
from .run_options import run_options
from .terminal import one_line, say, say_json


@run_options
def export(
    ctx: typer.Context,
    options: tuple[str, ...],
    name: Annotated[
        str,
        typer.Argument(
            metavar="TASK|DOMAIN", help="Whose harness; a domain's newest.", autocompletion=tasks_and_domains
        ),
    ],
    to: Annotated[Path, typer.Option("--to", metavar="DIR", help="A directory that does not exist yet, or is empty.")],
    mode: Annotated[str, typer.Option("--mode", help="Mode, where several adopted.", autocompletion=modes)] = "",
    as_json: Annotated[bool, typer.Option("--json", help="Print what was written as JSON.")] = False,
    ns: Ns = "",
) -> None:
    """Write an adopted harness where and as its agent loads it, and say how the agent is started with it."""
    from attrs import asdict

    from harness2_core.plugins import facade
    from harness2_core.plugins.provider_settings import settings_of
    from harness2_core.sweep.exporting import adopted_of
    from harness2_core.sweep.exporting import export as write_out
    from harness2_core.sweep.modes import mode_meant
    from harness2_core.sweep.naming import names_of

    reading = reading_of(ctx, options, ns)
    substrate = names_of(reading.config, reading.registry)[0].substrate
    settings = settings_of(reading.registry, reading.config, "substrate", substrate)
    agent = facade.substrate(reading.registry, substrate, settings)
    done = write_out(reading.study, agent, adopted_of(reading.study, name, mode_meant(reading.study, mode)), to)
    if as_json:
        say_json({"directory": str(to), "substrate": substrate, **asdict(done), "env": dict(done.env)})
        return
    say(f"{to}: the harness that {done.mode} adopted of {one_line(done.task)} ({done.label}), as {substrate} loads it")
    for path in done.files:
        say(f"  {one_line(path)}")
    if done.argv:
        words = [f"{key}={_quoted(value, done.key_variable)}" for key, value in done.env.items()]
        words += [f"HOME={shlex.quote(str(to.absolute() / done.home))}"] if done.home else []
        say(f"start it in {to}, with the task's inputs there and its text on standard input or as the agent takes it:")
        say("  " + " ".join([*(["env", *words] if words else []), shlex.join(done.argv)]))


def _quoted(value: str, variable: str) -> str:
    """For a shell, which puts the key in where it belongs."""
    return f'"{value}"' if variable.isidentifier() and value == f"${variable}" else shlex.quote(value)
