"""Adds up bank statements by month and category. What it knows of the banks is in domain/ledgers.toml."""

import csv
import re
import sys
import tomllib
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from datetime import date, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

DOMAIN = Path(__file__).parent.parent / "domain" / "ledgers.toml"

Read = TypeVar("Read")
Rules = Mapping[str, Any]


class Entry(NamedTuple):
    day: date
    category: str
    amount: Decimal


def run(inputs: Path, output: Path) -> None:
    problems: list[str] = []
    entries = [entry for path in sorted(inputs.glob("statement*.csv")) for entry in read(path, problems)]
    write_summary(entries, output / "summary.csv")
    (output / "problems.txt").write_text("".join(f"{problem}\n" for problem in problems), encoding="utf-8")
    for problem in problems:
        print(problem, file=sys.stderr)
    print(f"summary.csv adds up {len(entries)} entries")


def read(path: Path, problems: list[str]) -> Iterator[Entry]:
    text = decoded(path, problems)
    delimiter = ";" if text.partition("\n")[0].count(";") > text.partition("\n")[0].count(",") else ","
    header, *rows = [row for row in csv.reader(text.splitlines(), delimiter=delimiter) if row]
    name, rules = format_of(path, header)
    columns = rules["columns"]
    seen: set[str] = set()
    last_day = date.min
    last_balance: Decimal | None = None
    for number, row in enumerate(rows, 2):
        cells = dict(zip(header, row, strict=False))
        where = f"{path.name} ({name}) line {number}"
        reference = cells.get(columns["reference"], "")
        if reference in seen:
            problems.append(f"error: {where}: reference {reference} was seen before")
        seen.add(reference)
        day = value(read_date, cells.get(columns["date"], ""), rules, where, problems)
        if day is not None and day < last_day:
            problems.append(f"error: {where}: {day} comes before the line above it, {last_day}")
        last_day = day or last_day
        amount = value(read_amount, cells.get(columns["amount"], ""), rules, where, problems)
        if day is None or amount is None:
            continue
        kind = cells.get(columns.get("type", ""), "")
        amount *= rules["signs"].get(kind, 1)
        if columns.get("balance") in header:
            balance = value(read_amount, cells.get(columns["balance"], ""), rules, where, problems)
            if balance is not None and last_balance is not None and last_balance + amount != balance:
                problems.append(
                    f"error: {where} ({kind}): the balance says {balance}, this line makes it {last_balance + amount}"
                )
            last_balance = balance
        yield Entry(day, cells.get(columns["category"], ""), amount)


def value(
    reader: Callable[[str, Rules], Read], text: str, rules: Rules, where: str, problems: list[str]
) -> Read | None:
    """What `reader` makes of `text`; `None`, and a problem more, when it can make nothing of it."""
    try:
        return reader(text, rules)
    except ValueError as error:
        problems.append(f"error: {where}: {error}")
        return None


def decoded(path: Path, problems: list[str]) -> str:
    data = path.read_bytes()
    text = data.decode("utf-8", errors="replace")
    if "\ufffd" in text:
        problems.append(f"error: {path.name}: {text.count(chr(0xFFFD))} bytes are not UTF-8")
    return text


def format_of(path: Path, header: list[str]) -> tuple[str, Rules]:
    """The format whose columns are there, with a balance or without."""
    for name, rules in tomllib.loads(DOMAIN.read_text(encoding="utf-8"))["formats"].items():
        if all(column in header for role, column in rules["columns"].items() if role != "balance"):
            return name, rules
    raise LookupError(f"{path.name}: no known format has the columns {header}")


def read_date(text: str, rules: Rules) -> date:
    try:
        return datetime.strptime(text.strip(), rules["dates"]).date()
    except ValueError:
        raise ValueError(f"cannot read date {text!r}") from None


def read_amount(text: str, rules: Rules) -> Decimal:
    plain, sign = text.strip(), 1
    if rules["parentheses"] == "negative" and plain.startswith("(") and plain.endswith(")"):
        plain, sign = plain[1:-1], -1
    if rules["thousands"]:
        plain = plain.replace(rules["thousands"], "")
    plain = plain.replace(rules["decimal"], ".")
    if not re.fullmatch(r"-?\d+(\.\d{1,2})?", plain):
        raise ValueError(f"cannot read amount {text!r}")
    return Decimal(plain) * sign


def write_summary(entries: list[Entry], path: Path) -> None:
    groups: defaultdict[tuple[str, str], list[Decimal]] = defaultdict(list)
    for entry in entries:
        groups[f"{entry.day:%Y-%m}", entry.category].append(entry.amount)
    with path.open("w", encoding="utf-8", newline="") as stream:
        table = csv.writer(stream, lineterminator="\n")
        table.writerow(["month", "category", "entries", "total"])
        for (month, category), amounts in sorted(groups.items()):
            table.writerow([month, category, len(amounts), f"{sum(amounts):.2f}"])
