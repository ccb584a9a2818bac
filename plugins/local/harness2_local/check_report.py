"""Reading what a check program printed: one JSON object with its items, nothing else. No guessing."""

from __future__ import annotations

import json
from decimal import Decimal
from typing import Final

from harness2_core.api import Harness2Error, Verdict, decimal_text

_KEYS: Final = frozenset({"name", "weight", "passed", "why"})


class Unreadable(Harness2Error):
    """What was printed is no report; the text says why."""


def verdicts_in(printed: bytes) -> tuple[Verdict, ...]:
    """A verdict for each item. An item whose `passed` is null is one that could not be judged."""
    try:
        report = json.loads(printed.decode("utf-8"), parse_float=Decimal, parse_constant=_no_number)
    except (ValueError, RecursionError) as error:
        raise Unreadable(f"printed no JSON report ({error})") from None
    if not isinstance(report, dict) or not isinstance(report.get("items"), list) or not report["items"]:
        raise Unreadable('printed no report: it needs {"items": [...]} with at least one item')
    verdicts = tuple(_verdict(item, number) for number, item in enumerate(report["items"], 1))
    names = [verdict.item for verdict in verdicts]
    for name in names:
        if names.count(name) > 1:
            raise Unreadable(f"reported the item {name!r} twice")
    if not any(Decimal(verdict.weight) for verdict in verdicts):
        raise Unreadable("gave no item any weight")
    return verdicts


def _verdict(item: object, number: int) -> Verdict:
    if not isinstance(item, dict):
        raise Unreadable(f"item {number} is no object")
    unknown = sorted(set(item) - _KEYS)
    if unknown:
        raise Unreadable(f"item {number} has the unknown key {unknown[0]!r}; known are {', '.join(sorted(_KEYS))}")
    name, passed, why = item.get("name"), item.get("passed"), item.get("why", "")
    if not isinstance(name, str) or not name.strip():
        raise Unreadable(f"item {number} has no name")
    if "passed" not in item or not (passed is None or isinstance(passed, bool)):
        raise Unreadable(f"item {number} ({name}): passed is {passed!r}, neither true nor false")
    if not isinstance(why, str):
        raise Unreadable(f"item {number} ({name}): why is no text")
    return Verdict(name, passed, why, _weight(item.get("weight", 1), f"item {number} ({name})"))


def _weight(value: object, where: str) -> str:
    """A decimal string, from a JSON number or a decimal string."""
    if isinstance(value, bool) or not isinstance(value, int | str | Decimal):
        raise Unreadable(f"{where}: its weight is {value!r}, no number")
    try:
        weight = decimal_text(value)
    except Harness2Error:
        raise Unreadable(f"{where}: its weight is {str(value)!r}, no number") from None
    if weight.startswith("-"):
        raise Unreadable(f"{where}: its weight is negative")
    return weight


def _no_number(text: str) -> None:
    raise ValueError(f"{text} is no JSON number")
