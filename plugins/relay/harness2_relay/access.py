"""`RelayAccess`: for each request a token of its own, good at the relay only and as long as the request lasts.

Channel options `url` and `key_variable`, as `plain` has them. The key is read when a request starts and given to
nobody: the relay puts it in the token's place on the way to the endpoint.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager

from harness2_core.api import Channel, ConfigError, Digest, Endpoint, Usage

from .grants import Grants, Upstream, upstream
from .server import Server
from .settings import Settings


class RelayAccess:
    """The access provider `relay`."""

    def __init__(self, settings: Settings | None = None, environment: Mapping[str, str] | None = None) -> None:
        self._environment = os.environ if environment is None else environment
        self._grants = Grants()
        self._server = Server(self._grants, settings or Settings())

    @contextmanager
    def open(self, channel: Channel, key: Digest, role: str) -> Iterator[Endpoint]:  # noqa: ARG002
        """`ConfigError` for a channel with a model and no usable url or key. Without model and url there is nothing."""
        to = self._upstream(channel, role)
        if to is None:
            yield Endpoint()
            return
        with self._server.running() as (address, socket):
            token = self._grants.grant(to)
            try:
                yield Endpoint(address + to.path, token, socket=socket)
            finally:
                self._grants.revoke(token)
                self._server.cut(token)

    def usage(self, key: Digest) -> Usage | None:  # noqa: ARG002
        """It does not look into what it passes on."""
        return None

    def channel_problems(self, channel: Channel, role: str) -> Sequence[str]:
        try:
            self._upstream(channel, role)
        except ConfigError as error:
            return (f"{error.what}; {error.remedy}",)
        return ()

    def _upstream(self, channel: Channel, role: str) -> Upstream | None:
        url, variable = channel.options.get("url", ""), channel.options.get("key_variable", "")
        table = f"[roles.{role}.options]"
        if not url:
            if not channel.model and not variable:
                return None
            raise ConfigError(
                f"the {role} channel has no url, so the relay does not know where its model is",
                f'set `url` under {table}, such as url = "https://models.example/v1"',
            )
        if variable and not self._environment.get(variable):
            raise ConfigError(
                f"the {role} channel takes its key from {variable}, which is not set",
                f"export {variable}, or change `key_variable` under {table}",
            )
        key = self._environment.get(variable, "") if variable else ""
        if any(ord(letter) < 33 or ord(letter) > 126 for letter in key):
            raise ConfigError(
                f"the key in {variable} holds a blank or a character that no header may hold",
                f"export {variable} anew, without quotes, blanks or line ends",
            )
        return upstream(url, key)
