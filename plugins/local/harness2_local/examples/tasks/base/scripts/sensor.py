"""Sums up sensor series by day and lists their gaps. What it knows of stations is in domain/sensors.toml."""

import csv
import sys
import tomllib
from collections import defaultdict
from collections.abc import Iterator, Mapping
from datetime import datetime, timedelta
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

DOMAIN = Path(__file__).parent.parent / "domain" / "sensors.toml"
COLUMNS = ("TIMESTAMP", "RECORD", "SENSOR", "VALUE", "UNIT")

Known = Mapping[str, Any]


class Reading(NamedTuple):
    sensor: str
    at: datetime
    """In UTC."""
    value: float


def run(inputs: Path, output: Path) -> None:
    problems: list[str] = []
    known = tomllib.loads(DOMAIN.read_text(encoding="utf-8"))
    series: defaultdict[str, list[Reading]] = defaultdict(list)
    for path in sorted(inputs.glob("readings-*.csv")):
        for reading in read(path, known, problems):
            series[reading.sensor].append(reading)
    write_days(series, output / "days.csv")
    write_gaps(series, timedelta(minutes=known["logger"]["minutes"]), output / "gaps.csv")
    (output / "problems.txt").write_text("".join(f"{problem}\n" for problem in problems), encoding="utf-8")
    for problem in problems:
        print(problem, file=sys.stderr)
    print(f"days.csv sums up {sum(map(len, series.values()))} readings")


def read(path: Path, known: Known, problems: list[str]) -> Iterator[Reading]:
    table = csv.DictReader(decoded(path, problems).splitlines())
    missing = [column for column in COLUMNS if column not in (table.fieldnames or ())]
    if missing:
        problems.append(f"error: {path.name}: there is no column {missing[0]}")
        return
    station = known["stations"][path.stem.removeprefix("readings-")]
    rows = list(enumerate(table, 2))
    records: set[int] = set()
    last: dict[str, datetime] = {}
    for number, row in rows:
        where = f"{path.name} line {number}"
        record, sensor = int(row["RECORD"]), row["SENSOR"]
        if record in records:
            problems.append(f"error: {where}: record {record} was read before")
        elif records and record - 1 not in records:
            problems.append(f"error: {where}: record {record} comes without the one before it")
        at = in_utc(datetime.fromisoformat(row["TIMESTAMP"]), station, last.get(sensor, datetime.min))
        if record not in records and sensor in last and at <= last[sensor]:
            problems.append(f"error: {where}: {sensor} at {at} comes after its reading of {last[sensor]}")
        records.add(record)
        last[sensor] = at
        value = value_of(row["VALUE"], row["UNIT"], known, where, problems)
        if value is not None:
            yield Reading(sensor, at, value)


def decoded(path: Path, problems: list[str]) -> str:
    text = path.read_bytes().decode("utf-8", errors="replace")
    if "\ufffd" in text:
        problems.append(f"error: {path.name}: {text.count(chr(0xFFFD))} bytes are not UTF-8")
    return text


def in_utc(local: datetime, station: Known, last: datetime) -> datetime:
    """Of the moments at which the station's clock showed `local`, the first that is later than `last`."""
    begins = [(datetime.min, station["offset_minutes"])]
    begins += [(datetime.fromisoformat(at), minutes) for at, minutes in station["switches"]]
    found = []
    for (begin, minutes), (end, _) in pairwise([*begins, (datetime.max, 0)]):
        moment = local - timedelta(minutes=minutes)
        if begin <= moment < end:
            found.append(moment)
    later = [moment for moment in found if moment > last]
    return (later or found or [local - timedelta(minutes=station["offset_minutes"])])[0]


def value_of(text: str, unit: str, known: Known, where: str, problems: list[str]) -> float | None:
    """In the unit that is asked for; `None` where the logger has none."""
    if text in known["logger"]["missing"]:
        return None
    if unit not in known["units"]:
        problems.append(f"error: {where}: unknown unit {unit!r}")
        return None
    rule = known["units"][unit]
    value: float = float(text) * rule["factor"] + rule["summand"]
    low, high = known["ranges"][rule["to"]]
    if not low <= value <= high:
        problems.append(f"error: {where}: {text} {unit} is outside {low} to {high} {rule['to']}")
    return value


def write_days(series: Mapping[str, list[Reading]], path: Path) -> None:
    days: defaultdict[tuple[str, str], list[float]] = defaultdict(list)
    for sensor, readings in series.items():
        for reading in readings:
            days[f"{reading.at:%Y-%m-%d}", sensor].append(reading.value)
    rows = [
        [day, sensor, len(values), f"{min(values):.2f}", f"{max(values):.2f}", f"{sum(values) / len(values):.2f}"]
        for (day, sensor), values in sorted(days.items())
    ]
    write_table(path, ["day", "sensor", "readings", "lowest", "highest", "mean"], rows)


def write_gaps(series: Mapping[str, list[Reading]], interval: timedelta, path: Path) -> None:
    rows = [
        [sensor, f"{before.at:%Y-%m-%dT%H:%M}", f"{after.at:%Y-%m-%dT%H:%M}"]
        for sensor, readings in sorted(series.items())
        for before, after in pairwise(readings)
        if after.at - before.at > interval
    ]
    write_table(path, ["sensor", "last", "next"], rows)


def write_table(path: Path, header: list[str], rows: list[list[Any]]) -> None:
    with path.open("w", encoding="utf-8", newline="") as stream:
        table = csv.writer(stream, lineterminator="\n")
        table.writerow(header)
        table.writerows(rows)
