"""`RelayAccess`: for each request a token of its own, good at the relay only and as long as the request lasts.

Channel options `url` and `key_variable`, as `plain` has them. The key is read when a request starts and given to
nobody: the relay puts it in the token's place on the way to the endpoint.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING

from harness2_core.api import Channel, ConfigError, Digest, Endpoint, Usage

from .grants import Grants, Upstream, upstream
from .settings import Settings

if TYPE_CHECKING:
    from .server import Server


class RelayAccess:
    """The access provider `relay`."""

    def __init__(self, settings: Settings | None = None, environment: Mapping[str, str] | None = None) -> None:
        self._environment = os.environ if environment is None else environment
        self._grants = Grants()
        self._settings = settings or Settings()
        self._made: Server | None = None
        self._making = threading.Lock()

    @contextmanager
    def open(self, channel: Channel, key: Digest, role: str) -> Iterator[Endpoint]:  # noqa: ARG002
        """`ConfigError` for a url or a key that cannot be used. Without a url there is nothing to reach."""
        to = self._upstream(channel, role)
        if to is None:
            yield Endpoint()
            return
        server = self._server()
        with server.running() as (address, socket):
            token = self._grants.grant(to)
            try:
                yield Endpoint(address + to.path, token, socket=socket)
            finally:
                self._grants.revoke(token)
                server.cut(token)

    def usage(self, key: Digest) -> Usage | None:  # noqa: ARG002
        """It does not look into what it passes on."""
        return None

    def channel_problems(self, channel: Channel, role: str) -> Sequence[str]:
        try:
            self._upstream(channel, role)
        except ConfigError as error:
            return (f"{error.what}; {error.remedy}",)
        return ()

    def _server(self) -> Server:
        with self._making:
            if self._made is None:
                from .server import (
                    Server,
                )  # aiohttp takes a quarter of a second, and runs without a model never need it

                self._made = Server(self._grants, self._settings)
            return self._made

    def _upstream(self, channel: Channel, role: str) -> Upstream | None:
        url, variable = channel.options.get("url", ""), channel.options.get("key_variable", "")
        table = f"[roles.{role}.options]"
        if variable and not self._environment.get(variable):
            raise ConfigError(
                f"the {role} channel takes its key from {variable}, which is not set",
                f"export {variable}, or change `key_variable` under {table}",
            )
        if not url and variable:
            raise ConfigError(
                f"the {role} channel has a key and no url, so the relay does not know where its model is",
                f'set `url` under {table}, such as url = "https://models.example/v1"',
            )
        if not url:
            return None
        key = self._environment.get(variable, "") if variable else ""
        if any(ord(letter) < 33 or ord(letter) > 126 for letter in key):
            raise ConfigError(
                f"the key in {variable} holds a blank or a character that no header may hold",
                f"export {variable} anew, without quotes, blanks or line ends",
            )
        return upstream(url, key)
