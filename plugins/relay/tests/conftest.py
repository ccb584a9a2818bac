from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest
from harness2_relay.access import RelayAccess

from harness2_core.api import Channel, Endpoint, digest_bytes


@pytest.fixture
def access() -> RelayAccess:
    """With a canary for a key."""
    return RelayAccess(environment={"CANARY_KEY": "canary-of-the-endpoint-7c1e"})


@pytest.fixture
def opened(access: RelayAccess) -> Iterator[Callable[[str], Endpoint]]:
    """Opens the url of an endpoint for the time of a test."""
    contexts = []

    def open_(url: str) -> Endpoint:
        channel = Channel("vendor/model", options={"url": url, "key_variable": "CANARY_KEY"})
        context = access.open(channel, digest_bytes(url.encode()), "executor")
        contexts.append(context)
        return context.__enter__()

    yield open_
    for context in contexts:
        context.__exit__(None, None, None)
