"""What may be edited, and what OpenCode would drop or misunderstand without a word."""

from __future__ import annotations

import pytest
from harness2_opencode.substrate import Opencode
from harness2_opencode.surface import SURFACE, silent_problems

from harness2_core.api import Accepted, HarnessTree, Rejected, accept

BASE = {path: text.encode() for path, text in Opencode().base_tree().files.items()}


def problems(files: dict[str, str]) -> tuple[str, ...]:
    taken = accept(SURFACE, {**BASE, **{path: text.encode() for path, text in files.items()}}, [_checked])
    return taken.problems if isinstance(taken, Rejected) else ()


def _checked(tree: HarnessTree) -> tuple[str, ...]:
    return tuple(silent_problems(tree))


def sub_agent(more: str = "") -> str:
    return f"---\ndescription: Counts.\nmode: subagent\n{more}---\nCount.\n"


def test_the_base_harness_fits_and_is_small() -> None:
    assert isinstance(accept(SURFACE, BASE), Accepted)
    assert sum(len(text) for text in BASE.values()) < 1000


def test_always_on_text_has_a_cap() -> None:
    assert any("24,000" in problem for problem in problems({"LongTermMEMORY.md": "x" * 24_000}))


@pytest.mark.parametrize(
    ("path", "text", "words"),
    [
        ("skills/a/SKILL.md", "---\ndescription: d\n---\n", "needs 'name: a'"),
        ("skills/a/SKILL.md", "---\nname: b\ndescription: d\n---\n", "make them equal"),
        (
            "skills/customize-opencode/SKILL.md",
            "---\nname: customize-opencode\ndescription: d\n---\n",
            "choose another",
        ),
        ("skills/a/more/SKILL.md", "---\nname: more\ndescription: d\n---\n", "not on the editable surface"),
        ("sub_agents/a/AGENT.md", "---\ndescription: d\n---\n", "mode: subagent"),
        ("sub_agents/a/AGENT.md", sub_agent("model: openai/other\n"), "'model'"),
        ("sub_agents/a/AGENT.md", sub_agent("steps: 500\n"), "'steps'"),
        ("sub_agents/general/AGENT.md", sub_agent(), "of OpenCode's own"),
        ("sub_agents/build/AGENT.md", sub_agent(), "of OpenCode's own"),
        ("plugin/a.ts", "import { tool } from '@opencode-ai/plugin'\n", "@opencode-ai/plugin"),
        ("plugin/a.ts", 'import "left-pad"\n', "left-pad"),
        ("plugin/a.ts", "const a = await import('left-pad')\n", "left-pad"),
        ("plugin/a.ts", "const a = require(\n  'left-pad'\n)\n", "left-pad"),
        ("plugin/a.ts", "import {\n  a,\n} from 'left-pad'\n", "left-pad"),
        ("plugin/a.ts", "export * from 'left-pad'\n", "left-pad"),
        ("opencode.json", "{}", "not on the editable surface"),
    ],
)
def test_what_would_go_wrong_silently_is_refused_by_name(path: str, text: str, words: str) -> None:
    found = problems({path: text, "guardrails.md": "Load a, b, more, customize-opencode.\n"})
    assert any(path in problem and words in problem for problem in found), found


@pytest.mark.parametrize(
    "text",
    [
        "import type { Plugin } from '@opencode-ai/plugin'\nexport const A: Plugin = async () => ({})\n",
        "import { readFileSync } from 'node:fs'\nimport fs from 'node:fs'\nimport './b.ts'\n",
        "export const A = async () => { throw new Error('not from here') }\n",
        "const said = 'what came from'\nexport default async () => ({ event: async () => {} })\n",
    ],
)
def test_plugins_that_load_are_taken(text: str) -> None:
    assert problems({"plugin/a.ts": text}) == ()


def test_a_sub_agent_and_a_plugin_are_taken() -> None:
    assert problems({"sub_agents/counter/AGENT.md": sub_agent()}) == ()
