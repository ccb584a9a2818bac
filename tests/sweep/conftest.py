"""`bench`: a small experiment that `run_sweep` really runs, in a fraction of a second, with the plugins installed here.

Folder tasks, a playbook for the `scripted` improver, the default store, modes, selector and reflector. The harness is
one program, `scripts/solve.py`. By default the agent `pocket` runs it in this process, so that a task of four rollouts
takes some hundredths of a second; `substrate="python"` runs it as a real program (then mark the test `process`).

    def test_a_rule(bench):
        bench.task("sums/one", "3\\n# a note\\n")       # `sums/first` is there already
        bench.plugin("selector", "rubbish", SOURCE)   # a distribution of its own, made for this test
        bench.set(k=2, selector="rubbish")
        result = bench.run()
        assert bench.mode("sums/first").selection.fallback

Waits of the policy table (a rate limit, a broken worker) take no time on the clock of the engine `pocket`.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import textwrap
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

import pytest
from harness2_stores.filesystem import FilesystemStore

from harness2_core.api import Happened
from harness2_core.api.runtime import Engine, Store
from harness2_core.cli.main import run
from harness2_core.model.records import ModeRecord, Reply, Summary
from harness2_core.plugins.config import Config
from harness2_core.sweep.read import Reading, read
from harness2_core.sweep.result import SweepResult
from harness2_core.sweep.run import Again, run_sweep
from harness2_core.sweep.stop import Stop
from harness2_core.testing.comparing import comparable
from harness2_core.testing.warm import Warm

NUMBERS: Final = "3\n4\n# a note\n1 000\n"
"""The base program stumbles over the note and over the blank; the playbook's INV edit mends one, its DOM the other."""

PROGRAM: Final = '''\
"""Adds up inputs/numbers.txt."""
import os
import sys
from pathlib import Path


def solve(inputs, output, say):
    total = 0
    for line in (inputs / "numbers.txt").read_text(encoding="utf-8").splitlines():
        try:
            total += int(line)
        except ValueError:
            say(f"error: cannot read {line!r}")
    output.mkdir(parents=True, exist_ok=True)
    (output / "sum.txt").write_text(f"{total}\\n", encoding="utf-8")
    say("summed")


if __name__ == "__main__":
    def say(text):
        print(text, file=sys.stderr if text.startswith("error") else sys.stdout)

    solve(Path("inputs"), Path(os.environ["HARNESS2_OUTPUT"]), say)
'''

PLAYBOOK: Final = """\
[[remedy]]
name = "skip-notes"
kind = "inv"
symptom = "cannot read '#"
why = "a line with a mark is a note"
file = "scripts/solve.py"
old = "        try:\\n"
new = "        if line.startswith('#'):\\n            continue\\n        try:\\n"
lesson = { cue = "notes between the numbers", lesson = "skip lines that begin with a mark" }

[[remedy]]
name = "blanks-in-numbers"
kind = "dom"
symptom = "cannot read '[0-9]+ "
why = "thousands are set apart by blanks"
file = "scripts/solve.py"
old = "int(line)"
new = "int(line.replace(' ', ''))"
"""

CHECK: Final = """\
import json
import os
from pathlib import Path

found = Path(os.environ["HARNESS2_DELIVERABLES"], "sum.txt")
passed = found.exists() and found.read_text().strip() == {total!r}
print(json.dumps({{"items": [{{"name": "sum", "weight": "1", "passed": passed}}]}}))
"""

POCKET: Final = '''
import time
from concurrent.futures import ThreadPoolExecutor

from harness2_core.api import (
    NO_MODEL, Action, Allowed, Failure, Observation, Provider, Surface, Trajectory, executor_engine, hookimpl
)

PROGRAM = "scripts/solve.py"


class Pocket:
    """Runs the program of the harness in this process."""

    surface = Surface(
        "pocket",
        always_on=(),
        cap_chars=0,
        allowed=(Allowed("program", PROGRAM), Allowed("script", "scripts/<script>.py")),
        required=(PROGRAM,),
    )

    def run(self, tree, prompt, channel, workspace, ctx):
        events = [Action("pocket", PROGRAM)]
        names = {"__name__": "harness"}
        try:
            exec(compile(tree.files[PROGRAM], PROGRAM, "exec"), names)
            say = lambda text: events.append(Observation(text, error=text.startswith("error")))
            names["solve"](workspace / "inputs", workspace / "output", say)
        except Exception as error:
            events.append(Failure(f"{type(error).__name__}: {error}"))
        return Trajectory(tuple(events), NO_MODEL)


class Hurried:
    """Four threads, and a clock on which waiting for a time takes none while nothing runs."""

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


@hookimpl
def harness2_substrates():
    return [Provider("pocket", "the harness is a program, run in this process", "pocket_made:Pocket")]


@hookimpl
def harness2_engines():
    return [Provider("pocket", "four threads that never wait for a clock", "pocket_made:Hurried")]
'''


class Bench:
    """A folder of tasks under `folder`, a runs directory, and the configuration of a run over them.

    `options` are added to every run's; a key without a dot belongs to `[run]`. `events` lists what listeners were
    told, `notices` what the user was.
    """

    def __init__(self, root: Path, distributions: Any, source: Callable[..., str]) -> None:
        self.root = root
        self.folder = root / "bench"
        self.runs = root / "runs"
        self.events: list[Happened] = []
        self.notices: list[str] = []
        self._distributions = distributions
        self._source = source
        self.write("base/scripts/solve.py", PROGRAM)
        self.write("playbook.toml", PLAYBOOK)
        self.task("sums/first")
        distributions.add(
            "pocket-made",
            {"substrate.pocket.po": "pocket_made", "engine.pocket": "pocket_made"},
            {"pocket_made.py": POCKET},
        )
        self.options: dict[str, str] = {
            "run.bench": "tasks",
            "run.substrate": "pocket",
            "run.engine": "pocket",
            "run.sandbox": "none",
            "run.runs": str(self.runs),
            "adapters.tasks.path": str(self.folder),
            "adapters.tasks.name": "small",
            "proposers.scripted.playbooks.sums": str(self.folder / "playbook.toml"),
        }

    # -- what there is

    def write(self, path: str, text: str) -> Path:
        """A file below `folder`."""
        file = self.folder / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")
        return file

    def task(self, id: str, numbers: str = NUMBERS, total: str = "1007") -> None:
        """A task `<domain>/<name>` with inputs, an expected deliverable and a check of it."""
        self.write(f"{id}/instruction.md", f"Add up inputs/numbers.txt into output/sum.txt ({id}).\n")
        self.write(f"{id}/inputs/numbers.txt", numbers)
        self.write(f"{id}/task.toml", 'expects = ["sum.txt"]\n')
        self.write(f"{id}/checks/check_sum.py", CHECK.format(total=total))

    def plugin(self, kind: str, name: str, source: str, *, token: str = "", settings: str = "") -> None:
        """Installs a distribution with one provider: `source` is its module, with the factory `Made` in it."""
        module = f"{name}_{kind}_made"
        entry = f"{kind}.{name}" + (f".{token}" if token else "")
        text = self._source(kind, name, f"{module}:Made", settings, extra=source)
        self._distributions.add(f"{name}-{kind}-made", {entry: module}, {f"{module}.py": text})

    def improver(self, name: str, source: str) -> None:
        """Installs a proposer and binds it to improver, selector and reflector.

        `source` defines `Made(Scripted)`, where `Scripted` is the shipped one with this bench's playbook.
        """
        names = "Lost, NO_MODEL, Outcome, Said, Usage"
        head = (
            f"from harness2_core.api import {names}\nfrom harness2_local.scripted import ScriptedProposer as Scripted\n"
        )
        self.plugin(
            "proposer", name, head + textwrap.dedent(source), settings="harness2_local.settings:ScriptedSettings"
        )
        playbook = str(self.folder / "playbook.toml")
        self.set(**{"roles.improver.provider": name, f"proposers.{name}.playbooks.sums": playbook})

    # -- running

    def set(self, **options: object) -> None:
        """For every later run and reading: `k=2` is `run.k`; dotted ones by `**{"roles.improver.model": "m"}`."""
        self.options |= _keys(options)

    def config(self, **options: object) -> Config:
        """`options` as for `set`, for this once."""
        return Config.load(None, {}, {**self.options, **_keys(options)}, cwd=self.root)

    def run(
        self,
        *,
        again: Again | None = None,
        stop: Stop | None = None,
        engine: Engine | None = None,
        listeners: Sequence[Callable[[Happened], None]] = (),
        **options: object,
    ) -> SweepResult:
        """One invocation, over the same runs directory each time."""
        return run_sweep(
            self.config(**options),
            again=again or Again(),
            stop=stop,
            engine=engine,
            listeners=[self.events.append, *listeners],
            notice=self.notices.append,
        )

    def command(self, name: str, *arguments: str) -> int:
        """The exit code of `harness2 <name> <arguments>` in this process; `capsys` has what it prints."""
        options = [part for key, value in self.options.items() for part in ("-o", f"{key}={value}")]
        return run(["--config", str(self._empty_file()), name, *options, *arguments])

    def _empty_file(self) -> Path:
        file = self.root / "harness2.toml"
        file.touch()
        return file

    # -- what came of it

    def reading(self, **options: object) -> Reading:
        return read(self.config(**options))

    def store(self, **options: object) -> Store:
        return self.reading(**options).study.store

    def summary(self, task: str = "sums/first", **options: object) -> Summary:
        return self.reading(**options).summary(task)

    def mode(self, task: str = "sums/first", mode: str = "agg", **options: object) -> ModeRecord:
        return self.summary(task, **options).modes[mode]

    def replies(self, **options: object) -> list[Reply]:
        """Every session's record, in no order."""
        archive = self.reading(**options).study.archive
        return [archive.reply(digest) for digest, _ in archive.store.scan("session")]

    def requests(self, **options: object) -> list[dict[str, Any]]:
        """Every request that has a record, as it was encoded, under `kind`; in no order."""
        archive = self.reading(**options).study.archive
        found = []
        for kind in ("rollout", "session", "grade"):
            for digest, _ in archive.store.scan(kind):
                (body,) = json.loads(archive.text(digest)).values()
                found.append({"kind_of_request": kind, **body})
        return found


def _keys(options: dict[str, object]) -> dict[str, str]:
    return {key if "." in key else f"run.{key}": str(value) for key, value in options.items()}


@pytest.fixture
def bench(tmp_path: Path, distributions: Any, source: Callable[..., str]) -> Bench:
    return Bench(tmp_path, distributions, source)


CRASHING: Final = """
from pathlib import Path

from harness2_core.api import Provider, hookimpl
from harness2_core.testing.crashing import CrashingStore


def made(runs):
    from harness2_stores.filesystem import FilesystemStore

    return CrashingStore(FilesystemStore(runs / "store"), Path({orders!r}))


@hookimpl
def harness2_stores():
    return [Provider("crashing", "the default store, which ends its process when told", "crashing_made:made")]
"""


class Program:
    """`harness2 run` over a bench in processes of its own, with a store that keeps a diary and crashes on order.

    `orders` belongs to that store: see `harness2_core.testing.crashing`. `output` is what warm runs have printed.
    """

    def __init__(self, bench: Bench, distributions: Any) -> None:
        self.bench = bench
        self.orders = bench.root / "orders"
        self.orders.mkdir()
        self._site = distributions.folder
        distributions.add(
            "crashing-made",
            {"store.crashing": "crashing_made"},
            {"crashing_made.py": CRASHING.format(orders=str(self.orders))},
        )
        bench.options["run.store"] = "crashing"
        self._warm: Warm | None = None

    @property
    def output(self) -> str:
        return (self.bench.root / "output.txt").read_text(encoding="utf-8")

    def arguments(self, *more: str, **options: object) -> list[str]:
        given = {key if "." in key else f"run.{key}": str(value) for key, value in options.items()}
        settings = {**self.bench.options, **given}
        return ["run", *more, *(part for key, value in settings.items() for part in ("-o", f"{key}={value}"))]

    def start(self, *more: str, **options: object) -> subprocess.Popen[str]:
        """A real start, as from a shell, in a process group of its own."""
        return subprocess.Popen(
            [
                sys.executable,
                "-c",
                "from harness2_core.cli.main import main; main()",
                *self.arguments(*more, **options),
            ],
            env={**os.environ, "PYTHONPATH": os.pathsep.join([str(self._site), os.environ.get("PYTHONPATH", "")])},
            cwd=self.bench.root,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )

    def run(self, *more: str, **options: object) -> tuple[int, str, str]:
        """A real start, to its end: exit code, output, errors."""
        process = self.start(*more, **options)
        out, err = process.communicate(timeout=120)
        return process.returncode, out, err

    def warm(self, *more: str, kill_after: float = 0.0, **options: object) -> int:
        """The exit code of a start from a fork, which takes no half second; negative when a signal ended it."""
        if self._warm is None:
            self._warm = Warm(self.bench.root / "output.txt", self._site)
        return self._warm.run(self.arguments(*more, **options), kill_after=kill_after)

    def records(self, runs: Path | None = None) -> Mapping[tuple[str, str], bytes]:
        """What must be equal of two runs that ended alike."""
        return comparable(self.store(runs))

    def attempts(self, runs: Path | None = None) -> int:
        """How many were begun, whatever became of them."""
        return sum(key.endswith("/started") for key, _ in self.store(runs).scan("attempt"))

    def store(self, runs: Path | None = None) -> Store:
        """Of a runs directory, without a diary."""
        return FilesystemStore((runs or self.bench.runs) / "store")

    def close(self) -> None:
        if self._warm is not None:
            self._warm.__exit__(None, None, None)


@pytest.fixture
def program(bench: Bench, distributions: Any) -> Iterator[Program]:
    made = Program(bench, distributions)
    yield made
    made.close()


class Processes:
    """Which processes there are, by number and time of their start, so that a number used again is nobody else."""

    def below(self, pid: int) -> set[tuple[int, str]]:
        """All descendants of a process, as long as nobody between has ended."""
        parents: dict[int, list[int]] = {}
        for entry in Path("/proc").iterdir():
            if entry.name.isdigit() and (fields := self._fields(int(entry.name))):
                parents.setdefault(int(fields[1]), []).append(int(entry.name))
        found, waiting = set(), list(parents.get(pid, ()))
        while waiting:
            one = waiting.pop()
            waiting += parents.get(one, ())
            fields = self._fields(one)
            if fields:
                found.add((one, fields[19]))
        return found

    def alive(self, processes: Iterable[tuple[int, str]], seconds: float = 10.0) -> set[tuple[int, str]]:
        """Those of them that are still there after so many seconds; zombies are not."""
        until = time.monotonic() + seconds
        while True:
            left = {(pid, began) for pid, began in processes if self._is(pid, began)}
            if not left or time.monotonic() > until:
                return left
            time.sleep(0.05)

    def _is(self, pid: int, began: str) -> bool:
        fields = self._fields(pid)
        return bool(fields) and fields[19] == began and fields[0] != "Z"

    def _fields(self, pid: int) -> list[str]:
        """Of `/proc/<pid>/stat`, from the state on."""
        try:
            return Path(f"/proc/{pid}/stat").read_text(encoding="utf-8", errors="replace").rpartition(")")[2].split()
        except OSError:
            return []


@pytest.fixture
def processes() -> Processes:
    return Processes()
