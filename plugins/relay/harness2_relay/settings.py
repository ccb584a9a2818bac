"""Settings of the relay. All are about this machine: no part of any identity."""

from __future__ import annotations

from attrs import frozen

from harness2_core.api import InvalidValue, place


@frozen
class Settings:
    proxy: str = place(default="")
    """An HTTP proxy on the way to the endpoints, as `http://host:port`. Variables of the environment are not read."""
    connect_seconds: int = place(default=30)
    """How long an endpoint may take to accept a connection. There is no limit on how long it may think."""
    socket_dir: str = place(default="")
    """Where the private directory of the unix socket is made; by default the shortest usual place."""

    def __attrs_post_init__(self) -> None:
        if self.connect_seconds < 1:
            raise InvalidValue(f"connect_seconds is {self.connect_seconds}", "give the relay at least 1 second")
