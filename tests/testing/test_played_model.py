"""The model that plays whole runs tells by what it is asked whom it plays, and what the rule is."""

from __future__ import annotations

import subprocess
from importlib.resources import files
from pathlib import Path

import pytest

from harness2_core.api import InvalidValue
from harness2_core.model.canonical import Json
from harness2_core.model.replies import choice_in, keeps_base, lesson_in
from harness2_core.testing import Asked, PlayedModel, shell_call

PLAYED = PlayedModel(rule="It's 7.", file="AGENTS.md", right="echo 7 > n", wrong="echo 6 > n")
TEMPLATES = files("harness2_core.method") / "templates"


def asked(text: str, *, tools: tuple[str, ...] = ("bash",), result: str = "") -> Asked:
    messages: list[Json] = [{"role": "user", "content": text}]
    if result:
        messages.append({"role": "tool", "content": result})
    listed: list[Json] = [{"type": "function", "function": {"name": name}} for name in tools]
    return Asked("chat", {}, {"messages": messages, "tools": listed})


@pytest.mark.parametrize(
    ("template", "part"),
    [
        ("inv", "editor"),
        ("dom", "editor"),
        ("agg", "editor"),
        ("compose", "editor"),
        ("keep", "keeper"),
        ("select", "selector"),
        ("reflect", "reflector"),
    ],
)
def test_each_mission_of_core_is_known_by_its_words(template: str, part: str) -> None:
    mission = (TEMPLATES / f"{template}.md.jinja").read_text()
    assert PLAYED.part(asked(mission)) == part


def test_an_executor_does_right_only_when_told_the_rule() -> None:
    assert PLAYED(asked("count")).calls == (shell_call("bash", "echo 6 > n"),)
    assert PLAYED(asked("count. It's 7.")).calls == (shell_call("bash", "echo 7 > n"),)


def test_it_ends_once_its_command_was_answered() -> None:
    assert PLAYED(asked("count", result="done")).calls == ()


def test_a_request_without_a_shell_is_something_of_the_agents_own() -> None:
    assert PLAYED.part(asked("name this conversation", tools=("read",))) == "aside"


def test_its_edit_adds_the_rule_once(tmp_path: Path) -> None:
    file = tmp_path / "context" / "harness" / "AGENTS.md"
    file.parent.mkdir(parents=True)
    file.write_text("Work with care.\n")
    edit = PLAYED._edit()
    for _ in range(2):
        subprocess.run(["/bin/sh", "-c", edit], cwd=tmp_path, check=True)
    assert file.read_text() == "Work with care.\n\nIt's 7.\n"


def test_its_answers_are_those_that_core_reads() -> None:
    keep, reflect = ((TEMPLATES / f"{name}.md.jinja").read_text() for name in ("keep", "reflect"))
    assert keeps_base(PLAYED(asked(keep)).text)
    lesson = lesson_in(PLAYED(asked(reflect)).text)
    assert lesson is not None
    assert lesson.lesson == "It's 7."
    select = (
        "You decide which one is delivered. Then, last, the\nid of exactly one candidate in a\n```choice\n<one of B, A>"
    )
    assert choice_in(PLAYED(asked(select)).text, ("A", "B")).id == "B"


def test_a_rule_of_several_lines_is_refused() -> None:
    with pytest.raises(InvalidValue, match="rule"):
        PlayedModel(rule="one\ntwo", file="AGENTS.md", right="true", wrong="false")
