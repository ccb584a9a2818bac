"""A key that is lent to an agent stays out of everything that is kept."""

from __future__ import annotations

from typing import Any

import pytest

CANARY = "canary-5e1f0a77c2"
TELLS_ITS_KEY = """
    from harness2_core.api import Allowed, NO_MODEL, Observation, Surface, Trajectory

    class Made:
        surface = Surface("telling", always_on=(), cap_chars=0, allowed=(Allowed("program", "scripts/solve.py"),))

        def run(self, tree, prompt, channel, workspace, ctx):
            key = ctx.endpoint(channel).key
            assert key
            (workspace / "output").mkdir(exist_ok=True)
            (workspace / "output" / "sum.txt").write_text(f"header: Bearer {key}\\nurl: https://x:{key}@example.invalid/")
            return Trajectory((Observation(f"called with {key}"),), NO_MODEL)
"""


def test_a_key_that_an_agent_tells_is_nowhere_in_the_runs_directory(
    bench: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SMALL_BENCH_KEY", CANARY)
    bench.plugin("substrate", "telling", TELLS_ITS_KEY, token="te")
    bench.set(substrate="telling", access="plain", **{"roles.executor.options.key_variable": "SMALL_BENCH_KEY"})
    assert bench.run().exit_code == 0
    files = [path for path in bench.runs.rglob("*") if path.is_file()]
    assert len(files) > 20
    assert [path for path in files if CANARY.encode() in path.read_bytes()] == []
    assert not [event for event in bench.events if CANARY in repr(event)]
    store = bench.store()
    kept = b"".join(store.open_blob(digest).read() for digest, _ in store.scan("blob"))
    assert b"called with [key withheld]" in kept
