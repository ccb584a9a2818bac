from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path

import pytest
from attrs import evolve

from harness2_core.api import (
    Channel,
    Collected,
    Context,
    Digest,
    Endpoint,
    Exit,
    FrozenMap,
    HarnessTree,
    Install,
    Lost,
    Observation,
    Outcome,
    Place,
    Policy,
    RolloutRequest,
    StoreError,
    Substrate,
    Surface,
    Task,
    Trajectory,
    Usage,
    request_digest,
)
from harness2_core.api.engine import cancelled_here
from harness2_core.model.serial import load
from harness2_core.testing.workroom import SUM, ProgramAgent, SumsBench, WorkRoom
from harness2_core.work.access import PlainAccess
from harness2_core.work.attempts import attempts_of, begin, lost_attempts, spent_on_lost

pytestmark = pytest.mark.process


def test_a_rollout_becomes_a_record_and_its_directory_goes(room: WorkRoom) -> None:
    record = room.rolled(SUM)
    assert record.outcome is Outcome.FINISHED
    assert record.delivered
    assert room.text(record.deliverables.entries["sum.txt"]) == "3\n"
    assert record.views.entries["sum.txt.txt"] == record.deliverables.entries["sum.txt"]
    assert "summed" in room.text(record.transcript)
    assert load(room.text(record.trajectory).encode(), Trajectory).events == (Observation("summed\n"),)
    assert room.text(record.stream) == "summed\n"
    assert list((room.runs / "work").iterdir()) == []


def test_every_blob_that_a_record_names_is_in_the_store(room: WorkRoom) -> None:
    record = room.rolled("")
    entries = [record.transcript, record.trajectory, record.stream, record.stderr]
    for entry in (*entries, *record.deliverables.entries.values(), *record.views.entries.values()):
        assert len(room.text(entry)) == entry.size


def test_a_record_says_how_the_agent_ended(room: WorkRoom) -> None:
    assert room.rolled("raise SystemExit(3)").outcome is Outcome.CRASHED
    late = room.rolled("import time\nprint('begun', flush=True)\ntime.sleep(60)", Channel(limit_seconds=2))
    assert late.outcome is Outcome.TIMED_OUT
    assert "begun" in room.text(late.transcript)


def test_a_task_s_own_time_limit_wins_over_the_channel_s(room: WorkRoom) -> None:
    room.sums.limit_seconds = 1
    program = "import time\ntime.sleep(15)"  # ends by itself within the channel's limit
    assert room.rolled(program, Channel(limit_seconds=600)).outcome is Outcome.TIMED_OUT


def test_nothing_of_the_parent_s_environment_and_home_reaches_an_agent(
    room: WorkRoom, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    home = tmp_path / "operator"
    (home / ".claude" / "skills").mkdir(parents=True)
    (home / "CLAUDE.md").write_text("canary-memory")
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setenv("CANARY_SECRET", "canary-secret-value")
    monkeypatch.setenv("PYTHONPATH", "/canary/path")
    monkeypatch.setenv("XDG_CONFIG_HOME", str(home / ".config"))
    program = (
        "import os\nfrom pathlib import Path\nprint(dict(os.environ))\n"
        "print(sorted(str(p) for p in Path.home().rglob('*')))\nprint(Path.cwd())\n"
    )
    printed = room.text(room.rolled(program).stream)
    assert "canary" not in printed
    assert "operator" not in printed
    assert "'HOME': '/home/agent'" in printed
    assert "'TZ': 'UTC'" in printed


def test_what_one_program_leaves_at_home_no_later_one_finds(room: WorkRoom) -> None:
    program = "from pathlib import Path\nfound = Path.home() / 'memory'\nprint(found.exists())\nfound.write_text('x')"
    for label in ("base1", "base2"):
        record = room.done(room.rollout_request(program, label))
        assert room.text(record.stream) == "False\n"


def test_nor_does_the_next_program_of_the_same_request(room: WorkRoom) -> None:
    program = (
        "import os\nfrom pathlib import Path\n"
        "places = [Path.home(), *(Path(os.environ[n]) for n in ('XDG_CONFIG_HOME', 'XDG_DATA_HOME', 'TMPDIR'))]\n"
        "print([(place / 'memory').exists() for place in places])\n"
        "for place in places:\n    (place / 'memory').write_text('x')\n"
    )
    printed: list[str] = []

    class Twice:
        surface = Surface("toy", always_on=(), cap_chars=0, allowed=())

        def run(self, tree: HarnessTree, prompt: str, channel: Channel, workspace: Path, ctx: Context) -> Trajectory:
            for _ in range(2):
                install = Install({"run.py": program.encode()}, {}, (sys.executable, "run.py"), {})
                printed.append(ctx.spawn(install, workspace, 30).stdout.read_text())
            return Trajectory(())

    room.agent = Twice()
    room.done(room.rollout_request())
    assert printed == ["[False, False, False, False]\n"] * 2


def test_no_key_that_was_lent_and_printed_is_stored(room: WorkRoom) -> None:
    room.access = PlainAccess({"TOY_API_KEY": "canary-key-1234"})
    program = (
        "import os\nfrom pathlib import Path\nprint(os.environ['TOY_KEY'])\n"
        "Path('output/note.txt').write_text('I was given ' + os.environ['TOY_KEY'])\n"
    )
    record = room.rolled(program, Channel(options=FrozenMap({"key_variable": "TOY_API_KEY"})))
    assert room.text(record.stream) == "[key withheld]\n"
    assert b"canary-key" not in room.everything()


def test_a_missing_key_loses_the_rollout_by_the_name_of_the_variable(room: WorkRoom) -> None:
    channel = Channel(options=FrozenMap({"key_variable": "TOY_API_KEY"}))
    (ended,) = room.perform(room.rollout_request(channel=channel))
    assert not ended.final
    assert "TOY_API_KEY" in ended.note


def test_links_devices_and_sockets_in_output_are_listed_and_never_followed(room: WorkRoom, tmp_path: Path) -> None:
    secret = tmp_path / "host-secret.txt"
    secret.write_text("canary-of-the-host")
    record = room.rolled(f"""\
import os, socket
from pathlib import Path
os.chdir("output")
os.symlink({str(secret)!r}, "report.txt")
os.symlink({str(tmp_path)!r}, "folder")
os.mkfifo("pipe")
s = socket.socket(socket.AF_UNIX); s.bind("sock")
Path("real.txt").write_text("real")
""")
    assert list(record.deliverables.entries) == ["real.txt"]
    for name, kind in (("report.txt", "link"), ("folder", "link"), ("pipe", "pipe"), ("sock", "socket")):
        assert f"{name!r} is a " in record.note
        assert any(text.startswith(f"not kept: {name!r} is a ") and kind in text for text in record.missed)
    assert b"canary-of-the-host" not in room.everything()


def test_one_observation_is_cut_where_the_benchmark_says_and_marked(room: WorkRoom) -> None:
    room.sums.spec = evolve(room.sums.spec, observation_chars=10_000)
    record = room.rolled("print('x' * 25_000, end='')")
    transcript = room.text(record.transcript)
    assert "\n[harness2: 15,000 characters left out here by the renderer]\n" in transcript
    assert transcript.count("x") == 10_000


def test_an_output_directory_that_is_a_link_is_not_followed(room: WorkRoom, tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "elsewhere" / "canary.txt").write_text("canary")
    record = room.rolled(f"import os\nos.rmdir('output')\nos.symlink({str(tmp_path / 'elsewhere')!r}, 'output')")
    assert not record.deliverables.entries
    assert "'output' is a symbolic link" in record.note


def test_names_that_are_no_utf8_are_listed_and_their_neighbours_kept(room: WorkRoom) -> None:
    record = room.rolled("open(b'output/caf\\xe9', 'w').write('x')\nopen('output/thé.txt', 'w').write('y')")
    assert list(record.deliverables.entries) == ["thé.txt"]
    assert "not UTF-8" in record.note


def test_a_file_over_the_cap_is_listed_and_not_read(room: WorkRoom) -> None:
    record = room.rolled("open('output/huge.bin', 'wb').truncate(1 << 40)\nopen('output/a.txt', 'w').write('a')")
    assert list(record.deliverables.entries) == ["a.txt"]
    assert "'huge.bin': it has 1,099,511,627,776 bytes" in record.note


def test_ten_thousand_files_are_kept(room: WorkRoom) -> None:
    record = room.rolled("for n in range(10_000):\n    open(f'output/{n:05}.txt', 'w').write(str(n))")
    assert len(record.deliverables.entries) == 10_000
    assert room.text(record.views.entries["09999.txt.txt"]) == "9999"


def test_a_deliverable_of_fifty_megabytes_is_kept_whole(room: WorkRoom) -> None:
    record = room.rolled("open('output/big.txt', 'wb').write((b'x' * 1023 + b'\\n') * 50 * 1024)")
    assert record.deliverables.entries["big.txt"].size == 50 << 20
    assert record.views.entries["big.txt.txt"] == record.deliverables.entries["big.txt"]


def test_a_binary_deliverable_is_seen_as_one_line(room: WorkRoom) -> None:
    record = room.rolled("open('output/chart.png', 'wb').write(b'\\x89PNG\\r\\n\\x1a\\n' + bytes(100))")
    line = room.text(record.views.entries["chart.png.txt"])
    assert "'chart.png' is a PNG image, 108 bytes" in line
    assert record.deliverables.entries["chart.png"].digest in line


def test_delivered_means_a_file_that_the_task_asked_for_with_something_in_it(room: WorkRoom) -> None:
    room.sums.expects = ("sum.txt",)
    assert room.rolled(SUM).delivered
    assert not room.rolled("open('output/other.txt', 'w').write('x')").delivered
    assert not room.rolled("open('output/sum.txt', 'w')").delivered


def test_a_harness_file_never_replaces_an_input_of_the_task(room: WorkRoom) -> None:
    (ended,) = room.perform(room.rollout_request({"scripts/solve.py": "print(1)", "numbers.txt": "9\n"}))
    assert (ended.final, ended.cause) == (False, "worker")
    assert "'numbers.txt' would replace 'numbers.txt'" in ended.note
    assert room.store.get("rollout", ended.request) is None


def test_names_that_differ_in_case_only_collide_too(room: WorkRoom) -> None:
    (ended,) = room.perform(room.rollout_request({"scripts/solve.py": "print(1)", "Numbers.txt": "9\n"}))
    assert "'Numbers.txt' and 'numbers.txt' are one name" in ended.note


def test_leftovers_of_a_killed_attempt_are_gone_before_the_next_begins(room: WorkRoom) -> None:
    request = room.rollout_request("import os\nprint(sorted(os.listdir()), sorted(os.listdir('output')))")
    left = room.runs / "work" / request_digest(request)
    (left / "output" / "locked").mkdir(parents=True)
    (left / "output" / "stale.txt").write_text("stale")
    (left / "output" / "locked").chmod(0o000)
    (left / "link").symlink_to("/etc")
    assert room.text(room.done(request).stream) == "['numbers.txt', 'output', 'scripts'] []\n"
    assert Path("/etc").is_dir()


def test_a_workspace_is_kept_when_that_is_asked_for(room: WorkRoom) -> None:
    room.work = evolve(room.work, keep_workspaces=True)
    request = room.rollout_request(SUM)
    room.done(request)
    assert (room.runs / "work" / request_digest(request) / "output" / "sum.txt").read_text() == "3\n"


def test_an_attempt_cut_short_by_a_kill_is_in_flight_and_counts_for_no_policy(room: WorkRoom) -> None:
    request = room.rollout_request(SUM)
    begin(room.store, request_digest(request))
    room.done(request)
    first, second = attempts_of(room.store, request_digest(request))
    assert first.in_flight
    assert second.ended is not None
    assert second.ended.outcome is Outcome.FINISHED
    assert second.ended.usage is None, "the record holds the price"
    assert lost_attempts(room.store, request_digest(request)) == 0


def test_a_request_with_a_record_is_done_and_not_run_again(room: WorkRoom) -> None:
    request = room.rollout_request(SUM)
    assert room.done(request) == room.done(request)
    assert len(attempts_of(room.store, request_digest(request))) == 1


def test_records_do_not_depend_on_where_they_were_made(tmp_path: Path) -> None:
    program = (
        "import os, json, tempfile\nfrom pathlib import Path\n"
        "print(os.getcwd(), Path.home(), tempfile.gettempdir(), os.environ['HOME'])\n"
        "Path('output/where.txt').write_text(f'I worked in {Path.cwd()}/output')\n"
        "Path('output/where.json').write_text(json.dumps({'at': str(Path.cwd() / 'é')}))\n"
        "os.write(2, str(Path.cwd()).encode() + b' \\xff\\n')\n"
    )
    kept = []
    for name in ("a", "a much longer place é"):
        room = WorkRoom(tmp_path / name)
        request = room.rollout_request(program)
        stream = room.done(request).stream
        data = json.loads(room.store.get("rollout", request_digest(request)) or b"")
        kept.append(_without(data, ("finished_at", "elapsed_ms", "host")))
        assert str(tmp_path).encode() not in room.everything()
        assert room.text(stream) == "/workspace /home/agent /tmp /home/agent\n"
    assert kept[0] == kept[1]


def _without(value: object, names: Sequence[str]) -> object:
    if isinstance(value, dict):
        return {key: _without(item, names) for key, item in value.items() if key not in names}
    return value


def test_a_loss_that_the_substrate_tells_is_no_result_and_keeps_its_price(room: WorkRoom) -> None:
    class Losing(ProgramAgent):
        def parse(self, stdout: Iterable[bytes], stderr: Iterable[bytes], exit: Exit) -> Trajectory:
            return Trajectory((), Usage("0.25", source="stream"))

        def loss(self, trajectory: Trajectory, exit: Exit) -> Lost | None:
            return Lost("rate-limit", "429", wait_seconds=17)

    room.agent = Losing()
    (ended,) = room.perform(room.rollout_request("print('too many requests')"))
    assert (ended.final, ended.cause, ended.wait_seconds) == (False, "rate-limit", 17)
    assert room.store.get("rollout", ended.request) is None
    assert spent_on_lost(room.store, ended.request).usd == "0.25"
    assert lost_attempts(room.store, ended.request) == 1


def test_a_parser_that_breaks_does_not_lose_a_paid_rollout(room: WorkRoom) -> None:
    class Broken(ProgramAgent):
        def parse(self, stdout: Iterable[bytes], stderr: Iterable[bytes], exit: Exit) -> Trajectory:
            raise KeyError("part")

    room.agent = Broken()
    record = room.rolled(SUM)
    assert record.delivered
    assert "the parser of toy raised KeyError" in room.text(record.transcript)
    assert room.text(record.stream) == "summed\n"


def test_a_renderer_that_breaks_leaves_core_s_text_view(room: WorkRoom, tmp_path: Path) -> None:
    class Renders(SumsBench):
        def views(self, deliverables: Mapping[str, Path], ctx: Context) -> Mapping[str, Path]:
            raise RuntimeError("no office here")

    room.bench = Renders(tmp_path / "bench")
    record = room.rolled(SUM)
    assert room.text(record.views.entries["sum.txt.txt"]) == "3\n"
    assert "RuntimeError: no office here" in record.note


def test_files_whose_names_are_alike_are_captured_each_with_a_view_of_its_own(room: WorkRoom) -> None:
    names = ("a/b", "a__b", "a b", "x", "x.txt", "p/same.txt", "q/same.txt", "X.txt")
    record = room.rolled(f"""\
from pathlib import Path
for name in {names!r}:
    path = Path("output", name)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("this is " + name)
""")
    assert {path: room.text(entry) for path, entry in record.deliverables.entries.items()} == {
        name: f"this is {name}" for name in names
    }
    assert sorted(room.text(entry) for entry in record.views.entries.values()) == sorted(f"this is {n}" for n in names)


def test_an_adapter_s_views_override_core_s_file_by_file(room: WorkRoom, tmp_path: Path) -> None:
    class Renders(SumsBench):
        def views(self, deliverables: Mapping[str, Path], ctx: Context) -> Mapping[str, Path]:
            page = ctx.scratch / "page.txt"
            page.write_text(f"rendered {sorted(deliverables)} by {deliverables['sum.txt'].read_text()}")
            return {"sum.txt.txt": page, "sum.png": page}

    room.bench = Renders(tmp_path / "bench")
    record = room.rolled(SUM + "\nPath('output/b.txt').write_text('b')")
    assert sorted(record.views.entries) == ["b.txt.txt", "sum.png", "sum.txt.txt"]
    assert room.text(record.views.entries["sum.txt.txt"]) == "rendered ['b.txt', 'sum.txt'] by 3\n"


def test_an_adapter_s_own_finding_is_captured_apart_from_what_is_sealed(room: WorkRoom, tmp_path: Path) -> None:
    class Collects(SumsBench):
        def collect(self, run: Path, task: Task) -> Collected:
            found, marks = {"state.txt": run / "state.txt"}, {"marks.json": run / "marks.json"}
            return Collected(True, FrozenMap(found), sealed=FrozenMap(marks))

    room.bench = Collects(tmp_path / "bench")
    record = room.rolled("open('state.txt', 'w').write('s')\nopen('marks.json', 'w').write('{}')")
    assert list(record.deliverables.entries) == ["state.txt"]
    assert list(record.sealed.entries) == ["marks.json"]
    assert "marks" not in "".join(record.views.entries)


def test_a_link_that_an_adapter_found_is_not_followed(room: WorkRoom, tmp_path: Path) -> None:
    class Collects(SumsBench):
        def collect(self, run: Path, task: Task) -> Collected:
            found = {path.name: path for path in (run / "output").rglob("*") if path.is_file()}
            return Collected(True, FrozenMap({**found, "deep": run / "output" / "folder" / "canary.txt"}))

    (tmp_path / "canary.txt").write_text("canary-text")
    room.bench = Collects(tmp_path / "bench")
    record = room.rolled(
        f"import os\nos.symlink({str(tmp_path)!r}, 'output/folder')\nos.symlink('/etc/passwd', 'output/p')"
    )
    assert not record.deliverables.entries
    assert not any(b"canary-text" in blob or b"root:" in blob for blob in room.blobs())


def test_a_price_that_is_known_is_kept_when_the_adapter_breaks_after_the_run(room: WorkRoom, tmp_path: Path) -> None:
    class Collects(SumsBench):
        def collect(self, run: Path, task: Task) -> Collected:
            raise ValueError("what is this")

    class Paid(ProgramAgent):
        def parse(self, stdout: Iterable[bytes], stderr: Iterable[bytes], exit: Exit) -> Trajectory:
            return Trajectory((), Usage("0.4", source="stream"))

    room.bench, room.agent = Collects(tmp_path / "bench"), Paid()
    (ended,) = room.perform(room.rollout_request(SUM))
    assert (ended.final, ended.cause) == (False, "worker")
    assert spent_on_lost(room.store, ended.request).usd == "0.4"


def test_an_error_in_plugin_code_is_a_loss_that_names_the_plugin_and_keeps_the_traceback(room: WorkRoom) -> None:
    room.agent = _installing(ZeroDivisionError("oh"))
    (ended,) = room.perform(room.rollout_request(SUM))
    assert (ended.final, ended.cause) == (False, "worker")
    assert "substrate toy" in ended.note
    assert "ZeroDivisionError: oh" in ended.note
    (attempt,) = attempts_of(room.store, ended.request)
    assert attempt.ended is not None
    digest = attempt.ended.note.rsplit("blob ", 1)[1].rstrip(")")
    with room.store.open_blob(digest) as stream:
        assert b"in install" in stream.read()


def test_a_full_disk_is_a_loss_of_its_own(room: WorkRoom) -> None:
    room.agent = _installing(OSError(28, "No space left on device"))
    (ended,) = room.perform(room.rollout_request(SUM))
    assert ended.cause == "disk"


def _installing(error: Exception) -> ProgramAgent:
    class Broken(ProgramAgent):
        def install(
            self, tree: HarnessTree, prompt: str, channel: Channel, place: Place, endpoint: Endpoint
        ) -> Install:
            raise error

    return Broken()


def test_a_cancelled_rollout_is_dead_when_its_work_ends_and_leaves_no_record(room: WorkRoom) -> None:
    request = room.rollout_request("import time\ntime.sleep(600)", channel=Channel(limit_seconds=600))
    mark = (str(room.runs), request_digest(request))
    cancelled_here.add(mark)
    try:
        (ended,) = room.perform(request)
    finally:
        cancelled_here.discard(mark)
    assert (ended.final, ended.cause) == (False, "cancelled")
    assert room.store.get("rollout", ended.request) is None
    assert lost_attempts(room.store, ended.request) == 0


def test_an_agent_behind_a_service_is_captured_like_one_here(room: WorkRoom) -> None:
    keys: list[Digest] = []

    class Service:
        surface = Surface("toy", always_on=(), cap_chars=0, allowed=())

        def run(self, tree: HarnessTree, prompt: str, channel: Channel, workspace: Path, ctx: Context) -> Trajectory:
            keys.append(ctx.key)
            (workspace / "output" / "answer.txt").write_text((workspace / "numbers.txt").read_text())
            return Trajectory((), Usage("1", elapsed_ms=5, source="service"))

    room.agent = Service()
    request = room.rollout_request(SUM)
    record = room.done(request)
    assert record.delivered
    assert record.usage.usd == "1"
    assert keys == [request_digest(request)]


class _Containers(SumsBench):
    """Ends its draws one after the other; `fate` says what becomes of the third."""

    def __init__(self, root: Path, room: WorkRoom, fate: Exception | None = None) -> None:
        super().__init__(root, batch=3)
        self.room = room
        self.fate = fate
        self.recorded: list[int] = []
        self.stopped: list[Digest] = []

    def run(
        self, requests: Sequence[RolloutRequest], tree: HarnessTree, agent: Substrate, ctx: Context
    ) -> Iterator[tuple[Digest, Collected]]:
        for request in requests[:2]:
            page = ctx.scratch / f"{request_digest(request)}.txt"
            page.write_text("delivered")
            found = FrozenMap({"answer.txt": page})
            yield request_digest(request), Collected(True, found, Trajectory((), Usage("0.1", source="stream")))
            self.recorded.append(len(list(self.room.store.scan("rollout"))))
        if self.fate:
            raise self.fate

    def stop(self, key: Digest) -> None:
        self.stopped.append(key)


def test_draws_of_a_batch_are_recorded_as_they_end_and_missing_ones_are_lost(room: WorkRoom, tmp_path: Path) -> None:
    bench = room.bench = _Containers(tmp_path / "bench", room)
    requests = [room.rollout_request(SUM, f"base{n}") for n in (1, 2, 3)]
    ended = room.perform(*requests)
    assert [(item.final, item.cause) for item in ended] == [(True, ""), (True, ""), (False, "worker")]
    assert bench.recorded == [1, 2]
    assert room.done(requests[1]).usage.usd == "0.1"


def test_containers_of_a_draw_are_stopped_before_it_and_when_it_was_lost(room: WorkRoom, tmp_path: Path) -> None:
    bench = room.bench = _Containers(tmp_path / "bench", room)
    requests = [room.rollout_request(SUM, f"base{n}") for n in (1, 2, 3)]
    room.perform(*requests)
    assert bench.stopped == [*map(request_digest, requests), request_digest(requests[2])]


def test_a_batch_that_breaks_keeps_what_had_ended(room: WorkRoom, tmp_path: Path) -> None:
    room.bench = _Containers(tmp_path / "bench", room, Lost("sandbox", "no more networks"))
    ended = room.perform(*(room.rollout_request(SUM, f"base{n}") for n in (1, 2, 3)))
    assert [(item.final, item.cause) for item in ended] == [(True, ""), (True, ""), (False, "sandbox")]


class _Confining:
    """Notes what it is asked, and changes nothing."""

    def __init__(self, failure: str = "") -> None:
        self.asked: list[tuple[Policy, Place]] = []
        self._failure = failure

    def wrap(self, argv: Sequence[str], policy: Policy, place: Place) -> Sequence[str]:
        self.asked.append((policy, place))
        return ("/bin/echo", *argv)

    def works(self) -> str:
        return ""

    def failure(self, exit: Exit) -> str:
        return self._failure


def test_a_sandbox_is_shown_constant_paths_and_only_what_is_asked_for(room: WorkRoom) -> None:
    confining = room.sandbox = _Confining()
    record = room.rolled(SUM)
    ((policy, place),) = confining.asked
    assert (place.workspace, place.home, place.temp) == ("/workspace", "/home/agent", "/tmp")
    assert {path for path, mount in policy.mounts.items() if mount.writable} == {"/workspace", "/home/agent", "/tmp"}
    assert not any(room.runs.is_relative_to(mount.host) for mount in policy.mounts.values())
    assert policy.network == "none"
    assert record.versions["sandbox"] == "toy"


def test_a_sandbox_that_did_not_start_is_a_loss_and_no_result(room: WorkRoom) -> None:
    room.sandbox = _Confining("bwrap: no permissions")
    (ended,) = room.perform(room.rollout_request(SUM))
    assert (ended.final, ended.cause, ended.note) == (False, "sandbox", "bwrap: no permissions")


def test_what_opens_the_runs_directory_is_never_granted_for_reading(room: WorkRoom) -> None:
    class Greedy(ProgramAgent):
        def install(
            self, tree: HarnessTree, prompt: str, channel: Channel, place: Place, endpoint: Endpoint
        ) -> Install:
            return evolve(super().install(tree, prompt, channel, place, endpoint), reads=(room.runs.parent,))

    room.sandbox, room.agent = _Confining(), Greedy()
    (ended,) = room.perform(room.rollout_request(SUM))
    assert "opens the runs directory" in ended.note


def test_an_agent_is_told_whether_a_sandbox_stands_around_it_and_what_network_it_has(room: WorkRoom) -> None:
    places: list[Place] = []

    class Curious(ProgramAgent):
        def install(
            self, tree: HarnessTree, prompt: str, channel: Channel, place: Place, endpoint: Endpoint
        ) -> Install:
            places.append(place)
            return super().install(tree, prompt, channel, place, endpoint)

    room.agent = Curious()
    room.perform(room.rollout_request(SUM))
    room.sandbox = _Confining()
    room.perform(room.rollout_request({"scripts/solve.py": "print()\n"}))
    told = {(place.sandboxed, place.network) for place in places if place.network}
    assert told == {(False, "none"), (True, "none")}


def test_without_a_sandbox_the_record_says_so(room: WorkRoom) -> None:
    assert room.rolled(SUM).versions["sandbox"] == "none"


def test_a_worker_never_raises_for_a_store_that_fails(room: WorkRoom, monkeypatch: pytest.MonkeyPatch) -> None:
    request = room.rollout_request(SUM)

    def full(kind: str, key: str, value: bytes) -> bool:
        raise StoreError("the store is full", "make room")

    monkeypatch.setattr(room.store, "put", full)
    (ended,) = room.perform(request)
    assert (ended.final, ended.cause) == (False, "disk")


def test_a_runs_directory_reached_by_a_link_leaves_no_trace_of_either_path(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "alias").symlink_to(tmp_path / "real")
    room = WorkRoom(tmp_path / "alias")
    record = room.rolled("import os\nprint(os.getcwd(), os.environ['HOME'])")
    assert room.text(record.stream) == "/workspace /home/agent\n"
    assert os.fsencode(tmp_path) not in room.everything()
