"""The page of faults points to tests that exist, and leaves none of its numbers out."""

from __future__ import annotations

import ast
import re
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
PAGE = (ROOT / "docs" / "faults.md").read_text(encoding="utf-8")
ROWS = dict(re.findall(r"^\| ([FCP]\d+) (\|.*)$", PAGE, re.MULTILINE))
NAMED = re.compile(r"`([\w/.]+\.py)::(\w+)`")


@cache
def named_in(path: str) -> frozenset[str]:
    tree = ast.parse((ROOT / path).read_text(encoding="utf-8"))
    return frozenset(
        node.name for node in ast.walk(tree) if isinstance(node, ast.FunctionDef) and node.name.startswith("test_")
    )


@pytest.mark.parametrize("number", ROWS)
def test_every_test_that_a_fault_names_exists(number: str) -> None:
    named = NAMED.findall(ROWS[number])
    missing = [f"{path}::{test}" for path, test in named if not (ROOT / path).is_file() or test not in named_in(path)]
    assert named, f"{number} names no test"
    assert missing == []


def test_every_fault_has_a_row_of_its_own() -> None:
    numbers = re.findall(r"^\| ([FCP]\d+) \|", PAGE, re.MULTILINE)
    assert len(numbers) == len(set(numbers))
    assert {f"F{number}" for number in range(1, 47)} <= set(numbers)
    assert {f"P{number}" for number in range(1, 13)} <= set(numbers)
    assert len([number for number in numbers if number.startswith("C")]) > 40


def test_nothing_that_looks_like_a_test_escapes_the_check() -> None:
    assert len(NAMED.findall(PAGE)) == PAGE.count("::test_")
