"""Checks output/requests.csv against the logs themselves, with who is who in truth.toml.

    check_requests.py DELIVERABLES SOURCE

It shares no code with the program it checks. The copies in the tasks are written by make_weblogs.py.
"""

from __future__ import annotations

import csv
import gzip
import io
import ipaddress
import json
import re
import sys
import tomllib
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

WHOLE = re.compile(
    r'(?P<host>\S+) \S+ \S+ \[(?P<time>[^\]]+)\] "(?:[^"\\]|\\.)*" \d{3} (?P<bytes>\d+|-)'
    r' "(?:[^"\\]|\\.)*" "(?P<agent>(?:[^"\\]|\\.)*)"(?: \d+\.\d+)?'
)

Counts = dict[tuple[str, str], tuple[int, int, int]]
"""(day, client) -> requests, hosts, bytes."""


def main(deliverables: Path, source: Path) -> None:
    truth = tomllib.loads(Path(__file__).with_name("truth.toml").read_text(encoding="utf-8"))
    wanted, broken = counted(source, truth)
    header, given = delivered(deliverables / "requests.csv")
    items: list[dict[str, object]] = [
        item("columns as asked for", 1, header == ["day", "client", "requests", "hosts", "bytes"]),
        item("days and kinds of client", 2, set(given) == set(wanted)),
        item("number of requests", 2, column(given, 0) == column(wanted, 0)),
        item("different hosts", 1, column(given, 1) == column(wanted, 1)),
        item("bytes", 1, column(given, 2) == column(wanted, 2)),
        item("the lines that are no whole request", 1, named(deliverables / "problems.txt") == broken),
    ]
    for kind in sorted({kind for _, kind in wanted}):
        items.append(item(f"requests of {kind}", 1, of_kind(given, kind) == of_kind(wanted, kind)))
    print(json.dumps({"items": items}))


def item(name: str, weight: int, passed: bool) -> dict[str, object]:
    return {"name": name, "weight": weight, "passed": passed}


def column(counts: Counts, index: int) -> dict[tuple[str, str], int]:
    return {key: row[index] for key, row in counts.items()}


def of_kind(counts: Counts, kind: str) -> dict[str, tuple[int, int, int]]:
    return {day: row for (day, name), row in counts.items() if name == kind}


def delivered(path: Path) -> tuple[list[str], Counts]:
    """The table as it was handed in; what cannot be read is left out, so that it counts as missing."""
    if not path.is_file():
        return [], {}
    rows = list(csv.reader(io.StringIO(path.read_text(encoding="utf-8", errors="replace"))))
    counts: Counts = {}
    for row in rows[1:]:
        try:
            day, client, requests, hosts, size = row
            counts[day, client] = (int(requests), int(hosts), int(size))
        except ValueError:
            continue
    return (rows[0] if rows else []), counts


def named(path: Path) -> set[tuple[str, int]] | None:
    """(file, number) of each line that problems.txt names; `None` when there is no such file."""
    if not path.is_file():
        return None
    lines = path.read_text(encoding="utf-8", errors="replace").splitlines()
    found = [re.search(r"(access[^\s:]*):(\d+)", line) for line in lines if line.strip()]
    return {(match.group(1), int(match.group(2))) if match else ("", 0) for match in found}


def counted(source: Path, truth: dict[str, Any]) -> tuple[Counts, set[tuple[str, int]]]:
    groups: dict[tuple[str, str], list[tuple[str, int]]] = {}
    broken: set[tuple[str, int]] = set()
    for path in source.rglob("access*"):
        data = gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()
        for number, line in enumerate(data.decode("utf-8").splitlines(), 1):
            match = WHOLE.fullmatch(line)
            if match is None:
                broken.add((path.name, number))
                continue
            at = datetime.strptime(match["time"], "%d/%b/%Y:%H:%M:%S %z").astimezone(UTC)
            kind = next(kind for word, kind in truth["agents"] if word in match["agent"])
            size = 0 if match["bytes"] == "-" else int(match["bytes"])
            groups.setdefault((f"{at:%Y-%m-%d}", kind), []).append((str(ipaddress.ip_address(match["host"])), size))
    counts = {
        key: (len(group), len({host for host, _ in group}), sum(size for _, size in group))
        for key, group in groups.items()
    }
    return counts, broken


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
