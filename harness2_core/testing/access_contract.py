"""The contract of model access. Subclass it in your tests and give `access` and the channels it serves and refuses.

    class TestMine(AccessContract):
        @pytest.fixture
        def access(self): return MyVault(...)
        @pytest.fixture
        def secrets(self): return ["canary-of-the-vault"]

`secrets` are the keys (canaries!) behind the access: they may be in an `Endpoint`, and nowhere else.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from decimal import Decimal

import pytest

from harness2_core.api import Channel, Endpoint, Harness2Error, ModelAccess, Preflights, digest_bytes

from .spoken import spoken


class AccessContract:
    @pytest.fixture
    def access(self) -> ModelAccess:
        raise NotImplementedError("give the access under test")

    @pytest.fixture
    def channels(self) -> Sequence[Channel]:
        """Channels that it serves."""
        return (Channel("vendor/model"),)

    @pytest.fixture
    def refused(self) -> Sequence[Channel]:
        """Channels that it must refuse: without a key, of an unknown provider."""
        return ()

    @pytest.fixture
    def secrets(self) -> Sequence[str]:
        return ()

    def test_it_is_a_model_access(self, access: ModelAccess) -> None:
        assert isinstance(access, ModelAccess)

    def test_every_channel_is_served_to_every_role(self, access: ModelAccess, channels: Sequence[Channel]) -> None:
        for channel in channels:
            for role in ("executor", "improver", "selector", "reflector", "judge"):
                with access.open(channel, request_key(role), role) as endpoint:
                    assert isinstance(endpoint, Endpoint)

    def test_a_request_may_be_tried_again(self, access: ModelAccess, channels: Sequence[Channel]) -> None:
        for _ in range(2):
            with access.open(channels[0], request_key("again"), "executor") as endpoint:
                assert isinstance(endpoint, Endpoint)

    def test_requests_at_the_same_time_do_not_mix(self, access: ModelAccess, channels: Sequence[Channel]) -> None:
        """Each thread gets what it would get alone; one-run keys differ, so only the address is compared."""

        def url(channel: Channel, name: str) -> str:
            with access.open(channel, request_key(name), "executor") as endpoint:
                return endpoint.url

        alone = [url(channel, "alone") for channel in channels]
        with ThreadPoolExecutor(8) as pool:
            turns = [(channel, f"{number}") for number in range(8) for channel in channels]
            together = list(pool.map(lambda turn: url(*turn), turns))
        assert together == alone * 8

    def test_an_error_inside_passes_through(self, access: ModelAccess, channels: Sequence[Channel]) -> None:
        with (
            pytest.raises(ZeroDivisionError),
            access.open(channels[0], request_key("error"), "executor"),
        ):
            raise ZeroDivisionError

    def test_opening_changes_no_variable_of_ours(self, access: ModelAccess, channels: Sequence[Channel]) -> None:
        """A variable set for one request would be inherited by all that run beside it."""
        before = dict(os.environ)
        with access.open(channels[0], request_key("environment"), "executor"):
            assert dict(os.environ) == before
        assert dict(os.environ) == before

    def test_no_secret_is_printed_or_shown(
        self,
        access: ModelAccess,
        channels: Sequence[Channel],
        secrets: Sequence[str],
        capfd: pytest.CaptureFixture[str],
    ) -> None:
        shown = [repr(access)]
        for channel in channels:
            with access.open(channel, request_key("shown"), "executor") as endpoint:
                shown += [repr(endpoint), str(endpoint)]
        printed = capfd.readouterr()
        everything = "\n".join([*shown, printed.out, printed.err])
        assert not [secret for secret in secrets if secret in everything]

    def test_usage_that_nobody_saw_is_unknown(self, access: ModelAccess) -> None:
        """`None`, or no price: never zero."""
        usage = access.usage(request_key("never opened"))
        assert usage is None or usage.usd is None

    def test_usage_can_be_asked_for_afterwards(self, access: ModelAccess, channels: Sequence[Channel]) -> None:
        key = request_key("used")
        with access.open(channels[0], key, "executor"):
            pass
        usage = access.usage(key)
        assert usage is None or usage.usd is None or Decimal(usage.usd) >= 0

    def test_what_it_cannot_serve_is_refused_with_a_remedy_and_no_secret(
        self, access: ModelAccess, refused: Sequence[Channel], secrets: Sequence[str]
    ) -> None:
        if not refused:
            pytest.skip("no channel given that it must refuse")
        for channel in refused:
            with pytest.raises(Harness2Error) as raised, access.open(channel, request_key("no"), "executor"):
                pass
            assert raised.value.remedy
            assert not [secret for secret in secrets if secret in spoken(raised.value)]

    def test_preflight_tells_problems_in_words(self, access: ModelAccess, secrets: Sequence[str]) -> None:
        if isinstance(access, Preflights):
            problems = tuple(access.preflight())
            assert all(isinstance(problem, str) and problem.strip() for problem in problems)
            assert not [secret for secret in secrets if any(secret in problem for problem in problems)]


def request_key(name: str) -> str:
    """The digest of an invented request."""
    return digest_bytes(f"a request of a test: {name}".encode())
