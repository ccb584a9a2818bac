"""The harness to begin with: the benchmark's, else the substrate's own, else an error."""

from __future__ import annotations

import shutil
from typing import Any

import pytest

from harness2_core.api import ConfigError

SHIPS = """
from pocket_made import PROGRAM, Pocket
from harness2_core.api import HarnessTree

SOLVE = '''
def solve(inputs, output, say):
    output.mkdir(parents=True, exist_ok=True)
    (output / "sum.txt").write_text("from the substrate's own")
    say("summed")
'''

class Made(Pocket):
    def base_tree(self):
        return HarnessTree({PROGRAM: SOLVE})
"""


def test_without_a_base_of_the_benchmark_the_substrates_own_is_rolled(bench: Any) -> None:
    bench.plugin("substrate", "ships", SHIPS, token="sh")
    shutil.rmtree(bench.folder / "base")
    bench.run(substrate="ships")
    base = bench.reading(substrate="ships").study.base
    assert "from the substrate's own" in base.files["scripts/solve.py"]


def test_a_base_of_the_benchmark_wins(bench: Any) -> None:
    bench.plugin("substrate", "ships", SHIPS, token="sh")
    bench.run(substrate="ships")
    assert "Adds up" in bench.reading(substrate="ships").study.base.files["scripts/solve.py"]


def test_with_neither_it_is_told_where_to_look(bench: Any) -> None:
    shutil.rmtree(bench.folder / "base")
    with pytest.raises(ConfigError, match="neither tasks nor pocket has a base harness") as raised:
        bench.run()
    assert "harness2 plugins show tasks" in raised.value.remedy
