"""Model access of a program without a network: one constant address inside, a unix socket of this machine behind it.

An access provider may give, beside its url, a socket that leads to the same endpoint. Where a sandbox grants the
network `model`, the program is told of a loopback port that is the same in every run, and the policy says which socket
the sandbox is to bridge to it. So no port of this machine is seen by an agent, and none gets into a record.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Final
from urllib.parse import urlsplit, urlunsplit

from attrs import evolve

from harness2_core.model.errors import ConfigError
from harness2_core.model.frozen import FrozenMap
from harness2_core.model.process import Bridge, Endpoint

PORT: Final = 11811
"""Of the first socket; below the ports that systems give away, and no usual server's."""


def needs_bridge(network: str) -> bool:
    """Whether a sandbox that grants `network` cuts a program off from what this machine's loopback serves."""
    return network == "model" or network.startswith("hosts:")


def bridges(endpoints: Iterable[Endpoint]) -> tuple[Bridge, ...]:
    """Each socket once, in the order of the endpoints, at ports from `PORT` on."""
    sockets = dict.fromkeys(endpoint.socket for endpoint in endpoints if endpoint.socket is not None)
    return tuple(Bridge(PORT + number, socket) for number, socket in enumerate(sockets))


def inside(endpoint: Endpoint, granted: Iterable[Bridge]) -> Endpoint:
    """`endpoint` as a program reaches it over its bridge: another url, in its variables too; the same key.

    `ConfigError` when it has no socket: then nothing leads to it from a sandbox that grants only the model.
    """
    port = next((bridge.port for bridge in granted if bridge.socket == endpoint.socket), None)
    if port is None:
        raise ConfigError(
            "a sandbox with network 'model' lets programs reach their model only over an access that brings a unix "
            "socket, and the one in use brings none",
            'set access = "relay" under [run] (distribution harness2-relay), or network = "open"',
        )
    here, there = _origin(endpoint.url), _origin(f"http://127.0.0.1:{port}")
    moved = endpoint.url.replace(here, there, 1) if here else there
    return evolve(
        endpoint,
        url=moved,
        env=FrozenMap({name: _moved(value, here, there) for name, value in endpoint.env.items()}),
    )


def constant_addresses(endpoints: Iterable[Endpoint]) -> Mapping[str, str]:
    """Address and port of this machine -> the constant ones, for what is captured of programs that see the real."""
    known = tuple(endpoint for endpoint in endpoints if endpoint.url)
    return {
        urlsplit(endpoint.url).netloc: f"127.0.0.1:{bridge.port}"
        for bridge in bridges(known)
        for endpoint in known
        if endpoint.socket == bridge.socket
    }


def _origin(url: str) -> str:
    """`http://127.0.0.1:4711/v1` -> `http://127.0.0.1:4711`."""
    scheme, netloc, *_ = urlsplit(url)
    return urlunsplit((scheme, netloc, "", "", "")) if netloc else ""


def _moved(value: str, here: str, there: str) -> str:
    return value.replace(here, there) if here else value
