"""The text of Codex's `config.toml`: everything that decides on a run, and nothing of the machine it runs on.

The file is read strictly: a version of Codex that does not know a setting refuses to start, where otherwise it would go
on without what keeps the user, the task and the network out of the harness.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Final, TypeAlias

from harness2_agents.options import tokens_in

from harness2_core.api import Channel, Endpoint

from .settings import CodexSettings

KEY_VARIABLE: Final = "HARNESS2_MODEL_KEY"
"""The environment variable that holds the key: the only place where it is."""
PROVIDER: Final = "harness2"
RETRIES: Final = 2
"""Of a request, and of a stream that broke; what lasts longer is repeated by the policy table, with its waits."""

Value: TypeAlias = "str | int | bool | Sequence[str]"


def config_text(channel: Channel, endpoint: Endpoint, workspace: str, skills: str, settings: CodexSettings) -> str:
    """`skills` is what the agent is told of them, empty for none; `workspace` its path as the agent sees it."""
    lines = [*_lines(_top(channel, skills, settings))]
    for table, values in _tables(endpoint, workspace, settings).items():
        lines += ["", f"[{table}]", *_lines(values)]
    return "\n".join(lines) + "\n"


def quoted(text: str) -> str:
    """A TOML string of one line."""
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")


def _top(channel: Channel, skills: str, settings: CodexSettings) -> dict[str, Value]:
    values: dict[str, Value] = {"model": channel.model, "model_provider": PROVIDER}
    if channel.effort:
        values["model_reasoning_effort"] = channel.effort
    size = tokens_in(channel, "context_tokens", settings.context_tokens)
    if size:
        values["model_context_window"] = size
    if skills:
        values["developer_instructions"] = skills
    return values | {
        "web_search": "disabled",
        "project_doc_max_bytes": 0,  # AGENTS.md of the harness comes from CODEX_HOME; one of the task is a file
        "project_root_markers": [],  # nothing above the workspace is part of the project
        "allow_login_shell": False,  # profiles of the machine would set PATH anew
        "check_for_update_on_startup": False,
        "cli_auth_credentials_store": "file",  # never the user's keyring
        "mcp_oauth_credentials_store": "file",
    }


def _tables(endpoint: Endpoint, workspace: str, settings: CodexSettings) -> Mapping[str, dict[str, Value]]:
    provider: dict[str, Value] = {"name": PROVIDER, "base_url": endpoint.url, "wire_api": "responses"}
    if endpoint.key:
        provider["env_key"] = KEY_VARIABLE
    return {
        f"model_providers.{PROVIDER}": {
            **provider,
            "request_max_retries": RETRIES,
            "stream_max_retries": RETRIES,
        },
        f"projects.{quoted(workspace)}": {"trust_level": "untrusted"},  # its .codex/ configures nothing
        "skills": {"include_instructions": False},
        "skills.bundled": {"enabled": False},
        "agents": {"enabled": settings.sub_agents},
        "shell_environment_policy": {"inherit": "all", "exclude": [KEY_VARIABLE, "RUST_LOG", "CODEX_HOME"]},
        "analytics": {"enabled": False},
        "feedback": {"enabled": False},
        "history": {"persistence": "none"},
        "features": dict.fromkeys(_OFF, False),
    }


_OFF: Final = (
    "apps",  # asks chatgpt.com
    "browser_use",
    "computer_use",
    "goals",  # tools for work over many sessions
    "image_generation",
    "memories",
    "plugins",  # fetches a list from GitHub at each start
    "remote_plugin",
    "shell_snapshot",
    "skill_mcp_dependency_install",
    "tool_suggest",
    "unbounded_connection_retries",  # waits for a network without end
)
"""Features that reach out to other hosts, ask a person, outlive the run, or wait for ever."""


def _lines(values: Mapping[str, Value]) -> Iterator[str]:
    for name, value in values.items():
        match value:
            case bool():
                yield f"{name} = {str(value).lower()}"
            case int():
                yield f"{name} = {value}"
            case str():
                yield f"{name} = {quoted(value)}"
            case _:
                yield f"{name} = [{', '.join(quoted(item) for item in value)}]"
