"""The rules of the two published surfaces, as data: one with many always-on files, one with a single strict one."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

import pytest
from attrs import evolve
from hypothesis import given
from hypothesis import strategies as st

from harness2_core.model.surface import Allowed, Surface
from harness2_core.model.surface_rules import DESCRIPTION_CHARS, front_matter, problems, trigger_missing
from harness2_core.model.tree import HarnessTree

LOOSE = Surface(
    name="loose",
    always_on=("systemprompt.md", "guardrails.md"),
    cap_chars=24_000,
    allowed=(
        Allowed("skill", "skills/<name>/SKILL.md"),
        Allowed("skill-file", "skills/<name>/scripts/<file>"),
        Allowed("sub-agent", "sub_agents/<name>/AGENT.md"),
        Allowed("script", "scripts/<script>.py"),
        Allowed("plugin", "plugin/<name>.ts"),
    ),
    trigger_file="guardrails.md",
    skill_name="required",
    sub_agent_mode="subagent",
    plain_always_on=True,
    reserved_scripts=("read_doc.py", "pack.py", "unpack.py"),
)
STRICT = Surface(
    name="strict",
    always_on=("AGENTS.md",),
    cap_chars=8_000,
    allowed=(
        Allowed("skill", ".agents/skills/<name>/SKILL.md"),
        Allowed("skill", ".agents/more/<name>/SKILL.md"),
        Allowed("skill-file", ".agents/skills/<name>/scripts/<file>"),
        Allowed("sub-agent", "sub_agents/<name>/AGENT.md"),
        Allowed("script", "scripts/<script>.py"),
        Allowed("hooks", ".codex/hooks.json"),
    ),
    required=("AGENTS.md",),
    trigger_file="AGENTS.md",
    sub_agents=False,
    hook_events=("PreToolUse", "PostToolUse", "SessionStart"),
)
SKILL = "---\nname: totals\ndescription: How to check totals.\n---\nAdd them up.\n"
GOOD = {
    "systemprompt.md": "Work carefully.\n",
    "guardrails.md": "Load the skill `totals` when sums matter. Run `python scripts/check.py` at the end.\n",
    "skills/totals/SKILL.md": SKILL,
    "skills/totals/scripts/sum.py": "print(1)\n",
    "sub_agents/reader/AGENT.md": "---\ndescription: Reads much, says little.\nmode: subagent\n---\nRead.\n",
    "scripts/check.py": "import sys\nsys.exit(0)\n",
    "plugin/trim.ts": "export const Trim = async () => ({})\n",
}
STRICT_GOOD = {
    "AGENTS.md": "Use totals when sums matter.\n",
    ".agents/skills/totals/SKILL.md": "---\ndescription: How to check totals.\n---\nAdd them up.\n",
}


def found(surface: Surface, files: Mapping[str, str]) -> tuple[str, ...]:
    return problems(surface, HarnessTree(files))


@pytest.mark.parametrize(("surface", "files"), [(LOOSE, GOOD), (STRICT, STRICT_GOOD), (LOOSE, {"guardrails.md": ""})])
def test_a_good_tree_has_no_problem(surface: Surface, files: Mapping[str, str]) -> None:
    assert found(surface, files) == ()


BAD_LOOSE: list[tuple[dict[str, str], str]] = [
    # the paths that may be edited
    ({"opencode.json": "{}"}, "'opencode.json': not on the editable surface"),
    ({"skills/Totals2/SKILL.md": SKILL}, "names in lower case"),
    ({"scripts/check-all.py": ""}, "not on the editable surface"),
    ({"skills/totals/helper.py": ""}, "not on the editable surface"),
    # sizes
    ({"systemprompt.md": "x" * 24_001}, "the cap is 24,000"),
    # skills
    ({"skills/totals/SKILL.md": "Add them up.\n"}, "does not begin with front matter"),
    ({"skills/totals/SKILL.md": "---\nname: totals\ndescription: x\n"}, "does not begin with front matter"),
    ({"skills/totals/SKILL.md": "---\nname: totals\ndescription: when: sums\n---\n"}, "not valid YAML at line 3"),
    ({"skills/totals/SKILL.md": "---\n- totals\n---\n"}, "not a mapping"),
    ({"skills/totals/SKILL.md": "---\nname: totals\n---\n"}, "needs a 'description'"),
    ({"skills/totals/SKILL.md": "---\nname: totals\ndescription: ''\n---\n"}, "needs a 'description'"),
    ({"skills/totals/SKILL.md": "---\nname: totals\ndescription: [a]\n---\n"}, "needs a 'description'"),
    ({"skills/totals/SKILL.md": f"---\nname: totals\ndescription: {'x' * 1025}\n---\n"}, "at most 1,024"),
    ({"skills/totals/SKILL.md": "---\ndescription: x\n---\n"}, "needs 'name: totals'"),
    ({"skills/totals/SKILL.md": "---\nname: sums\ndescription: x\n---\n"}, "its name is 'sums'"),
    ({"skills/totals/SKILL.md": "---\nname: 12\ndescription: x\n---\n"}, "write it as text, in quotes"),
    ({"guardrails.md": "Nothing here.\n"}, "skill 'totals' is not named in always-on text"),
    ({"guardrails.md": "Load totals-2 when sums matter.\n"}, "skill 'totals' is not named"),
    # sub-agents
    ({"sub_agents/reader/AGENT.md": "Read.\n"}, "sub_agents/reader/AGENT.md: it does not begin"),
    ({"sub_agents/reader/AGENT.md": "---\nmode: subagent\n---\n"}, "needs a 'description'"),
    ({"sub_agents/reader/AGENT.md": "---\ndescription: x\n---\n"}, "needs 'mode: subagent'"),
    ({"sub_agents/reader/AGENT.md": "---\ndescription: x\nmode: primary\n---\n"}, "needs 'mode: subagent'"),
    # programs
    ({"scripts/check.py": "def f(:\n"}, "does not compile: .* at line 1"),
    ({"skills/totals/scripts/sum.py": "return 1\n"}, "skills/totals/scripts/sum.py: does not compile"),
    ({"scripts/check.py": "(" * 5_000}, "does not compile"),
    # invocations
    ({"guardrails.md": "totals: python scripts/gone.py\n"}, "invokes 'scripts/gone.py'"),
    ({"guardrails.md": "totals: python3 ./scripts/gone.py x\n"}, "invokes 'scripts/gone.py'"),
    ({"guardrails.md": 'totals: `python3.12 -u -X utf8 -W ignore "scripts/gone.py"`\n'}, "invokes 'scripts/gone.py'"),
    ({"skills/totals/SKILL.md": SKILL + "python skills/totals/scripts/gone.py\n"}, "skills/totals/scripts/gone.py"),
    ({"skills/totals/SKILL.md": SKILL + "python sum.py\n"}, "invokes 'sum.py'"),
    (
        {"sub_agents/reader/AGENT.md": GOOD["sub_agents/reader/AGENT.md"] + "python scripts/gone.py"},
        "'scripts/gone.py'",
    ),
    # text that a strict template engine would run
    ({"systemprompt.md": "Use {{ name }}.\n"}, r"contains '\{\{'"),
    ({"systemprompt.md": "{% if x %}\n"}, "contains '{%'"),
    ({"guardrails.md": "totals {# note #}\n"}, "contains '{#'"),
]


@pytest.mark.parametrize(("change", "why"), BAD_LOOSE)
def test_each_rule_is_broken_by_one_change_and_named(change: dict[str, str], why: str) -> None:
    import re

    said = found(LOOSE, {**GOOD, **change})
    assert len(said) == 1, said
    assert re.search(why, said[0])
    assert any(path in said[0] for path in change) or "always-on text" in said[0]


@pytest.mark.parametrize(
    "change",
    [
        {"skills/totals/SKILL.md": "---\r\nname: totals\r\ndescription: 'when: sums'\r\n---\r\nAdd.\r\n"},
        {"skills/totals/SKILL.md": f"---\nname: totals\ndescription: {'x' * DESCRIPTION_CHARS}\n---\n"},
        {"skills/totals/SKILL.md": SKILL + "python scripts/read_doc.py in.pdf; python pack.py; python3 unpack.py\n"},
        {"guardrails.md": "totals: write output/solve.py, then run python output/solve.py\n"},
        {"guardrails.md": "totals: the tool is written in python\n\nscripts/gone.py is not run\n"},
        {"guardrails.md": "totals: python scripts/check.pyc, ipython scripts/gone.py, python -m gone\n"},
        {"scripts/check.py": "\ufeffprint(1)\n"},
        {"scripts/check.py": "# -*- coding: utf-8 -*-\nprint('é')\n"},
        {"scripts/check.py": "import re\nre.compile('\\d')\n"},
        {"systemprompt.md": "A set {1, 2}, 100 % { x }, # a comment\n"},
        {"skills/totals/SKILL.md": SKILL + "{{ a template shown as an example }}\n"},
    ],
)
def test_what_only_resembles_a_breach_is_taken(change: dict[str, str]) -> None:
    assert found(LOOSE, {**GOOD, **change}) == ()


def hooks(value: object) -> dict[str, str]:
    program = {"scripts/hook.py": "print()\n"}
    return {**STRICT_GOOD, **program, ".codex/hooks.json": value if isinstance(value, str) else json.dumps(value)}


COMMAND = {"type": "command", "command": "python scripts/hook.py"}


@pytest.mark.parametrize(
    "value",
    [
        {"hooks": {}},
        {"hooks": {"PreToolUse": []}},
        {"hooks": {"PreToolUse": [{"matcher": "shell", "hooks": [COMMAND]}], "SessionStart": [{"hooks": [COMMAND]}]}},
        {"hooks": {"PostToolUse": [{"hooks": [{**COMMAND, "timeout": 5}]}]}},
    ],
)
def test_hooks_of_the_known_shape_are_taken(value: object) -> None:
    assert found(STRICT, hooks(value)) == ()


@pytest.mark.parametrize(
    ("value", "why"),
    [
        ("{", "not valid JSON"),
        ("[" * 100_000, "not valid JSON"),
        ([], "one top-level object 'hooks'"),
        ({}, "one top-level object 'hooks'"),
        ({"hooks": {}, "x": 1}, "one top-level object 'hooks'"),
        ({"hooks": []}, "one top-level object 'hooks'"),
        ({"hooks": {"OnError": []}}, "unknown event 'OnError'; known are PreToolUse"),
        ({"hooks": {"PreToolUse": {}}}, "must be a list"),
        ({"hooks": {"PreToolUse": ["x"]}}, r"PreToolUse\[0\] needs"),
        ({"hooks": {"PreToolUse": [{}]}}, r"PreToolUse\[0\] needs"),
        ({"hooks": {"PreToolUse": [{"hooks": []}]}}, r"PreToolUse\[0\] needs"),
        ({"hooks": {"PreToolUse": [{"hooks": [COMMAND]}, {"hooks": [{"type": "prompt"}]}]}}, r"PreToolUse\[1\] needs"),
        ({"hooks": {"PreToolUse": [{"hooks": [{"type": "command", "command": " "}]}]}}, r"PreToolUse\[0\] needs"),
        ({"hooks": {"PreToolUse": [{"matcher": 3, "hooks": [COMMAND]}]}}, r"PreToolUse\[0\] needs"),
    ],
)
def test_hooks_of_another_shape_are_named(value: object, why: str) -> None:
    import re

    (problem,) = found(STRICT, hooks(value))
    assert re.search(why, problem)


@pytest.mark.parametrize(
    ("files", "why"),
    [
        ({}, "the tree is empty"),
        ({"AGENTS.md": " \n"}, "AGENTS.md: must exist and not be blank"),
        ({"AGENTS.md": "x" * 8_001}, "always-on text has 8,001 characters"),
        ({**STRICT_GOOD, "sub_agents/a/AGENT.md": "---\ndescription: x\n---\n"}, "sub-agents are not available here"),
        ({**STRICT_GOOD, ".agents/skills/totals/SKILL.md": SKILL.replace("totals\n", "sums\n")}, "make them equal"),
        ({**STRICT_GOOD, ".agents/more/totals/SKILL.md": SKILL}, "a skill named 'totals' is also at .agents/more"),
    ],
)
def test_the_strict_surface_has_rules_of_its_own(files: dict[str, str], why: str) -> None:
    assert any(why in problem for problem in found(STRICT, files))


FIELDS = evolve(
    LOOSE,
    allowed=(*LOOSE.allowed, Allowed("sub-agent", "agents/<name>.md"), Allowed("hooks", "hooks.json")),
    hook_events=("PreToolUse",),
    skill_fields=("name", "description"),
    sub_agent_fields=("name", "description", "mode", "tools"),
    sub_agent_name="required",
)
READER = "---\nname: reader\ndescription: Reads much.\nmode: subagent\ntools: Read\n---\nRead.\n"
FIELDS_GOOD = {**GOOD, "sub_agents/reader/AGENT.md": READER, "agents/reader.md": READER}


@pytest.mark.parametrize(
    ("files", "why"),
    [
        ({"skills/totals/SKILL.md": SKILL.replace("---\nAdd", "model: other\n---\nAdd")}, "may not have 'model' here"),
        ({"agents/reader.md": READER.replace("tools", "permissionMode")}, "may not have 'permissionMode' here"),
        (
            {"agents/reader.md": READER.replace("name: reader\n", "")},
            "agents/reader.md: front matter needs 'name: read",
        ),
        ({"agents/reader.md": READER.replace("name: reader", "name: writer")}, "but its file is 'reader'"),
        ({"agents/reader.md": READER.replace("name: reader", "name: 12")}, "in quotes: name: 'reader'"),
        ({"sub_agents/reader/AGENT.md": READER.replace("name: reader", "name: a")}, "but its directory is 'reader'"),
    ],
)
def test_a_surface_may_say_which_fields_front_matter_has(files: dict[str, str], why: str) -> None:
    assert found(FIELDS, FIELDS_GOOD) == ()
    problems_said = found(FIELDS, {**FIELDS_GOOD, **files})
    assert [problem for problem in problems_said if why in problem], problems_said


def test_a_program_that_a_hook_runs_must_be_shipped() -> None:
    def hooks(command: str) -> dict[str, str]:
        entry = {"hooks": [{"type": "command", "command": command}]}
        return {**FIELDS_GOOD, "hooks.json": json.dumps({"hooks": {"PreToolUse": [entry]}})}

    assert found(FIELDS, hooks('python3 "scripts/check.py" --strict')) == ()
    (problem,) = found(FIELDS, hooks('python3 "scripts/gone.py" --strict'))
    assert problem.startswith("hooks.json: invokes 'scripts/gone.py'")


def test_more_files_or_characters_than_the_caps_are_refused() -> None:
    small = evolve(STRICT, max_files=1, max_chars=50)
    assert [problem.split(",")[0] for problem in found(small, STRICT_GOOD)] == [
        "the tree has 84 characters",
        "the tree has 2 files",
    ]


def test_only_a_few_off_surface_files_are_listed_of_many() -> None:
    (problem,) = found(STRICT, {**STRICT_GOOD, **{f"junk{index}.txt": "" for index in range(9)}})
    assert "'junk5.txt' and 3 more" in problem
    assert "'junk6.txt'" not in problem


def test_all_problems_are_told_at_once() -> None:
    broken: dict[str, str] = dict(GOOD)
    for change, _ in BAD_LOOSE[:1] + BAD_LOOSE[12:13] + BAD_LOOSE[18:19]:
        broken |= change
    broken |= {"scripts/check.py": "(", "systemprompt.md": "{{" + "x" * 25_000, "guardrails.md": "python scripts/no.py"}
    said = "\n".join(found(LOOSE, broken))
    expected = (
        "opencode.json",
        "1,024",
        "does not begin",
        "compile",
        "24,000",
        "'{{'",
        "scripts/no.py",
        "is not named",
    )
    assert [word for word in expected if word not in said] == []


def test_a_surface_without_a_trigger_file_asks_for_no_trigger_line() -> None:
    files = {**STRICT_GOOD, "AGENTS.md": "Work.\n"}
    assert trigger_missing(STRICT, HarnessTree(files)) == ("totals",)
    assert found(evolve(STRICT, trigger_file=""), files) == ()


@pytest.mark.parametrize(
    "scalar",
    ["!!timestamp x", "!!int ''", "!!bool x", "!!float ''", "2024-13-45", "!!python/object:os.x {}", "*a", "\t"],
)
def test_odd_yaml_is_a_problem_and_never_an_error(scalar: str) -> None:
    assert isinstance(front_matter(f"---\nname: {scalar}\n---\n"), str)


def test_looking_at_a_harness_runs_nothing_of_it(tmp_path: Path) -> None:
    """Not a script when it is compiled, and no object that front matter asks for."""
    ran = tmp_path / "ran"
    script = f"open({str(ran)!r}, 'w')\n"
    skill = f'---\nname: !!python/object/apply:os.mkdir ["{ran}"]\ndescription: x\n---\n'
    told = found(LOOSE, {**GOOD, "scripts/check.py": script, "skills/totals/SKILL.md": skill})
    assert "skills/totals/SKILL.md: its front matter is not valid YAML" in "\n".join(told)
    assert not ran.exists()


def test_front_matter_that_refers_to_itself_without_end_is_answered_in_a_moment() -> None:
    lines = ["a0: &a0 [x, x, x, x, x, x, x, x, x, x]"]
    lines += [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 10)}]" for n in range(1, 12)]
    bomb = "\n".join(["---", *lines, "name: *a11", "description: x", "---", ""])
    (problem,) = found(LOOSE, {**GOOD, "skills/totals/SKILL.md": bomb})
    assert "its name is a list to YAML" in problem
    assert len(problem) < 300


def test_front_matter_longer_than_any_real_one_is_not_parsed() -> None:
    assert front_matter("---\nx: " + "[" * 30_000 + "\n---\n") == "its front matter has more than 20,000 characters"


@given(st.text(max_size=60))
def test_front_matter_of_any_text_is_a_mapping_or_a_sentence(text: str) -> None:
    read = front_matter(f"---\n{text}\n---\n")
    assert isinstance(read, str | dict)


@given(st.dictionaries(st.sampled_from(sorted(GOOD)), st.text(max_size=40), max_size=3))
def test_any_text_in_any_file_is_answered_with_words(change: dict[str, str]) -> None:
    clean = {path: text.replace("\x00", "").encode(errors="replace").decode() for path, text in change.items()}
    assert all(isinstance(problem, str) and problem for problem in found(LOOSE, {**GOOD, **clean}))
