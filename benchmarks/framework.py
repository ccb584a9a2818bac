"""What the framework itself takes: time a step, memory, disk, and the resume of a finished sweep.

Work is a no-op: an engine that puts a ready record for every request, with evidence of 20 files and 200 KB a rollout.
Everything else is real: discovery, study, graph, scheduler, evidence, missions, ballots, library, store. What the
engine takes to put its records is not counted. Of the disk, what the rollouts themselves left (transcripts, files,
views: kept once, whatever the method) stands apart from what the framework adds for evidence, sessions, records and
readable copies; that is compared with a copy of every stage's evidence in full, file by file.

    python benchmarks/framework.py [--tasks 1143] [--domains 24] [--k 2] [--store filesystem|sqlite] [--json]
"""

from __future__ import annotations

import argparse
import json
import resource
import tempfile
import time
from collections.abc import Sequence
from concurrent.futures import Future
from itertools import pairwise
from pathlib import Path

from harness2_core.api import Engine, Manifest, Outcome, Reply, Rollout, Store, blob_entry
from harness2_core.api.runtime import Call, Work
from harness2_core.model.assignment import Assignment, Ended
from harness2_core.model.channel import NO_MODEL
from harness2_core.model.events import Happened
from harness2_core.model.manifest import Entry
from harness2_core.model.requests import RolloutRequest, SessionRequest, request_digest
from harness2_core.model.serial import dump
from harness2_core.plugins.config import Config
from harness2_core.plugins.registry import Registry
from harness2_core.sweep.run import run_sweep
from harness2_core.sweep.setup import study_of
from harness2_core.sweep.study import Study

FILES, BYTES = 20, 200_000
LESSON = """<edits>
component: scripts/solve.py
candidates: inv1
change: another way of reading
observed: nothing of note
verdict: confounded
</edits>
<experience>
cue: a file whose lines are of two kinds
lesson: scripts/solve.py tells the kinds apart by their first field before it adds anything up
evidence: edit 1
confidence: low
</experience>"""

CHOICE = "<why>the first is as good as any</why>\n\n```choice\nA\n```"
BLOCK = 4096


class NoOpEngine:
    """Puts ready records. `seconds` sums up what that takes, which is not the framework's."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._done: list[Work] = []
        self.seconds = self.cpu = 0.0
        self._transcript = blob_entry(b"[ASSISTANT]\n" + b"x" * 2_000)
        store.put_blob(b"[ASSISTANT]\n" + b"x" * 2_000)

    def submit(self, call: Call, work: Assignment) -> Work:
        began, cpu = time.perf_counter(), time.thread_time()
        ended = []
        for request in work.requests:
            digest = request_digest(request)
            if isinstance(request, RolloutRequest):
                self._store.put("rollout", digest, dump(self._rollout(digest)))
            else:
                assert isinstance(request, SessionRequest)
                text = {"reflect": LESSON, "select": CHOICE}.get(request.kind, "<notes>nothing</notes>")
                reply = Reply(
                    Outcome.FINISHED, text, accepted=request.editable, kept=True, usage=NO_MODEL, request=digest
                )
                self._store.put("session", digest, dump(reply))
            ended.append(Ended(digest, True))
        future: Work = Future()
        future.set_result(tuple(ended))
        self._done.append(future)
        self.seconds += time.perf_counter() - began
        self.cpu += time.thread_time() - cpu
        return future

    def _rollout(self, digest: str) -> Rollout:
        views: dict[str, Entry] = {}
        for number in range(FILES):
            data = f"{digest} {number} ".encode().ljust(BYTES // FILES, b".")
            views[f"part{number:02}.txt"] = Entry(self._store.put_blob(data), len(data))
        return Rollout(
            digest,
            Outcome.FINISHED,
            delivered=True,
            transcript=self._transcript,
            deliverables=Manifest(views),
            views=Manifest({f"{path}.txt": entry for path, entry in views.items()}),
            usage=NO_MODEL,
        )

    def wait(self, seconds: float | None) -> Sequence[Work]:
        done, self._done = self._done, []
        return done

    def now(self) -> float:
        return time.monotonic()

    def cancel(self, request: str) -> None: ...

    def close(self) -> None: ...


def make_tasks(folder: Path, tasks: int, domains: int) -> None:
    """A folder of small tasks."""
    (folder / "base" / "scripts").mkdir(parents=True)
    (folder / "base" / "scripts" / "solve.py").write_text("print('hello')\n", encoding="utf-8")
    (folder / "bench.toml").write_text('[words]\nwork = "Small files are read."\n', encoding="utf-8")
    for number in range(tasks):
        task = folder / f"domain{number % domains:02}" / f"task{number:04}"
        (task / "inputs").mkdir(parents=True)
        (task / "instruction.md").write_text(f"Read the file, the {number}th of its kind.\n", encoding="utf-8")
        (task / "inputs" / "data.csv").write_text(f"a,b\n{number},2\n", encoding="utf-8")


def config_of(folder: Path, runs: Path, store: str, k: int = 1) -> Config:
    options = {
        "run.bench": "tasks",
        "run.substrate": "python",
        "run.modes": "parallel",
        "run.runs": str(runs),
        "run.store": store,
        "run.k": str(k),
        "run.selector": "blind",
        "run.sandbox": "none",
        "run.slots": "8",
        "run.rollouts": "8",
        "run.sessions": "8",
        "adapters.tasks.path": str(folder),
        "adapters.tasks.name": "bench",
    }
    return Config.load(None, {}, options, cwd=runs.parent)


def memory_mb() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def disk_bytes(folder: Path) -> int:
    return sum(path.stat().st_blocks * 512 for path in folder.rglob("*") if path.is_file())


def measure(tasks: int, domains: int, store: str, k: int) -> dict[str, object]:
    with tempfile.TemporaryDirectory() as scratch:
        folder, runs = Path(scratch) / "tasks", Path(scratch) / "runs"
        make_tasks(folder, tasks, domains)
        config, registry = config_of(folder, runs, store, k), Registry.installed()
        began = time.perf_counter()
        study = study_of(config, registry)
        set_up = time.perf_counter() - began
        engine = NoOpEngine(study.store)
        made: Engine = engine
        finished: list[tuple[float, float]] = []
        """(wall, CPU) seconds of the framework's own when each task ended."""

        def listen(event: Happened) -> None:
            if event.what == "step-ended" and event.kind == "finish":
                finished.append((time.perf_counter() - engine.seconds, time.process_time() - engine.cpu))

        before = memory_mb()
        began, cpu = time.perf_counter(), time.process_time()
        result = run_sweep(config, registry=registry, engine=made, listeners=(listen,))
        took = time.perf_counter() - began - engine.seconds - set_up
        busy = time.process_time() - cpu - engine.cpu
        grown = memory_mb() - before
        steps = result.paid.rollouts + result.paid.sessions
        assert result.exit_code == 0, result
        began_resume = time.perf_counter()
        again = run_sweep(config, registry=registry, engine=made)
        resumed = time.perf_counter() - began_resume
        assert again.paid.nothing
        disk = disk_bytes(runs)
        captured, copies = _left_by_rollouts(study, store), _copied(study)
        return {
            "store": store,
            "tasks": tasks,
            "k": k,
            "steps": steps,
            "ms_per_step": round(took / steps * 1000, 3),
            "cpu_ms_per_step": round(busy / steps * 1000, 3),
            "last_decile_over_first": round(_decile_ratio([wall for wall, _ in finished]), 3),
            "last_decile_over_first_cpu": round(_decile_ratio([cpu for _, cpu in finished]), 3),
            "memory_growth_mb": round(grown, 1),
            "resume_seconds": round(resumed, 2),
            "set_up_seconds": round(set_up, 2),
            "disk_kb_per_task": round(disk / tasks / 1024, 1),
            "left_by_rollouts_kb_per_task": round(captured / tasks / 1024, 1),
            "framework_kb_per_task": round((disk - captured) / tasks / 1024, 1),
            "full_copies_kb_per_task": round(copies / tasks / 1024, 1),
            "framework_over_copies": round((disk - captured) / copies, 3),
        }


def _decile_ratio(own: list[float]) -> float:
    """Framework time between finished tasks: the last tenth against the first."""
    gaps = [later - earlier for earlier, later in pairwise(own)]
    tenth = max(len(gaps) // 10, 1)
    return sum(gaps[-tenth:]) / max(sum(gaps[:tenth]), 1e-9)


def _left_by_rollouts(study: Study, store: str) -> int:
    """Bytes on disk of what the rollouts left: each blob once, as a file of whole blocks or as a row."""
    sizes: dict[str, int] = {}
    for digest, _ in study.store.scan("rollout"):
        rollout = study.archive.rollout(digest)
        entries = (*rollout.deliverables.entries.values(), *rollout.views.entries.values(), rollout.transcript)
        sizes.update({entry.digest: entry.size for entry in entries})
    return sum(sizes.values() if store == "sqlite" else map(_blocks, sizes.values()))


def _copied(study: Study) -> int:
    """Bytes on disk that a copy of every stage's evidence would take, as files of whole blocks."""
    total = 0
    for digest, _ in study.store.scan("session"):
        request = json.loads(study.archive.text(digest))["session"]
        if request["editable"] is not None:
            files = study.archive.flat(study.archive.manifest(request["evidence"]))
            total += sum(_blocks(entry.size) for entry in files.values())
    return total


def _blocks(size: int) -> int:
    return -(-size // BLOCK) * BLOCK


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--tasks", type=int, default=1143)
    parser.add_argument("--domains", type=int, default=24)
    parser.add_argument("--k", type=int, default=2)
    parser.add_argument("--store", action="append", choices=("filesystem", "sqlite"))
    parser.add_argument("--json", action="store_true", help="print only the JSON line")
    given = parser.parse_args()
    rows = [measure(given.tasks, given.domains, store, given.k) for store in given.store or ("filesystem", "sqlite")]
    if not given.json:
        for row in rows:
            print("\n".join(f"{name:<26}{value}" for name, value in row.items()) + "\n")
    print(json.dumps(rows))


if __name__ == "__main__":
    main()
