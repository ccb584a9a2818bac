"""`harness2 completion`: so that the shell completes commands, options, and names of tasks, labels and plugins."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated, Any

import typer
from typer import completion as typers

from harness2_core.model.errors import ConfigError

from .terminal import say

app = typer.Typer(rich_markup_mode=None, no_args_is_help=True, add_completion=False, pretty_exceptions_enable=False)

_PROGRAM = "harness2"
_VARIABLE = "_HARNESS2_COMPLETE"


class Shell(StrEnum):
    """Shells that can complete."""

    BASH = "bash"
    ZSH = "zsh"
    FISH = "fish"
    POWERSHELL = "powershell"
    PWSH = "pwsh"


_Shell = Annotated[Shell | None, typer.Argument(help="The shell; without it, the one this runs in.")]


@app.command()
def show(shell: _Shell = None) -> None:
    """Print the completion script, for a place of your own."""
    say(_typers("get_completion_script")(prog_name=_PROGRAM, complete_var=_VARIABLE, shell=_named(shell)))


@app.command()
def install(shell: _Shell = None) -> None:
    """Install the completion script for this user."""
    name, path = _typers("install")(_named(shell), _PROGRAM, _VARIABLE)
    say(f"completion for {name} is in {path}; it works in the next shell")


def _named(shell: Shell | None) -> str:
    if shell is not None:
        return shell.value
    import shellingham  # type: ignore[import-untyped]  # typer's own dependency; looks at processes, so only when asked

    try:
        found = str(shellingham.detect_shell()[0])
    except shellingham.ShellDetectionFailure:
        found = ""
    if found not in [known.value for known in Shell]:
        known = ", ".join(known.value for known in Shell)
        raise ConfigError(f"this shell cannot be told ({found or 'unknown'})", f"name it: {known}")
    return found


def _typers(name: str) -> Any:
    """typer has these functions in its options `--install-completion` and `--show-completion`, and exports neither."""
    return getattr(typers, name)
