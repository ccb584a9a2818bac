"""Writes the ledger tasks' files: the same bytes every time. Run it in this folder after a change.

    python make_ledgers.py [FOLDER]

Banks, people and amounts are invented. Each task gets `inputs/statement.csv` as a bank would export it,
`checks/truth.toml` with the conventions of that bank, and the one check program of all ledger tasks.
"""

from __future__ import annotations

import random
import sys
from collections.abc import Iterator, Sequence
from datetime import date, timedelta
from decimal import Decimal
from pathlib import Path
from typing import NamedTuple

HERE = Path(__file__).resolve().parent


class Entry(NamedTuple):
    reference: str
    day: date
    text: str
    category: str
    kind: str
    amount: Decimal
    """As the statement shows it, without a sign from `kind`."""


def files() -> dict[str, bytes]:
    """Path below the examples folder -> content, of everything that is generated."""
    made: dict[str, bytes] = {}
    program = (HERE / "check_ledger.py").read_bytes()
    for task, (statement, truth) in _tasks().items():
        made[f"tasks/ledgers/{task}/inputs/statement.csv"] = statement
        made[f"tasks/ledgers/{task}/checks/truth.toml"] = truth.encode()
        made[f"tasks/ledgers/{task}/checks/check_summary.py"] = program
    return made


def write(folder: Path) -> None:
    for path, data in files().items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_bytes(data)


def _tasks() -> dict[str, tuple[bytes, str]]:
    return {
        "card_march": (_card_march(), _CARD + 'encoding = "cp1252"\n'),
        "card_summer": (_card_summer(), _CARD + 'encoding = "utf-8"\n'),
        "current_account": (_current_account(), _PRAIRIE),
        "giro_household": (_giro("household", date(2024, 1, 3)), _NORLAND),
        "giro_society": (b"\xef\xbb\xbf" + _giro("society", date(2024, 5, 2)), _NORLAND),
    }


_CARD = """\
columns = { reference = "Reference", date = "Date", category = "Category", type = "Type", amount = "Amount" }
delimiter = ","
dates = "dmy"
negative_types = ["Refund", "Payment"]
"""
_PRAIRIE = """\
columns = { reference = "Ref", date = "Posted", category = "Category", type = "", amount = "Amount" }
delimiter = ","
dates = "mdy"
negative_types = []
encoding = "utf-8"
"""
_NORLAND = """\
columns = { reference = "Beleg", date = "Buchungstag", category = "Kategorie", type = "", amount = "Betrag" }
delimiter = ";"
dates = "dmy"
negative_types = []
encoding = "utf-8-sig"
"""

_SHOPS = (
    ("Corner Grocer", "Groceries"),
    ("Mill Lane Bakery", "Groceries"),
    ("Café Orée", "Café & bars"),
    ("The Anchor", "Café & bars"),
    ("Northern Rail", "Travel"),
    ("Pagefold Books", "Leisure"),
)


def _purchases(chance: random.Random, first: date, count: int, prefix: str) -> Iterator[Entry]:
    day = first
    for number in range(1, count + 1):
        day += timedelta(days=chance.choice((1, 2, 3, 4)))
        shop, category = chance.choice(_SHOPS)
        amount = Decimal(chance.randrange(350, 9_800)) / 100
        kind = "Purchase"
        if number % 6 == 0:
            kind = "Refund"
        if number % 11 == 0:
            shop, category, kind, amount = "Thank you", "Payment", "Payment", Decimal(250)
        yield Entry(f"{prefix}{1000 + number}", day, shop, category, kind, amount)


def _card_march() -> bytes:
    """Balance column, Windows encoding, refunds without a sign."""
    entries = tuple(_purchases(random.Random("card march"), date(2024, 2, 24), 27, "HC"))
    lines, balance = ["Reference,Date,Merchant,Category,Type,Amount,Balance"], Decimal("412.60")
    for entry in entries:
        balance += entry.amount if entry.kind == "Purchase" else -entry.amount
        lines.append(
            f"{entry.reference},{entry.day:%d/%m/%Y},{entry.text},{entry.category},{entry.kind},"
            f"{entry.amount:.2f},{balance:.2f}"
        )
    return ("\r\n".join(lines) + "\r\n").encode("cp1252")


def _card_summer() -> bytes:
    """No balance column; two exports that overlap were joined."""
    entries = tuple(_purchases(random.Random("card summer"), date(2024, 6, 1), 30, "HC"))
    joined = (*entries[:18], *entries[13:])
    lines = ["Reference,Date,Merchant,Category,Type,Amount"]
    lines += [
        f"{entry.reference},{entry.day:%d/%m/%Y},{entry.text},{entry.category},{entry.kind},{entry.amount:.2f}"
        for entry in joined
    ]
    return ("\n".join(lines) + "\n").encode()


_MOVES = (
    ("Acorn Wages", "Income", (182_000, 264_000)),
    ("Hilltop Rentals", "Rent", (-121_500, -98_000)),
    ("City Power", "Utilities", (-18_400, -5_200)),
    ("Fresh Fields", "Groceries", (-14_900, -2_100)),
    ("Union Insurance", "Insurance", (-64_000, -22_000)),
    ("Tax Office", "Income", (10_500, 142_000)),
)


def _moves(chance: random.Random, first: date, count: int, prefix: str) -> Iterator[Entry]:
    day = first
    for number in range(1, count + 1):
        text, category, (low, high) = _MOVES[number % 2] if number % 9 < 2 else chance.choice(_MOVES)
        yield Entry(f"{prefix}{200 + number}", day, text, category, "", Decimal(chance.randrange(low, high)) / 100)
        day += timedelta(days=chance.choice((1, 2, 4, 5)))


def _current_account() -> bytes:
    """Thousands between commas, negative amounts in parentheses, a repeated line here and there, a footer."""
    entries = tuple(_moves(random.Random("current account"), date(2024, 1, 5), 28, "PT"))
    lines = ["Ref,Posted,Details,Category,Amount"]
    for number, entry in enumerate(entries):
        amount = f"{abs(entry.amount):,.2f}"
        amount = f"({amount})" if entry.amount < 0 else amount
        line = f'{entry.reference},{entry.day:%m/%d/%Y},{entry.text},{entry.category},"{amount}"'
        lines += [line, line] if number in (4, 11, 19) else [line]
    total = sum(entry.amount for entry in entries)
    lines += ["", f'Closing,Closing balance,,,"{total:,.2f}"', f"End,{len(entries)} lines exported,,,"]
    return ("\n".join(lines) + "\n").encode()


def _giro(name: str, first: date) -> bytes:
    """Semicolons, decimal commas, dots between thousands, days before months, carriage returns."""
    entries = tuple(_moves(random.Random(f"giro {name}"), first, 26, "N"))
    lines, balance = ["Beleg;Buchungstag;Verwendungszweck;Kategorie;Betrag;Saldo"], Decimal("1840.25")
    for entry in entries:
        balance += entry.amount
        lines.append(
            f"{entry.reference};{entry.day:%d/%m/%Y};{entry.text};{entry.category};{_comma(entry.amount)};{_comma(balance)}"
        )
    return ("\r\n".join(lines) + "\r\n").encode()


def _comma(amount: Decimal) -> str:
    return f"{amount:,.2f}".translate(str.maketrans(",.", ".,"))


def main(arguments: Sequence[str]) -> None:
    write(Path(arguments[0]) if arguments else HERE)


if __name__ == "__main__":
    main(sys.argv[1:])
