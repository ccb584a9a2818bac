"""Checks output/summary.csv against the statement itself, read with the bank's conventions in truth.toml.

    check_summary.py DELIVERABLES SOURCE

It shares no code with the program it checks. The copies in the tasks are written by make_ledgers.py.
"""

from __future__ import annotations

import csv
import io
import json
import re
import sys
import tomllib
from decimal import Decimal, InvalidOperation
from pathlib import Path
from typing import Any

Totals = dict[tuple[str, str], tuple[int, Decimal]]


def main(deliverables: Path, source: Path) -> None:
    truth = tomllib.loads(Path(__file__).with_name("truth.toml").read_text(encoding="utf-8"))
    wanted = totals_of(statement(next(source.rglob("statement.csv")), truth))
    header, given = delivered(deliverables / "summary.csv")
    problems = deliverables / "problems.txt"
    items: list[dict[str, object]] = [
        item("columns as asked for", 1, header == ["month", "category", "entries", "total"]),
        item("months and categories", 2, set(given) == set(wanted)),
        item("number of entries", 2, {key: count for key, (count, _) in given.items()} == counts(wanted)),
        item("every line was used", 1, problems.is_file() and not problems.read_bytes().strip()),
    ]
    for category in sorted({category for _, category in wanted}):
        items.append(item(f"totals of {category}", 1, part(given, category) == part(wanted, category)))
    print(json.dumps({"items": items}))


def item(name: str, weight: int, passed: bool) -> dict[str, object]:
    return {"name": name, "weight": weight, "passed": passed}


def counts(totals: Totals) -> dict[tuple[str, str], int]:
    return {key: count for key, (count, _) in totals.items()}


def part(totals: Totals, category: str) -> dict[str, Decimal]:
    return {month: total for (month, name), (_, total) in totals.items() if name == category}


def delivered(path: Path) -> tuple[list[str], Totals]:
    """The table as it was handed in; what cannot be read is left out, so that it counts as missing."""
    if not path.is_file():
        return [], {}
    rows = list(csv.reader(io.StringIO(path.read_text(encoding="utf-8", errors="replace"))))
    totals: Totals = {}
    for row in rows[1:]:
        try:
            month, category, count, total = row
            totals[month, category] = (int(count), Decimal(total))
        except (ValueError, InvalidOperation):
            continue
    return (rows[0] if rows else []), totals


def statement(path: Path, truth: dict[str, Any]) -> list[tuple[str, str, Decimal]]:
    """(month, category, signed amount) of every entry, each once."""
    text = path.read_bytes().decode(truth["encoding"])
    entries: dict[str, tuple[str, str, Decimal]] = {}
    columns = truth["columns"]
    for row in csv.DictReader(io.StringIO(text, newline=""), delimiter=truth["delimiter"]):
        found = re.fullmatch(r"(\d\d)/(\d\d)/(\d{4})", row[columns["date"]] or "")
        if not found:
            continue  # a footer
        month = found.group(2 if truth["dates"] == "dmy" else 1)
        amount = money(row[columns["amount"]])
        if columns["type"] and row[columns["type"]] in truth["negative_types"]:
            amount = -amount
        entries[row[columns["reference"]]] = (f"{found.group(3)}-{month}", row[columns["category"]], amount)
    return list(entries.values())


def money(text: str) -> Decimal:
    """The last two digits are cents, whatever separates what; a minus or parentheses make it negative."""
    cents = int("".join(re.findall(r"\d", text)))
    return Decimal(-cents if text.startswith(("-", "(")) else cents) / 100


def totals_of(entries: list[tuple[str, str, Decimal]]) -> Totals:
    totals: Totals = {}
    for month, category, amount in entries:
        count, total = totals.get((month, category), (0, Decimal(0)))
        totals[month, category] = (count + 1, total + amount)
    return totals


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
