"""What an error of a plugin says is recorded without paths of this machine and without keys that were lent."""

from __future__ import annotations

from typing import Any

import pytest

from harness2_core.testing.comparing import comparable

CANARY = "canary-90c1d2e377"
STUMBLES = """
    class Made(Scripted):
        def run(self, request, workspace, ctx):
            if request.kind == "inv":
                raise ValueError(f"no sense in {workspace}/context")
            return super().run(request, workspace, ctx)
"""
TELLS = """
    from harness2_core.api import Allowed, Surface

    class Made:
        surface = Surface("telling", always_on=(), cap_chars=0, allowed=(Allowed("program", "scripts/solve.py"),))

        def run(self, tree, prompt, channel, workspace, ctx):
            raise ValueError(f"refused the key {ctx.endpoint(channel).key}")
"""


def test_a_dead_record_is_the_same_wherever_it_died(bench: Any) -> None:
    bench.improver("stumbling", STUMBLES)
    bench.run()
    one = comparable(bench.store())

    bench.run(runs=bench.root / "elsewhere")

    assert bench.mode().stages[0].fell_back
    assert comparable(bench.store(runs=bench.root / "elsewhere")) == one


def test_a_key_in_an_error_s_text_is_withheld_wherever_it_is_kept(bench: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SMALL_BENCH_KEY", CANARY)
    bench.plugin("substrate", "telling", TELLS, token="te")
    bench.set(substrate="telling", access="plain", **{"roles.executor.options.key_variable": "SMALL_BENCH_KEY"})

    assert bench.run().exit_code == 2

    store = bench.store()
    kept = b"".join(store.open_blob(digest).read() for digest, _ in store.scan("blob"))
    assert b"refused the key [key withheld]" in kept  # the traceback
    assert CANARY.encode() not in kept
    files = [path for path in bench.runs.rglob("*") if path.is_file()]
    assert [path for path in files if CANARY.encode() in path.read_bytes()] == []
