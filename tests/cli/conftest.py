"""Commands run in this process over the small bench; `typed` is what a person types, `said` what they see.

The small bench is the fixture of the sweep's tests, taken from where it lives.
"""

from __future__ import annotations

import importlib.util
import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from attrs import frozen

from harness2_core.cli import main

_SWEEP = Path(__file__).parent.parent / "sweep" / "conftest.py"


def _small_bench() -> Any:
    name = "tests_sweep_conftest"
    if name not in sys.modules:
        spec = importlib.util.spec_from_file_location(name, _SWEEP)
        assert spec is not None
        assert spec.loader is not None
        sys.modules[name] = module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
    return sys.modules[name]


bench = _small_bench().bench


@frozen
class Said:
    """What a command printed, and its exit code."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        return json.loads(self.out)


@pytest.fixture
def typed(bench: Any, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Callable[..., Said]:
    """Runs `harness2 ...` in the bench's folder, where a `harness2.toml` holds the bench's options."""
    for variable in ("HARNESS2_CONFIG", "HARNESS2_DISABLE_PLUGINS", "COLUMNS"):
        monkeypatch.delenv(variable, raising=False)
    monkeypatch.setenv("XDG_CONFIG_HOME", str(bench.root / "user"))
    monkeypatch.chdir(bench.root)
    file = bench.root / "harness2.toml"

    def run(*arguments: str) -> Said:
        if not file.exists():
            file.write_text(toml_of(bench.options), encoding="utf-8")
        capsys.readouterr()
        code = main.run(arguments)
        captured = capsys.readouterr()
        return Said(code, captured.out, captured.err)

    return run


def toml_of(options: dict[str, str]) -> str:
    """Options as a file; integers are those that look like one."""
    lines = []
    for key, value in options.items():
        shown = value if value.isdigit() else json.dumps(value)
        lines.append(f"{key} = {shown}\n")
    return "".join(lines)
