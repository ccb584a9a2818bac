"""Checks output/days.csv and output/gaps.csv against the series itself, read with the station's ways in truth.toml.

    check_series.py DELIVERABLES SOURCE

It shares no code with the program it checks. The copies in the tasks are written by make_sensors.py.
"""

from __future__ import annotations

import csv
import io
import json
import sys
import tomllib
from datetime import datetime, timedelta
from itertools import pairwise
from pathlib import Path
from typing import Any

TOLERANCE = 0.0101
"""Two decimals, rounded either way."""

Points = dict[str, list[tuple[datetime, float]]]
Days = dict[tuple[str, str], tuple[int, float, float, float]]
"""(day, sensor) -> readings, lowest, highest, mean."""


def main(deliverables: Path, source: Path) -> None:
    truth = tomllib.loads(Path(__file__).with_name("truth.toml").read_text(encoding="utf-8"))
    points = series(next(source.rglob("readings-*.csv")), truth)
    wanted, gaps = days_of(points), gaps_of(points)
    header, *rows = table(deliverables / "days.csv")
    gap_header, *gap_rows = table(deliverables / "gaps.csv")
    given = read_days(rows)
    problems = deliverables / "problems.txt"
    items: list[dict[str, object]] = [
        item("columns of days.csv", 1, header == ["day", "sensor", "readings", "lowest", "highest", "mean"]),
        item("columns of gaps.csv", 1, gap_header == ["sensor", "last", "next"]),
        item("days and sensors", 1, set(given) == set(wanted)),
        item("number of readings by day", 2, counts(given) == counts(wanted)),
        item("number of readings of each sensor", 2, totals(given) == totals(wanted)),
        item("gaps", 2, gap_rows == gaps),
        item("every row was used", 1, problems.is_file() and not problems.read_bytes().strip()),
    ]
    for sensor in sorted(points):
        items.append(item(f"values of {sensor}", 1, alike(of(given, sensor), of(wanted, sensor))))
    print(json.dumps({"items": items}))


def item(name: str, weight: int, passed: bool) -> dict[str, object]:
    return {"name": name, "weight": weight, "passed": passed}


def counts(days: Days) -> dict[tuple[str, str], int]:
    return {key: row[0] for key, row in days.items()}


def totals(days: Days) -> dict[str, int]:
    return {sensor: sum(row[0] for row in of(days, sensor).values()) for _, sensor in days}


def of(days: Days, sensor: str) -> dict[str, tuple[int, float, float, float]]:
    return {day: row for (day, name), row in days.items() if name == sensor}


def alike(
    given: dict[str, tuple[int, float, float, float]], wanted: dict[str, tuple[int, float, float, float]]
) -> bool:
    if set(given) != set(wanted):
        return False
    return all(abs(a - b) <= TOLERANCE for day in wanted for a, b in zip(given[day][1:], wanted[day][1:], strict=True))


def table(path: Path) -> list[list[str]]:
    """Rows as handed in, the header first; a missing file has an empty one."""
    if not path.is_file():
        return [[]]
    return list(csv.reader(io.StringIO(path.read_text(encoding="utf-8", errors="replace")))) or [[]]


def read_days(rows: list[list[str]]) -> Days:
    """What cannot be read is left out, so that it counts as missing."""
    days: Days = {}
    for row in rows:
        try:
            day, sensor, readings, lowest, highest, mean = row
            days[day, sensor] = (int(readings), float(lowest), float(highest), float(mean))
        except ValueError:
            continue
    return days


def series(path: Path, truth: dict[str, Any]) -> Points:
    """Sensor -> moments in UTC and values in degC or hPa, in the order in which they were recorded."""
    rows = csv.DictReader(io.StringIO(path.read_bytes().decode(truth["encoding"])))
    points: Points = {}
    shown: dict[str, datetime] = {}
    put_back: set[str] = set()
    for _, row in sorted({int(row["RECORD"]): row for row in rows}.items()):
        local, sensor = datetime.fromisoformat(row["TIMESTAMP"]), row["SENSOR"]
        if sensor in shown and local <= shown[sensor]:
            put_back.add(sensor)  # the records go on, the clock went back
        shown[sensor] = local
        if row["VALUE"] not in truth["missing"]:
            at = local - timedelta(minutes=ahead(local, truth, sensor in put_back))
            points.setdefault(sensor, []).append((at, plain(float(row["VALUE"]), row["UNIT"])))
    return points


def ahead(local: datetime, truth: dict[str, Any], put_back: bool) -> int:
    winter: int = truth.get("winter_minutes", 0)
    if "summer" not in truth or put_back:
        return winter
    begins, ends = truth["summer"]
    return winter + 60 if begins <= local - timedelta(minutes=winter + 60) < ends else winter


def plain(value: float, unit: str) -> float:
    match unit:
        case "degF":
            return (value - 32) * 5 / 9
        case "inHg":
            return value * 33.863886667
        case _:
            return value


def days_of(points: Points) -> Days:
    groups: dict[tuple[str, str], list[float]] = {}
    for sensor, readings in points.items():
        for at, value in readings:
            groups.setdefault((at.date().isoformat(), sensor), []).append(value)
    return {key: (len(v), min(v), max(v), sum(v) / len(v)) for key, v in groups.items()}


def gaps_of(points: Points) -> list[list[str]]:
    found = []
    for sensor, readings in sorted(points.items()):
        for (before, _), (after, _) in pairwise(readings):
            if after - before > timedelta(minutes=30):
                found.append([sensor, f"{before:%Y-%m-%dT%H:%M}", f"{after:%Y-%m-%dT%H:%M}"])
    return found


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
