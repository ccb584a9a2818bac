from __future__ import annotations

from typing import Any

import pytest
from attrs import evolve

from harness2_core.method.cuts import Caps
from harness2_core.sweep import study


def test_inputs_are_laid_out_file_by_file_only_where_there_are_more_than_is_shown(
    bench: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    bench.run(modes="sampling")
    read = bench.reading(modes="sampling").study
    assert list(read.material("sums/first").entries) == ["source/", "task.md"]
    monkeypatch.setattr(study, "Caps", lambda: evolve(Caps(), input_bytes=1))
    assert list(read.material("sums/first").entries) == ["source/inputs/numbers.txt", "task.md"]
