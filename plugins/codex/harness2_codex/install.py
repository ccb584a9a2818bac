"""From a tree to what Codex loads: pure, and apart from whatever a task brings.

AGENTS.md, hooks, roles and configuration lie in `CODEX_HOME`, which is in the private home; what the harness names by
path, skills and scripts, lies at those paths in the workspace. An AGENTS.md or a `.codex/` of the task's own is left
alone, and means nothing to Codex.
"""

from __future__ import annotations

from importlib.resources import files
from typing import Final

from harness2_agents.programs import Program

from harness2_core.api import Channel, ConfigError, Endpoint, FrozenMap, HarnessTree, Install, Place

from .config_file import KEY_VARIABLE, config_text
from .log import FILTER, STEPS_FILTER
from .roles import role_files
from .settings import CodexSettings
from .skill_list import skill_list
from .surface import ALWAYS_ON, HOOKS

CODEX_HOME: Final = ".codex"
"""Below the private home. Codex refuses a home below the temporary directory, which lies elsewhere."""
_IN_HOME: Final = {ALWAYS_ON: f"{CODEX_HOME}/AGENTS.md", HOOKS: f"{CODEX_HOME}/hooks.json"}


def installed(
    program: Program,
    tree: HarnessTree,
    prompt: str,
    channel: Channel,
    place: Place,
    endpoint: Endpoint,
    settings: CodexSettings,
) -> Install:
    """Raises `ConfigError` for a channel that Codex could not honour."""
    _check(channel, endpoint)
    skills = skill_list(tree)
    config = config_text(channel, endpoint, place.workspace, skills, settings)
    return Install(
        files=FrozenMap({path: text.encode() for path, text in tree.files.items() if path not in _IN_HOME}),
        home=FrozenMap(
            {
                f"{CODEX_HOME}/config.toml": config.encode(),
                **{f"{CODEX_HOME}/agents/{name}": data for name, data in role_files(tree, skills).items()},
                **{_IN_HOME[path]: text.encode() for path, text in tree.files.items() if path in _IN_HOME},
            }
        ),
        argv=_argv(program, place, channel.steps, hooks=HOOKS in tree.files),
        env=FrozenMap(
            {
                "CODEX_HOME": f"{place.home}/{CODEX_HOME}",
                "RUST_LOG": STEPS_FILTER if channel.steps else FILTER,
                "HARNESS2_OUTPUT": place.output,
                **({KEY_VARIABLE: endpoint.key} if endpoint.key else {}),
            }
        ),
        reads=program.reads,
        stdin=prompt.encode(),
    )


def _argv(program: Program, place: Place, steps: int, *, hooks: bool) -> tuple[str, ...]:
    # One stream for events and log: what the log says of a tool that never ran then stands where it happened.
    counted = files("harness2_codex").joinpath("steps.sh").read_text(encoding="utf-8") if steps else ""
    shell = ("/bin/sh", "-c", counted, "steps", str(steps)) if steps else ("/bin/sh", "-c", 'exec "$0" "$@" 2>&1')
    return (
        *(*shell, str(program.path)),
        *("exec", "--json", "--strict-config", "--ephemeral", "--ignore-rules", "--skip-git-repo-check"),
        "--dangerously-bypass-approvals-and-sandbox",  # nobody could approve; the sandbox is around the whole process
        *(("--dangerously-bypass-hook-trust",) if hooks else ()),  # else Codex passes over hooks without a word
        *("-C", place.workspace, "-"),
    )


def _check(channel: Channel, endpoint: Endpoint) -> None:
    if not channel.model:
        raise ConfigError("codex is to run without a model", "name one: `--model`, or `model` of the role's channel")
    if not endpoint.url:
        raise ConfigError(
            "codex has no address of a model",
            'give the channel a `url` that speaks the Responses API, such as "https://api.openai.com/v1"',
        )
