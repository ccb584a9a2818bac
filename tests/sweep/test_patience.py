"""Each cause of a loss has its own count, over all invocations: waiting out one uses up no patience with another."""

from __future__ import annotations

import sys
from typing import Any

LOSES = """
    causes = []

    class Made(Scripted):
        def run(self, request, workspace, ctx):
            if request.kind == "inv" and causes:
                raise Lost(causes.pop(0), "not now")
            return super().run(request, workspace, ctx)
"""


def test_a_long_rate_limit_leaves_the_network_its_own_tries(bench: Any) -> None:
    bench.improver("losing", LOSES.replace("causes = []", f"causes = {['rate-limit'] * 6 + ['network', 'provider']}"))

    result = bench.run()

    assert (result.exit_code, result.paid.lost) == (0, 8)
    assert not bench.mode().stages[0].fell_back


def test_a_cause_is_dead_after_its_own_tries(bench: Any) -> None:
    bench.improver("losing", LOSES.replace("causes = []", f"causes = {['rate-limit', 'provider'] * 5}"))

    bench.run()

    assert bench.mode().stages[0].fell_back
    assert sys.modules["losing_proposer_made"].causes == ["rate-limit", "provider"]  # the fourth `provider` was the end


def test_each_invocation_counts_the_losses_of_its_own_time(bench: Any) -> None:
    bench.improver("losing", LOSES.replace("causes = []", f"causes = {['budget', 'network']}"))

    first, second = bench.run(), bench.run()

    assert (first.exit_code, first.paid.lost) == (3, 1)  # nothing more of this model
    assert (second.exit_code, second.paid.lost) == (0, 1)


def test_a_full_disk_stops_the_sweep_and_is_no_budget(bench: Any) -> None:
    bench.improver("losing", LOSES.replace("causes = []", "causes = ['disk', 'disk']"))

    result = bench.run()

    assert (result.exit_code, result.paid.lost, result.stopped) == (2, 2, "disk: not now")
    assert bench.run().exit_code == 0


def test_a_refused_key_is_shown_once_and_the_run_says_what_is_wrong(bench: Any) -> None:
    bench.improver("losing", LOSES.replace("causes = []", f"causes = {['access', 'access']}"))

    first = bench.run()

    assert (first.exit_code, first.paid.lost) == (1, 1)
    assert first.stopped == "nothing more of model '': access: not now"
    assert bench.run().paid.lost == 1  # a resume asks again, once more
    assert bench.run().exit_code == 0  # mended meanwhile
