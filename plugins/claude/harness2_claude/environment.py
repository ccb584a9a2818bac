"""The environment of Claude Code: where it keeps things, which model it asks, and what it leaves alone.

Everything that a user's own settings would decide is decided here, for there are none in the private home. The key is
in no other place than this.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from harness2_core.api import Channel, Endpoint, Place

from .settings import ClaudeSettings
from .surface import ROOT

NO_KEY: Final = "no-key"
"""Sent to an endpoint that asks for none: without any, Claude Code asks a person to log in."""
_LISTED_CHARS: Final = 250_000
"""What descriptions of skills may take together: beyond it Claude Code leaves them out without a word, and a surface
that takes at most 200 files with descriptions of at most 1,024 characters never comes there."""

_SHUT: Final = (
    "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC",
    "DISABLE_AUTOUPDATER",
    "DISABLE_TELEMETRY",
    "DISABLE_ERROR_REPORTING",
    "CLAUDE_CODE_DISABLE_OFFICIAL_MARKETPLACE_AUTOINSTALL",
)
"""What reaches out to other hosts."""
_OFF: Final = (
    "CLAUDE_CODE_DISABLE_AUTO_MEMORY",  # writes notes to a later self that no run has
    "CLAUDE_CODE_DISABLE_BACKGROUND_TASKS",  # their end begins another turn after the run's last
    "CLAUDE_CODE_DISABLE_BUNDLED_SKILLS",  # the harness's skills are the only ones
    "CLAUDE_CODE_DISABLE_CRON",
    "CLAUDE_CODE_DISABLE_WORKFLOWS",
)
"""What serves a person's long use, or makes a run something else than its channel and harness say."""
_ALIASES: Final = ("OPUS", "SONNET", "HAIKU", "FABLE")


def environment(channel: Channel, place: Place, endpoint: Endpoint, settings: ClaudeSettings) -> Mapping[str, str]:
    found = {
        "CLAUDE_CONFIG_DIR": f"{place.home}/{ROOT}",
        "ANTHROPIC_API_KEY": endpoint.key or NO_KEY,
        "CLAUDE_CODE_MAX_RETRIES": str(settings.retries),
        "SLASH_COMMAND_TOOL_CHAR_BUDGET": str(_LISTED_CHARS),
        "HARNESS2_OUTPUT": place.output,
        **_models(channel.model),
        **dict.fromkeys((*_SHUT, *_OFF), "1"),
    }
    if endpoint.url:
        found["ANTHROPIC_BASE_URL"] = endpoint.url.rstrip("/")
    if settings.context_tokens:
        found["CLAUDE_CODE_MAX_CONTEXT_TOKENS"] = str(settings.context_tokens)
    if settings.output_tokens:
        found["CLAUDE_CODE_MAX_OUTPUT_TOKENS"] = str(settings.output_tokens)
    if place.sandboxed:
        found["IS_SANDBOX"] = "1"  # else it refuses, as root, to run without asking a person
    return found


def _models(model: str) -> Mapping[str, str]:
    """One model for everything: what is small and quick, sub-agents, and every name that would stand for another."""
    names = ("ANTHROPIC_SMALL_FAST_MODEL", "CLAUDE_CODE_SUBAGENT_MODEL")
    return dict.fromkeys((*names, *(f"ANTHROPIC_DEFAULT_{alias}_MODEL" for alias in _ALIASES)), model)
