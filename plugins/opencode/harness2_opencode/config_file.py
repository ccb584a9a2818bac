"""`opencode.json` as text: one provider, one model, everything allowed, nothing fetched, nothing shared.

The key is not in it: OpenCode takes it from a variable.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Final, TypeAlias

from harness2_agents.options import tokens_in

from harness2_core.api import Channel, ConfigError, Endpoint

from .settings import OpencodeSettings
from .surface import BUILT_IN_SKILL

PROVIDER: Final = "endpoint"
"""The provider's name in OpenCode; the model that a channel names is `endpoint/<model>` there."""
KEY_VARIABLE: Final = "HARNESS2_MODEL_KEY"
AGENT: Final = "build"
"""OpenCode's own agent that does the work."""
_NO_WEB: Final = ("none", "model")
"""Networks on which a tool that fetches pages cannot, or must not, do so."""

Json: TypeAlias = "Mapping[str, Json] | Sequence[Json] | str | int | bool"


def config_text(
    channel: Channel,
    endpoint: Endpoint,
    settings: OpencodeSettings,
    *,
    skills: Sequence[str],
    instructions: Sequence[str],
    observer: tuple[str, Mapping[str, Json]],
    network: str,
) -> str:
    """`skills` and `instructions` are paths as the agent sees them, `observer` a module and what it is told."""
    model = f"{PROVIDER}/{channel.model}"
    path, told = observer
    config: dict[str, Json] = {
        "autoupdate": False,
        "share": "disabled",
        "snapshot": False,
        "lsp": False,
        "formatter": False,
        "model": model,
        "small_model": model,
        "enabled_providers": [PROVIDER],
        "permission": _permission(network),
        "instructions": list(instructions),
        "skills": {"paths": list(skills)},
        "plugin": [[path, told]],
        "provider": {
            PROVIDER: {
                "npm": "@ai-sdk/openai-compatible",  # bundled: nothing is fetched for it
                "name": PROVIDER,
                "options": {"baseURL": endpoint.url, "apiKey": f"{{env:{KEY_VARIABLE}}}"},
                "models": {channel.model: _model(channel, settings)},
            }
        },
    }
    if channel.steps:
        config["agent"] = {AGENT: {"steps": channel.steps}}  # the model is told at its last one; the observer ends it
    return json.dumps(config, indent=2, ensure_ascii=False) + "\n"


def output_tokens(channel: Channel, settings: OpencodeSettings) -> int:
    return tokens_in(channel, "output_tokens", settings.output_tokens, least=1)


def _permission(network: str) -> Json:
    """Nobody could be asked, and the sandbox is around the whole process. What is denied is not even offered."""
    granted: dict[str, Json] = {"*": "allow", "skill": {"*": "allow", BUILT_IN_SKILL: "deny"}}  # the last that fits
    if network in _NO_WEB:
        granted["webfetch"] = "deny"
    return granted


def _model(channel: Channel, settings: OpencodeSettings) -> Json:
    context = tokens_in(channel, "context_tokens", settings.context_tokens, least=1)
    model: dict[str, Json] = {
        "name": channel.model,
        "limit": {"context": context, "output": output_tokens(channel, settings)},
    }
    if channel.effort:
        model |= {"reasoning": True, "variants": {channel.effort: {"reasoningEffort": channel.effort}}}
    if _flag(channel, "images"):
        model |= {"attachment": True, "modalities": {"input": ["text", "image"], "output": ["text"]}}
    return model


def _flag(channel: Channel, name: str) -> bool:
    given = channel.options.get(name, "false")
    if given not in ("true", "false"):
        raise ConfigError(f"the option {name!r} of a channel is {given!r}", 'give "true" or "false"')
    return given == "true"
