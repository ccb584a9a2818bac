"""How long the command line takes to start: help and the list of plugins against an empty typer app, and completions.

    python benchmarks/startup.py [--runs 15] [--json FILE]

Run it where all plugins are installed; `--help` and `plugins list` are also started with 5 and with 100 distributions
of plugins more. Each command is started `--runs` times in turn with the others, and the fastest CPU time (user and
system, of the process alone) stands for it: the machine's other work makes a start slower, never faster. Help is held
against the empty application's help, the list against a command of it that does nothing: typer loads its validation for
commands only. Exit code 1 when one takes more than 1.5 times as long, or a completion 300 ms and more.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from attrs import define, field

TIMES_EMPTY: Final = 1.5
COMPLETION_MS: Final = 300
MORE: Final = (0, 5, 100)
"""Distributions of plugins beside what is installed."""

EMPTY: Final = """
import typer
app = typer.Typer(rich_markup_mode=None, pretty_exceptions_enable=False)
@app.command()
def one(name: str) -> None: print(name)
@app.command()
def two(name: str) -> None: ...
app()
"""
PROGRAM: Final = "import sys; sys.argv[0] = 'harness2'; from harness2_core.cli.main import main; main()"


@define
class Measured:
    """One command line. Times in milliseconds."""

    name: str
    argv: Sequence[str]
    environment: dict[str, str] = field(factory=dict)
    limit_ms: float = 0
    cpu: list[float] = field(factory=list)
    wall: list[float] = field(factory=list)
    output: str = ""

    def start(self, folder: Path) -> None:
        """Once."""
        before, began = _children_ms(), time.perf_counter()
        done = subprocess.run(
            [sys.executable, *self.argv],
            env={**os.environ, **self.environment},
            cwd=folder,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
        )
        self.wall.append((time.perf_counter() - began) * 1000)
        self.cpu.append(_children_ms() - before)
        self.output = done.stdout
        if not self.output:
            raise SystemExit(f"{self.name} printed nothing: {done.stderr}")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=15)
    parser.add_argument("--json", type=Path, metavar="FILE")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        _experiment(folder)
        sites = {more: _plugins(folder / f"site{more}", more) for more in MORE}
        empty = {
            "--help": Measured("an empty typer application, --help", ["-c", EMPTY, "--help"]),
            "plugins list": Measured("an empty typer application, a command", ["-c", EMPTY, "one", "name"]),
        }
        shown = {
            (arguments, more): Measured(
                f"harness2 {arguments}{f' ({more} more plugins)' if more else ''}",
                ["-c", PROGRAM, *arguments.split()],
                {"PYTHONPATH": str(sites[more])},
            )
            for more in MORE
            for arguments in empty
        }
        completions = [
            _completion(words)
            for words in (
                "harness2 r",
                "harness2 show bigdomain/task",
                "harness2 diff bigdomain/task_7 inv",
                "harness2 plugins show s",
                "harness2 report --ns big",
            )
        ]
        everything = [*empty.values(), *shown.values(), *completions]
        for _ in range(given.runs):
            for measured in everything:
                measured.start(folder)
    for (arguments, _), measured in shown.items():
        measured.limit_ms = TIMES_EMPTY * min(empty[arguments].cpu)
    rows = [
        {
            "command": item.name,
            "cpu_ms": round(min(item.cpu), 1),
            "wall_ms": round(min(item.wall), 1),
            "limit_ms": round(item.limit_ms, 1),
            "holds": not item.limit_ms or min(item.cpu) < item.limit_ms,
        }
        for item in everything
    ]
    print(f"{'command':<44} {'CPU ms':>8} {'wall ms':>8} {'limit':>8}")
    for row in rows:
        mark = "" if row["holds"] else "  too slow"
        print(f"{row['command']:<44} {row['cpu_ms']:>8} {row['wall_ms']:>8} {row['limit_ms'] or '':>8}{mark}")
    for (arguments, _), measured in shown.items():
        print(f"{measured.name}: {min(measured.cpu) / min(empty[arguments].cpu):.2f} times the empty application")
    if given.json:
        given.json.write_text(json.dumps(rows, indent=2) + "\n", encoding="utf-8")
    return 0 if all(row["holds"] for row in rows) else 1


def _completion(words: str) -> Measured:
    environment = {
        "COMP_WORDS": words,
        "COMP_CWORD": str(len(words.split()) - 1),
        "_HARNESS2_COMPLETE": "complete_bash",
    }
    return Measured(f"completing `{words}`", ["-c", PROGRAM], environment, COMPLETION_MS)


def _plugins(site: Path, count: int) -> Path:
    """Installed distributions of two plugins each, as an installer leaves them; one in ten brings a command."""
    for number in range(count):
        name = f"zz-plugins-{number:03}"
        info = site / f"{name.replace('-', '_')}-1.0.dist-info"
        info.mkdir(parents=True)
        requires = "Requires-Dist: harness2-core<1,>=0.1\nRequires-Dist: attrs>=24.2\n"
        metadata = f"Metadata-Version: 2.4\nName: {name}\nVersion: 1.0\n{requires}\n{'A page about it. ' * 200}\n"
        (info / "METADATA").write_text(metadata, encoding="utf-8")
        command = f"command.zz-do-{number:03} = zz_{number}.plugin\n" if number % 10 == 0 else ""
        entries = (
            f"[harness2.v1]\nselector.zz-{number:03} = zz_{number}.plugin\nstore.zz-{number:03} = zz_{number}.plugin\n"
        )
        (info / "entry_points.txt").write_text(entries + command, encoding="utf-8")
    return site


def _experiment(folder: Path) -> None:
    """A runs directory as a long sweep leaves it, as far as names come from it: 1,143 tasks in 24 domains."""
    home = folder / "runs" / "adapt" / "bigbench-py-agg2"
    tasks = [f"bigdomain/task_{number}" for number in range(1_143)]
    stream = {f"domain_{number}": tasks[number::24] for number in range(24)}
    home.mkdir(parents=True)
    config = {"tasks": dict.fromkeys(tasks, "0" * 64), "stream": stream, "plans": {"agg": "0" * 64}}
    (home / "config.json").write_text(json.dumps(config), encoding="utf-8")
    task = home / "bigdomain%2Ftask_7"
    task.mkdir()
    summary = {"modes": {"agg": {"stages": [{"label": label} for label in ("inv1", "inv2", "dom1", "dom2")]}}}
    (task / "summary.json").write_text(json.dumps(summary), encoding="utf-8")


def _children_ms() -> float:
    """CPU time of all children that have ended."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return (used.ru_utime + used.ru_stime) * 1000


if __name__ == "__main__":
    sys.exit(main())
