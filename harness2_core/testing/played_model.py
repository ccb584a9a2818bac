"""A model for whole runs: an executor that fails until its harness tells it a rule, and an improver that adds the rule.

    played = PlayedModel(rule="Amounts use a decimal comma.", file="AGENTS.md", right="...", wrong="...")
    with ModelServer(otherwise=played) as server:
        ...  # `harness2 run` with a real agent as executor and improver, whose endpoint is the server

It goes by what it is asked alone, as a model does: so a run may be killed and resumed, and agents may ask in any order.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Mapping
from typing import Final, Literal

from attrs import field, frozen

from harness2_core.model.canonical import Json
from harness2_core.model.check import Field
from harness2_core.model.errors import InvalidValue

from .model_turns import Asked, ToolCall, Turn, tool_call

_SHELLS: Final = {"bash": "command", "Bash": "command", "exec_command": "cmd", "shell_command": "command"}
"""Tools by which agents run a command -> the argument that takes it."""
_MORE: Final[Mapping[str, Mapping[str, Json]]] = {
    "bash": {"description": "Run it"},
    "Bash": {"description": "Run it"},
    "exec_command": {"yield_time_ms": 30_000},  # or it answers after a second, whether the command has ended or not
}
_EDITOR: Final = re.compile(r"You (?:improve the harness of an agent|compose one harness for an agent)")
_KEEPER: Final = "It is to be kept as it is"
_SELECTOR: Final = "You decide which one is delivered"
_REFLECTOR: Final = "You read one finished round of work on the harness of an agent"
_CANDIDATES: Final = re.compile(r"the\s+id of exactly one candidate.*?<one of ([A-Za-z0-9]+)", re.DOTALL)


def _one_line(owner: object, field: Field, value: str) -> None:
    if not value.strip() or "\n" in value:
        raise InvalidValue(f"{type(owner).__name__}.{field.name} is {value!r}", "give one line")


@frozen
class PlayedModel:
    """Answers requests of all protocols, by what they say: give it as `ModelServer(otherwise=...)`."""

    rule: str = field(validator=_one_line)
    """What the executor must have been told; nothing else in its request may say it."""
    file: str = field(validator=_one_line)
    """File of the harness to which the editor adds the rule: one that is always on."""
    right: str = field(validator=_one_line)
    """Shell command, run in the workspace, of an executor that was told the rule."""
    wrong: str = field(validator=_one_line)
    """The same of one that was not."""

    def __call__(self, asked: Asked) -> Turn:
        match self.part(asked):
            case "aside":
                return Turn("a title")
            case "executor":
                return self._acted(asked, self.right if self.rule in asked.text else self.wrong, "The work is done.")
            case "editor":
                return self._acted(asked, self._edit(), f"<notes>The runs did not know this: {self.rule}</notes>")
            case "keeper":
                return Turn("KEEP_BASE\n<notes>kept as it was given</notes>")
            case "selector":
                return Turn(f"<why>As good as any.</why>\n\n```choice\n{self._candidate(asked)}\n```\n")
            case "reflector":
                return Turn(self._lesson())

    def part(self, asked: Asked) -> Literal["executor", "editor", "keeper", "selector", "reflector", "aside"]:
        """Whom a request plays. `aside`: an agent asks something of its own, such as a title, and lends no shell."""
        text = asked.text
        if _SELECTOR in text:
            return "selector"
        if _REFLECTOR in text:
            return "reflector"
        if _KEEPER in text:
            return "keeper"
        if _shell(asked) is None:
            return "aside"
        return "editor" if _EDITOR.search(text) else "executor"

    def _acted(self, asked: Asked, command: str, done: str) -> Turn:
        """One command, then the end."""
        shell = _shell(asked)
        if asked.results or shell is None:
            return Turn(done, input_tokens=200, output_tokens=20)
        return Turn("I begin.", (shell_call(shell, command),), input_tokens=100, output_tokens=30)

    def _edit(self) -> str:
        file, rule = shlex.quote(f"context/harness/{self.file}"), shlex.quote(self.rule)
        return f"grep -qF {rule} {file} || printf '\\n%s\\n' {rule} >> {file}"

    def _candidate(self, asked: Asked) -> str:
        listed = _CANDIDATES.search(asked.text)
        return listed.group(1) if listed else "none"

    def _lesson(self) -> str:
        return (
            f"<edits>\ncomponent: {self.file}\ncandidates: {self.file}\nchange: {self.rule}\n"
            "observed: the runs that were told it delivered\nverdict: helped\n</edits>\n\n"
            f"<experience>\ncue: files like those of this task\nlesson: {self.rule}\n"
            "evidence: every run that was told it\nconfidence: high, one rule alone\n</experience>\n"
        )


def shell_call(tool: str, command: str) -> ToolCall:
    """A call of an agent's own tool for commands, with the arguments that it takes. `KeyError` for an unknown one."""
    return tool_call(tool, **{_SHELLS[tool]: command}, **_MORE.get(tool, {}))


def _shell(asked: Asked) -> str | None:
    return next((name for name in asked.tools if name in _SHELLS), None)
