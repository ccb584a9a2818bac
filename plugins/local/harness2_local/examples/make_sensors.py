"""Writes the sensor tasks' files: the same bytes every time. Run it in this folder after a change.

    python make_sensors.py [FOLDER]

Stations and values are invented. Each task gets one `inputs/readings-<station>.csv` as its logger would export it,
`checks/truth.toml` with the ways of that station, and the one check program of all sensor tasks.
"""

from __future__ import annotations

import math
import random
import sys
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime, timedelta
from pathlib import Path
from typing import NamedTuple

HERE = Path(__file__).resolve().parent
STEP = timedelta(minutes=30)


class Row(NamedTuple):
    at: datetime
    """In UTC."""
    record: int
    sensor: str
    value: str
    unit: str


def files() -> dict[str, bytes]:
    """Path below the examples folder -> content, of everything that is generated."""
    made: dict[str, bytes] = {}
    program = (HERE / "check_sensor.py").read_bytes()
    tasks = {
        "cellar_week": ("readings-cellar.csv", _cellar_week(), _CELLAR),
        "fell_autumn": ("readings-fell.csv", _fell_autumn(), _FELL),
        "fell_spring": ("readings-fell.csv", _fell_spring(), _FELL),
        "mast_export": ("readings-mast.csv", _mast_export(), _MAST),
    }
    for task, (name, series, truth) in tasks.items():
        made[f"tasks/sensors/{task}/inputs/{name}"] = series
        made[f"tasks/sensors/{task}/checks/truth.toml"] = truth.encode()
        made[f"tasks/sensors/{task}/checks/check_series.py"] = program
    return made


def write(folder: Path) -> None:
    for path, data in files().items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_bytes(data)


_CELLAR = """\
encoding = "utf-8"
missing = ["-999"]
"""
_FELL = """\
encoding = "utf-8"
missing = ["-999"]
winter_minutes = 60
summer = [2024-03-31T01:00:00, 2024-10-27T01:00:00]
"""
_MAST = """\
encoding = "utf-16"
missing = []
"""


def _cellar_week() -> bytes:
    """One sensor in degF, -999 here and there, four hours without power, a block of records that was sent again."""
    sensors = {"cellar-air": ("degC", 11.0, 2.5), "cellar-wall": ("degF", 49.0, 3.0)}
    rows = list(_series(random.Random("cellar week"), datetime(2024, 2, 10), datetime(2024, 2, 13), sensors))
    rows = [row for row in rows if not datetime(2024, 2, 11, 13) <= row.at < datetime(2024, 2, 11, 17)]
    rows = [row._replace(record=number) for number, row in enumerate(rows, 1)]
    rows = [row._replace(value="-999") if row.record % 37 == 5 else row for row in rows]
    return _table([*rows[:96], *rows[80:96], *rows[96:]]).encode()


def _fell_autumn() -> bytes:
    """Local time; in the second night the clock is set back from three to two."""
    first, back, last = datetime(2024, 10, 25, 22), datetime(2024, 10, 27, 1), datetime(2024, 10, 28, 23)
    rows = _series(random.Random("fell autumn"), first, last, {"fell-air": ("degC", 4.0, 5.0)})
    return _table(rows, [(datetime.min, 120), (back, 60)]).encode()


def _fell_spring() -> bytes:
    """Local time; in the second night the clock is set from two to three. A few values are missing."""
    first, forth, last = datetime(2024, 3, 29, 23), datetime(2024, 3, 31, 1), datetime(2024, 4, 1, 22)
    rows = _series(random.Random("fell spring"), first, last, {"fell-air": ("degC", 6.0, 6.0)})
    rows = (row._replace(value="-999") if row.record % 41 in (7, 8) else row for row in rows)
    return _table(rows, [(datetime.min, 60), (forth, 120)]).encode()


def _mast_export() -> bytes:
    """UTF-16 as a Windows program saves it, pressure in inHg, three hours without power, two late blocks."""
    sensors = {"mast-air": ("degC", 9.0, 4.0), "mast-pressure": ("inHg", 29.6, 0.4)}
    rows = list(_series(random.Random("mast export"), datetime(2024, 5, 14), datetime(2024, 5, 17), sensors))
    rows = [row for row in rows if not datetime(2024, 5, 16, 9) <= row.at < datetime(2024, 5, 16, 12)]
    rows = [row._replace(record=number) for number, row in enumerate(rows, 1)]
    late, later = rows[40:52], rows[150:156]
    rows = [*rows[:40], *rows[52:70], *late, *rows[70:150], *rows[156:200], *later, *rows[200:]]
    return _table(rows).replace("\n", "\r\n").encode("utf-16")


def _series(
    chance: random.Random, first: datetime, last: datetime, sensors: Mapping[str, tuple[str, float, float]]
) -> Iterator[Row]:
    """A daily wave for each sensor (unit, mean, swing), with some noise."""
    at, record = first, 0
    while at < last:
        wave = math.sin((at.hour + at.minute / 60 - 9) / 24 * 2 * math.pi)
        for sensor, (unit, mean, swing) in sensors.items():
            record += 1
            yield Row(at, record, sensor, f"{mean + swing * wave + chance.uniform(-0.2, 0.2) * swing:.1f}", unit)
        at += STEP


def _table(rows: Iterator[Row] | Sequence[Row], clock: Sequence[tuple[datetime, int]] = ((datetime.min, 0),)) -> str:
    """`clock`: from when on in UTC -> minutes that it is ahead."""
    lines = ["TIMESTAMP,RECORD,SENSOR,VALUE,UNIT"]
    for row in rows:
        ahead = [minutes for begin, minutes in clock if begin <= row.at][-1]
        local = row.at + timedelta(minutes=ahead)
        lines.append(f"{local:%Y-%m-%d %H:%M:%S},{row.record},{row.sensor},{row.value},{row.unit}")
    return "\n".join(lines) + "\n"


def main(arguments: Sequence[str]) -> None:
    write(Path(arguments[0]) if arguments else HERE)


if __name__ == "__main__":
    main(sys.argv[1:])
