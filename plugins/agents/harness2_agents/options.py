"""Options of a channel that several agents take: what depends on the model, and not on the agent."""

from __future__ import annotations

import re

from harness2_core.api import Channel, ConfigError


def tokens_in(channel: Channel, name: str, default: int, *, least: int = 0) -> int:
    """The option `name` of `channel` as a number of tokens; `default` without one.

    `ConfigError` for what is no number, or one below `least`: 0 where that leaves it to the agent.
    """
    given = channel.options.get(name, "")
    if not given:
        return default
    if not re.fullmatch(r"[0-9]{1,12}", given) or int(given) < least:
        above = f", {least} or more" if least else ""
        raise ConfigError(
            f"the option {name!r} of a channel is {given!r}", f"give a whole number of tokens{above}, such as 32000"
        )
    return int(given)
