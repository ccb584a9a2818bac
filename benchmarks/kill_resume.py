"""Exact resume under random kills: SIGKILL at random moments, the same command again, until so many are dead.

Two modes, k = 2, four tasks in two domains. The harness is a program: every eighth draw runs it as a real, supervised
process, the others within the worker, so that a thousand kills take minutes. The improver is that of
`harness2_core.testing.mishaps`: on the way there are rate limits, refusals, lost connections, sessions lost for good,
and trees and votes that need a correction, the same in every run, so that agents answer alike; each sweep is looked
through for all of them. One runs directory is killed a dozen times (the resume of a resume of a resume) before its
sweep comes to its end; then its records are compared with those of an undisturbed one, and a new sweep begins.

    python benchmarks/kill_resume.py [--kills 100] [--modes parallel,sequential] [--k 2] [--seed 1] [--keep DIR]

Exits with 1 when a request was begun again after it had finished, when records differ, or when something that should
have been on the way was not.
"""

from __future__ import annotations

import argparse
import json
import random
import shutil
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

from attrs import define, field
from harness2_stores.filesystem import FilesystemStore

from harness2_core.testing.comparing import comparable
from harness2_core.testing.crashing import forget, paid_again, steps
from harness2_core.testing.mishaps import EVERYTHING, met, tries
from harness2_core.testing.warm import Warm
from harness2_core.work.attempts import attempts_of

KILLED = -9
TASKS = ("north/one", "north/two", "south/one", "south/two")
PROGRAM = """\
BY = "base"
import sys
from pathlib import Path


def solve(inputs, output):
    total = sum(int(line) for line in (inputs / "numbers.txt").read_text().splitlines() if line.isdigit())
    output.mkdir(parents=True, exist_ok=True)
    (output / "sum.txt").write_text(f"{total}, says {BY}\\n")


if __name__ == "__main__":
    solve(Path("inputs"), Path(sys.argv[1]))
"""
PLUGINS = '''
import hashlib
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from harness2_core.api import (
    NO_MODEL, Action, Allowed, Install, Observation, Provider, Surface, Trajectory, executor_engine, hookimpl
)
from harness2_core.testing.crashing import CrashingStore

PROGRAM = "scripts/solve.py"


def number(text):
    return int(hashlib.sha256(text.encode()).hexdigest()[:8], 16)


class Adding:
    """Runs the program of the harness: every eighth draw as a process, the others here."""

    surface = Surface("adding", always_on=(), cap_chars=0, allowed=(Allowed("program", PROGRAM),), required=(PROGRAM,))

    def run(self, tree, prompt, channel, workspace, ctx):
        program = tree.files[PROGRAM]
        if number(ctx.key) % 8 == 0:
            argv = (sys.executable, "-I", "-S", PROGRAM, ctx.place(workspace).output)
            ctx.spawn(Install({PROGRAM: program.encode()}, {}, argv, {}), workspace, 60)
        else:
            names = {"__name__": "harness"}
            exec(compile(program, PROGRAM, "exec"), names)
            names["solve"](workspace / "inputs", workspace / "output")
        return Trajectory((Action("adding", PROGRAM), Observation("error: nothing is known of the numbers")), NO_MODEL)


class Hurried:
    """Four threads, and a clock on which waiting takes no time while nothing runs."""

    def __init__(self):
        self.engine, self.ahead, self.running = executor_engine(ThreadPoolExecutor(4)), 0.0, 0

    def submit(self, call, work):
        self.running += 1
        return self.engine.submit(call, work)

    def wait(self, seconds):
        if not self.running and seconds:
            self.ahead += seconds
            time.sleep(0.002)
            return []
        done = self.engine.wait(seconds)
        self.running -= len(done)
        return done

    def now(self):
        return self.engine.now() + self.ahead

    def cancel(self, request):
        self.engine.cancel(request)

    def close(self):
        self.engine.close()


def watched(runs):
    from harness2_stores.filesystem import FilesystemStore

    return CrashingStore(FilesystemStore(runs / "store"), Path(@ORDERS@))


@hookimpl
def harness2_proposers():
    return [Provider("mishaps", "meets everything on the way", "harness2_core.testing.mishaps:Mishaps")]


@hookimpl
def harness2_substrates():
    return [Provider("adding", "a program, mostly run within the worker", "kill_plugins:Adding")]


@hookimpl
def harness2_engines():
    return [Provider("hurried", "waits for nothing", "kill_plugins:Hurried")]


@hookimpl
def harness2_stores():
    return [Provider("watched", "keeps a diary", "kill_plugins:watched")]
'''


@define
class Count:
    """What was seen so far."""

    kills: int = 0
    starts: int = 0
    sweeps: int = 0
    requests: int = 0
    cut_short: int = 0
    """Attempts that a kill ended: what a resume has to pay again."""
    paid_again: int = 0
    records_different: int = 0
    causes: Counter[str] = field(factory=Counter)
    """How attempts ended that came to nothing, over all sweeps."""
    met: Counter[str] = field(factory=Counter)
    """What was on the way, over all sweeps."""
    missed: set[str] = field(factory=set)
    """What should have been on the way of each of them, and was not."""


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--kills", type=int, default=100)
    parser.add_argument("--modes", default="parallel,sequential")
    parser.add_argument("--k", type=int, default=2)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--keep", type=Path, help="work here, and leave it behind")
    given = parser.parse_args()
    root = given.keep or Path(tempfile.mkdtemp(prefix="kill-resume-"))
    try:
        began = time.monotonic()
        count = measure(root, given)
        return told(count, given, time.monotonic() - began)
    finally:
        if given.keep is None:
            shutil.rmtree(root, ignore_errors=True)


def measure(root: Path, given: argparse.Namespace) -> Count:
    orders, quiet, runs = root / "orders", root / "quiet", root / "runs"
    make_bench(root, orders)
    count, chance = Count(), random.Random(given.seed)
    with Warm(root / "output.txt", root / "site") as program:
        began = time.monotonic()
        undisturbed = program.run(arguments(root, quiet, given))
        whole = time.monotonic() - began
        if undisturbed not in (0, 2):
            sys.exit(f"the undisturbed run ended with {undisturbed}:\n{(root / 'output.txt').read_text()}")
        expected = comparable(FilesystemStore(quiet / "store"))
        on_the_way = frozenset(met(FilesystemStore(quiet / "store")))
        if given.k > 1 and on_the_way != EVERYTHING:  # at k = 1 nobody votes
            sys.exit(f"not on the way of the undisturbed run: {', '.join(sorted(EVERYTHING - on_the_way))}")
        began = time.monotonic()
        program.run(arguments(root, quiet, given))
        starting = time.monotonic() - began  # nothing was left to do
        latest = starting + (whole - starting) / 4
        forget(orders)
        while count.kills < given.kills:
            # The last sweep is seen to its end.
            code = program.run(arguments(root, runs, given), kill_after=chance.uniform(0.01, latest))
            count.starts += 1
            count.kills += code == KILLED
            if code == KILLED and count.kills < given.kills:
                continue
            if code == KILLED:
                code = program.run(arguments(root, runs, given))
                count.starts += 1
            if code != undisturbed:
                sys.exit(f"a run ended with {code}:\n{(root / 'output.txt').read_text()[-3000:]}")
            compare(count, runs, expected, orders)
            count.missed |= on_the_way.difference(met(FilesystemStore(runs / "store")))
            forget(orders)
            shutil.rmtree(runs)
            shutil.rmtree(tries(runs))
    return count


def compare(count: Count, runs: Path, expected: object, orders: Path) -> None:
    """Takes stock of a sweep that came to its end."""
    store = FilesystemStore(runs / "store")
    found = comparable(store)
    assert isinstance(expected, dict)
    count.sweeps += 1
    count.records_different += sum(found.get(key) != expected.get(key) for key in {*found, *expected})
    count.paid_again += len(paid_again(orders))
    count.met += met(store)
    begun = {key.partition("/")[0] for what, kind, key in steps(orders) if what == "put" and kind == "attempt"}
    count.requests += len(begun)
    for digest in begun:
        for attempt in attempts_of(store, digest):
            count.cut_short += attempt.in_flight
            if attempt.ended is not None and attempt.ended.cause:
                count.causes[attempt.ended.cause] += 1


def arguments(root: Path, runs: Path, given: argparse.Namespace) -> list[str]:
    settings = {
        "run.bench": "tasks",
        "run.substrate": "adding",
        "run.engine": "hurried",
        "run.store": "watched",
        "run.sandbox": "none",
        "run.selector": "blind",
        "run.reflector": "lesson",
        "run.k": str(given.k),
        "run.modes": given.modes,
        "run.runs": str(runs),
        "roles.improver.provider": "mishaps",
        "adapters.tasks.path": str(root / "bench"),
        "adapters.tasks.name": "kills",
    }
    return ["run", *(part for key, value in settings.items() for part in ("-o", f"{key}={value}"))]


def make_bench(root: Path, orders: Path) -> None:
    """The folder of tasks, and the distribution with the plugins."""
    orders.mkdir(parents=True)
    files = {"bench/base/scripts/solve.py": PROGRAM}
    for task in TASKS:
        files[f"bench/{task}/instruction.md"] = f"Add up inputs/numbers.txt into output/sum.txt ({task}).\n"
        files[f"bench/{task}/inputs/numbers.txt"] = "3\n4\n# a note\n"
        files[f"bench/{task}/task.toml"] = 'expects = ["sum.txt"]\n'
    info = "site/kill_plugins-1.0.dist-info"
    files[f"{info}/METADATA"] = "Metadata-Version: 2.1\nName: kill-plugins\nVersion: 1.0\n"
    entries = ("proposer.mishaps", "substrate.adding.ad", "engine.hurried", "store.watched")
    files[f"{info}/entry_points.txt"] = "[harness2.v1]\n" + "".join(f"{name} = kill_plugins\n" for name in entries)
    files["site/kill_plugins.py"] = PLUGINS.replace("@ORDERS@", repr(str(orders)))
    for path, text in files.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(text, encoding="utf-8")


def told(count: Count, given: argparse.Namespace, seconds: float) -> int:
    rows = {
        "kills": count.kills,
        "starts of the program": count.starts,
        "sweeps that came to their end": count.sweeps,
        "requests": count.requests,
        "attempts cut short by a kill": count.cut_short,
        **{f"attempts lost: {cause}": number for cause, number in sorted(count.causes.items())},
        **{f"met: {what}": number for what, number in sorted(count.met.items())},
        "requests begun again after they had finished": count.paid_again,
        "records different from an undisturbed run": count.records_different,
    }
    for name, value in rows.items():
        print(f"{name:<48}{value:>8}")
    print(
        json.dumps(
            {
                "kills": count.kills,
                "starts": count.starts,
                "sweeps": count.sweeps,
                "requests": count.requests,
                "cut_short": count.cut_short,
                "lost": dict(sorted(count.causes.items())),
                "met": dict(sorted(count.met.items())),
                "missed": sorted(count.missed),
                "paid_again": count.paid_again,
                "records_different": count.records_different,
                "modes": given.modes,
                "k": given.k,
                "seconds": round(seconds),
            }
        )
    )
    if count.missed:
        print(f"not on the way of each sweep: {', '.join(sorted(count.missed))}")
    return 1 if count.paid_again or count.records_different or count.missed else 0


if __name__ == "__main__":
    sys.exit(main())
