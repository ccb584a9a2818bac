"""The hooks of harness2-selectors."""

from __future__ import annotations

from collections.abc import Sequence

from harness2_core.api import Provider, Selector, hookimpl


@hookimpl
def harness2_selectors() -> Sequence[Provider[Selector]]:
    return (
        Provider("blind", "one session compares all candidates", "harness2_selectors.blind:Blind"),
        Provider("pairwise", "a session for each pair in both orders", "harness2_selectors.pairwise:Pairwise"),
        Provider(
            "consensus", "the candidate most like the others; no session", "harness2_selectors.consensus:Consensus"
        ),
        Provider("first", "the first of the shuffled ballot; no session", "harness2_selectors.positions:First"),
        Provider("random", "any, by the ballot's own seed; no session", "harness2_selectors.positions:Random"),
    )
