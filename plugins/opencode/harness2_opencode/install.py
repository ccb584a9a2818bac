"""From a tree to what OpenCode loads: pure, and apart from whatever a task brings.

Always-on text, sub-agents, plugins and configuration lie in OpenCode's directory of the private home. What the harness
names by path, skills and scripts, lies at those paths in the workspace, each skill listed by its own path: a `skills/`
of the task's own adds none. An `opencode.json`, `.opencode/`, `CLAUDE.md`, `.claude/` or `.agents/` of the task's own
is left alone and means nothing to OpenCode; its AGENTS.md is shown to the model, after the harness.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from importlib.resources import files
from pathlib import Path, PurePosixPath
from typing import Final
from urllib.parse import quote

from attrs import frozen
from harness2_agents.programs import Program

from harness2_core.api import Channel, ConfigError, Endpoint, FrozenMap, HarnessTree, Install, Place

from .config_file import KEY_VARIABLE, PROVIDER, Json, config_text, output_tokens
from .settings import OpencodeSettings
from .surface import ALWAYS_ON, SURFACE

HOME: Final = ".config/opencode"
"""OpenCode's own directory below the private home."""
OBSERVER: Final = ".config/harness2/observer.js"
PATIENCE_SECONDS: Final = 60
"""A provider that asks for a longer wait gets it between attempts, where it holds no slot and no time limit runs."""
_LOG: Final = ".local/share/opencode/log/opencode.log"
_SYSTEM_PATH: Final = ("/usr/local/bin", "/usr/bin", "/bin")
"""What every run has on its PATH."""
_WITH_PATH: Final = ("/bin/sh", "-c", 'PATH="$PATH:$0"; export PATH; exec "$@"')


@frozen
class Programs:
    """What a run needs of this machine. `version` is OpenCode's own."""

    opencode: Program
    version: str
    ripgrep: Path


def installed(
    programs: Programs,
    tree: HarnessTree,
    prompt: str,
    channel: Channel,
    place: Place,
    endpoint: Endpoint,
    settings: OpencodeSettings,
) -> Install:
    """Raises `ConfigError` for a channel that OpenCode could not honour."""
    _check(channel, endpoint)
    return Install(
        files=FrozenMap({path: text.encode() for path, text in tree.files.items() if _is_in_workspace(path)}),
        home=FrozenMap(
            {
                **_seed(programs.version),
                f"{HOME}/AGENTS.md": _always_on(tree).encode(),
                f"{HOME}/opencode.json": _config(tree, channel, place, endpoint, settings).encode(),
                OBSERVER: files("harness2_opencode").joinpath("observer.js").read_bytes(),
                **_in_home(tree),
            }
        ),
        argv=_argv(programs, channel),
        env=_environment(channel, place, endpoint, settings),
        reads=(*programs.opencode.reads, *(() if _on_path(programs.ripgrep) else (programs.ripgrep,))),
        stdin=prompt.encode(),  # as an argument, OpenCode would put it in quotes, and long ones do not fit
    )


def _is_in_workspace(path: str) -> bool:
    return SURFACE.component(path) in ("skill", "skill-file", "script")


def _always_on(tree: HarnessTree) -> str:
    """The always-on files one after the other, each as it is."""
    texts = (tree.files.get(path, "").strip() for path in ALWAYS_ON)
    return "\n\n".join(text for text in texts if text) + "\n"


def _in_home(tree: HarnessTree) -> Mapping[str, bytes]:
    found = {}
    for path, text in tree.files.items():
        match SURFACE.component(path):
            case "sub-agent":
                found[f"{HOME}/agent/{PurePosixPath(path).parent.name}.md"] = text.encode()
            case "plugin":
                found[f"{HOME}/{path}"] = text.encode()
    return found


def _config(tree: HarnessTree, channel: Channel, place: Place, endpoint: Endpoint, settings: OpencodeSettings) -> str:
    skills = [str(PurePosixPath(path).parent) for path in tree.files if SURFACE.component(path) == "skill"]
    plugins = [f"{place.home}/{HOME}/{path}" for path in tree.files if SURFACE.component(path) == "plugin"]
    told: dict[str, Json] = {
        "model": channel.model,
        "steps": channel.steps,
        "patience_ms": PATIENCE_SECONDS * 1000,
        "plugins": plugins,
        "log": f"{place.home}/{_LOG}",
    }
    return config_text(
        channel,
        endpoint,
        settings,
        skills=[f"{place.workspace}/{path}" for path in skills],
        instructions=[f"{place.workspace}/AGENTS.md"],
        network=place.network,
        observer=(f"file://{quote(place.home)}/{OBSERVER}", told),
    )


def _seed(version: str) -> Mapping[str, bytes]:
    """What makes OpenCode believe that the library for plugins is there: it waits for npm to bring it, for minutes when
    there is no network. Plugins need it for types only."""
    library = {"@opencode-ai/plugin": version}
    lock = {"name": "opencode", "lockfileVersion": 3, "requires": True, "packages": {"": {"dependencies": library}}}
    return {
        f"{HOME}/package.json": json.dumps({"dependencies": library}).encode(),
        f"{HOME}/package-lock.json": json.dumps(lock).encode(),
        f"{HOME}/node_modules/.keep": b"",
    }


def _argv(programs: Programs, channel: Channel) -> tuple[str, ...]:
    command = (
        *(str(programs.opencode.path), "run", "--format", "json", "--thinking"),
        *("--model", f"{PROVIDER}/{channel.model}"),
        *("--title", "run"),  # else the model is asked for one, which is paid for
        *(("--variant", channel.effort) if channel.effort else ()),
    )
    return command if _on_path(programs.ripgrep) else (*_WITH_PATH, str(programs.ripgrep.parent), *command)


def _on_path(program: Path) -> bool:
    return str(program.parent) in _SYSTEM_PATH


def _environment(channel: Channel, place: Place, endpoint: Endpoint, settings: OpencodeSettings) -> FrozenMap[str]:
    switches = (
        "OPENCODE_DISABLE_AUTOUPDATE",
        "OPENCODE_DISABLE_MODELS_FETCH",
        "OPENCODE_DISABLE_LSP_DOWNLOAD",
        "OPENCODE_DISABLE_SHARE",
        "OPENCODE_DISABLE_DEFAULT_PLUGINS",
        "OPENCODE_DISABLE_EMBEDDED_WEB_UI",
        "OPENCODE_DISABLE_CLAUDE_CODE",
        "OPENCODE_DISABLE_EXTERNAL_SKILLS",
        "OPENCODE_DISABLE_PROJECT_CONFIG",
    )
    return FrozenMap(
        {
            **dict.fromkeys(switches, "1"),
            "OPENCODE_TEST_MANAGED_CONFIG_DIR": f"{place.home}/{HOME}/managed",  # else the machine's /etc/opencode
            "OPENCODE_EXPERIMENTAL_OUTPUT_TOKEN_MAX": str(output_tokens(channel, settings)),
            "HARNESS2_OUTPUT": place.output,
            **({KEY_VARIABLE: endpoint.key} if endpoint.key else {}),
        }
    )


def _check(channel: Channel, endpoint: Endpoint) -> None:
    if not channel.model:
        raise ConfigError("opencode is to run without a model", "name one: `--model`, or `model` of the role")
    if not endpoint.url:
        raise ConfigError(
            "opencode has no address of a model",
            'give the role\'s options a `url` that speaks chat completions, such as "https://api.openai.com/v1"',
        )
