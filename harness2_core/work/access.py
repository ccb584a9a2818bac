"""Core's built-in model access: a configured URL, and a key from a variable of the worker's environment.

Channel options `url` and `key_variable`. The key is read when a request starts, handed to it, and written nowhere.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager

from harness2_core.api.hookspecs import hookimpl
from harness2_core.api.runtime import ModelAccess
from harness2_core.model.canonical import Digest
from harness2_core.model.channel import Channel, Usage
from harness2_core.model.errors import ConfigError
from harness2_core.model.process import Endpoint
from harness2_core.model.provider import Provider


class PlainAccess:
    """Sees no usage: what a request cost is read from the agent's own stream."""

    def __init__(self, environment: Mapping[str, str] | None = None) -> None:
        self._environment = os.environ if environment is None else environment

    @contextmanager
    def open(self, channel: Channel, key: Digest, role: str) -> Iterator[Endpoint]:  # noqa: ARG002
        """`ConfigError` when the channel names a key variable that is not set."""
        missing = self._missing(channel, role)
        if missing is not None:
            raise missing
        variable = channel.options.get("key_variable", "")
        yield Endpoint(channel.options.get("url", ""), self._environment.get(variable, "") if variable else "")

    def channel_problems(self, channel: Channel, role: str) -> Sequence[str]:
        missing = self._missing(channel, role)
        return () if missing is None else (f"{missing.what}; {missing.remedy}",)

    def usage(self, key: Digest) -> Usage | None:  # noqa: ARG002
        return None

    def _missing(self, channel: Channel, role: str) -> ConfigError | None:
        variable = channel.options.get("key_variable", "")
        if not variable or self._environment.get(variable):
            return None
        return ConfigError(
            f"the {role} channel takes its key from {variable}, which is not set",
            f"export {variable}, or change `key_variable` under [roles.{role}.options]",
        )


def plain() -> ModelAccess:
    return PlainAccess()


@hookimpl
def harness2_access() -> Sequence[Provider[ModelAccess]]:
    return [
        Provider(
            name="plain",
            summary="The configured URL, and the key from an environment variable",
            factory="harness2_core.work.access:plain",
        )
    ]
