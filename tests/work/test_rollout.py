from __future__ import annotations

import json
from pathlib import Path

import pytest

from harness2_core.api import Collected, Exit, Lost, Outcome, RolloutRequest, Surface, Trajectory, Usage, request_digest
from harness2_core.model.serial import load
from harness2_core.work.attempts import attempts_of, begin, lost_attempts, spent_on_lost

pytestmark = pytest.mark.process

SUM = """\
from pathlib import Path
Path("output").mkdir(exist_ok=True)
total = sum(map(int, Path("numbers.txt").read_text().split()))
Path("output/sum.txt").write_text(f"{total}\\n")
print("summed")
"""


def test_a_rollout_becomes_a_record_and_its_directory_goes(toys) -> None:
    record = toys.rolled(SUM)
    assert record.outcome is Outcome.FINISHED
    assert record.delivered
    assert toys.store.text(record.deliverables.entries["sum.txt"]) == "3\n"
    assert record.views.entries["sum.txt.txt"] == record.deliverables.entries["sum.txt"]
    assert "summed" in toys.store.text(record.transcript)
    assert load(toys.store.blobs[record.trajectory.digest], Trajectory).events[0].text == "summed\n"
    assert toys.store.text(record.stream) == "summed\n"
    assert list((toys.runs / "work").iterdir()) == []


def test_every_blob_that_a_record_names_is_in_the_store(toys) -> None:
    record = toys.rolled("")
    entries = [record.transcript, record.trajectory, record.stream, record.stderr]
    for entry in (*entries, *record.deliverables.entries.values(), *record.views.entries.values()):
        assert len(toys.store.blobs[entry.digest]) == entry.size


def test_a_record_says_how_the_agent_ended(toys) -> None:
    assert toys.rolled("raise SystemExit(3)").outcome is Outcome.CRASHED
    late = toys.rolled("import time\nprint('begun', flush=True)\ntime.sleep(60)", limit_seconds=1)
    assert late.outcome is Outcome.TIMED_OUT
    assert "begun" in toys.store.text(late.transcript)


def test_a_task_s_own_time_limit_wins_over_the_channel_s(toys) -> None:
    toys.bench.limit_seconds = 1
    assert toys.rolled("import time\ntime.sleep(60)", limit_seconds=50).outcome is Outcome.TIMED_OUT


def test_nothing_of_the_parent_s_environment_and_home_reaches_an_agent(toys, tmp_path, monkeypatch) -> None:
    home = tmp_path / "operator"
    (home / ".claude" / "skills").mkdir(parents=True)
    (home / "CLAUDE.md").write_text("canary-memory")
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setenv("CANARY_SECRET", "canary-secret-value")
    monkeypatch.setenv("PYTHONPATH", "/canary/path")
    monkeypatch.setenv("XDG_CONFIG_HOME", str(home / ".config"))
    program = (
        "import os\nfrom pathlib import Path\nprint(dict(os.environ))\n"
        "print(sorted(str(p) for p in Path.home().rglob('*')))\nprint('uid-free', Path.cwd())\n"
    )
    printed = toys.store.text(toys.rolled(program).stream)
    assert "canary" not in printed
    assert "operator" not in printed
    assert "'HOME': '/home/agent'" in printed
    assert "'TZ': 'UTC'" in printed


def test_no_key_that_was_lent_and_printed_is_stored(toys) -> None:
    from harness2_core.work.access import PlainAccess

    toys.access = PlainAccess({"TOY_API_KEY": "canary-key-1234"})
    program = (
        "import os\nfrom pathlib import Path\nprint(os.environ['TOY_KEY'])\n"
        "Path('output/note.txt').write_text('I was given ' + os.environ['TOY_KEY'])\n"
    )
    record = toys.rolled(program, options={"key_variable": "TOY_API_KEY"})
    assert toys.store.text(record.stream) == "[key withheld]\n"
    assert not [data for data in (*toys.store.blobs.values(), *toys.store.records.values()) if b"canary-key" in data]


def test_a_missing_key_loses_the_rollout_by_the_name_of_the_variable(toys) -> None:
    (ended,) = toys.perform(toys.rollout_request("", options={"key_variable": "TOY_API_KEY"}))
    assert not ended.final
    assert "TOY_API_KEY" in ended.note


def test_links_devices_and_sockets_in_output_are_listed_and_never_followed(toys, tmp_path) -> None:
    secret = tmp_path / "host-secret.txt"
    secret.write_text("canary-of-the-host")
    program = f"""\
import os, socket
from pathlib import Path
os.chdir("output")
os.symlink({str(secret)!r}, "report.txt")
os.symlink({str(tmp_path)!r}, "folder")
os.mkfifo("pipe")
s = socket.socket(socket.AF_UNIX); s.bind("sock")
Path("real.txt").write_text("real")
"""
    record = toys.rolled(program)
    assert list(record.deliverables.entries) == ["real.txt"]
    for name, kind in (("report.txt", "link"), ("folder", "link"), ("pipe", "pipe"), ("sock", "socket")):
        assert f"{name!r} is a " in record.note
        assert kind in record.note
    assert not any(b"canary-of-the-host" in data for data in toys.store.blobs.values())


def test_an_output_directory_that_is_a_link_is_not_followed(toys, tmp_path) -> None:
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "elsewhere" / "canary.txt").write_text("canary")
    record = toys.rolled(f"import os\nos.rmdir('output')\nos.symlink({str(tmp_path / 'elsewhere')!r}, 'output')")
    assert not record.deliverables.entries
    assert "'output' is a symbolic link" in record.note


def test_names_that_are_no_utf8_are_listed_and_their_neighbours_kept(toys) -> None:
    record = toys.rolled("open(b'output/caf\\xe9', 'w').write('x')\nopen('output/thé.txt', 'w').write('y')")
    assert list(record.deliverables.entries) == ["thé.txt"]
    assert "not UTF-8" in record.note


def test_ten_thousand_files_are_kept(toys) -> None:
    record = toys.rolled("for n in range(10_000):\n    open(f'output/{n:05}.txt', 'w').write(str(n))")
    assert len(record.deliverables.entries) == 10_000
    assert toys.store.text(record.views.entries["09999.txt.txt"]) == "9999"


def test_two_hundred_megabytes_of_output_are_bounded_and_marked(toys) -> None:
    program = "import sys\nline = b'x' * 1023 + b'\\n'\nfor _ in range(200 * 1024):\n    sys.stdout.buffer.write(line)"
    record = toys.rolled(program)
    assert record.outcome is Outcome.FINISHED
    assert record.stream.size < 64 << 20
    assert record.transcript.size < 1 << 20
    assert "longer than what is kept" in record.note


def test_a_binary_deliverable_is_seen_as_one_line(toys) -> None:
    record = toys.rolled("open('output/chart.png', 'wb').write(b'\\x89PNG\\r\\n\\x1a\\n' + bytes(100))")
    line = toys.store.text(record.views.entries["chart.png.txt"])
    assert "'chart.png' is a PNG image, 108 bytes" in line
    assert record.deliverables.entries["chart.png"].digest in line


def test_delivered_means_a_file_that_the_task_asked_for_with_something_in_it(toys) -> None:
    toys.bench.expects = ("sum.txt",)
    assert toys.rolled(SUM).delivered
    assert not toys.rolled("open('output/other.txt', 'w').write('x')").delivered
    assert not toys.rolled("open('output/sum.txt', 'w')").delivered


def test_a_harness_file_never_replaces_an_input_of_the_task(toys) -> None:
    request = toys.rollout_request({"scripts/solve.py": "print(1)", "numbers.txt": "9\n"})
    (ended,) = toys.perform(request)
    assert (ended.final, ended.cause) == (False, "worker")
    assert "'numbers.txt' would replace 'numbers.txt'" in ended.note
    assert toys.store.get("rollout", ended.request) is None


def test_names_that_differ_in_case_only_collide_too(toys) -> None:
    (ended,) = toys.perform(toys.rollout_request({"scripts/solve.py": "print(1)", "Numbers.txt": "9\n"}))
    assert "'Numbers.txt' and 'numbers.txt' are one name" in ended.note


def test_leftovers_of_a_killed_attempt_are_gone_before_the_next_begins(toys) -> None:
    request = toys.rollout_request("import os\nprint(sorted(os.listdir()), sorted(os.listdir('output')))")
    left = toys.runs / "work" / request_digest(request)
    (left / "output" / "locked").mkdir(parents=True)
    (left / "output" / "stale.txt").write_text("stale")
    (left / "output" / "locked").chmod(0o000)
    (left / "link").symlink_to("/etc")
    assert toys.store.text(toys.done(request).stream) == "['numbers.txt', 'output', 'scripts'] []\n"
    assert Path("/etc").is_dir()


def test_an_attempt_cut_short_by_a_kill_is_in_flight_and_counts_for_no_policy(toys) -> None:
    request = toys.rollout_request(SUM)
    begin(toys.store, request_digest(request))
    toys.done(request)
    first, second = attempts_of(toys.store, request_digest(request))
    assert first.in_flight
    assert second.ended is not None
    assert second.ended.outcome is Outcome.FINISHED
    assert second.ended.usage is None, "the record holds the price"
    assert lost_attempts(toys.store, request_digest(request)) == 0


def test_a_request_with_a_record_is_done_and_not_run_again(toys) -> None:
    request = toys.rollout_request(SUM)
    before = toys.done(request)
    (ended,) = toys.perform(request)
    assert ended.final
    assert toys.record(request) == before
    assert len(attempts_of(toys.store, request_digest(request))) == 1


def test_records_do_not_depend_on_where_they_were_made(toys_at, tmp_path) -> None:
    program = (
        "import os, json, tempfile\nfrom pathlib import Path\n"
        "print(os.getcwd(), Path.home(), tempfile.gettempdir(), os.environ['HOME'])\n"
        "Path('output/where.txt').write_text(f'I worked in {Path.cwd()}/output')\n"
        "Path('output/where.json').write_text(json.dumps({'at': str(Path.cwd() / 'é')}))\n"
        "os.write(2, str(Path.cwd()).encode() + b' \\xff\\n')\n"
    )
    kept = []
    for name in ("a", "a much longer place é"):
        (tmp_path / name).mkdir()
        toys = toys_at(tmp_path / name)
        request = toys.rollout_request(program)
        assert toys.perform(request)[0].final
        data = json.loads(toys.store.get("rollout", request_digest(request)))
        kept.append(_without(data, ("finished_at", "elapsed_ms", "host")))
        assert not [blob for blob in toys.store.blobs.values() if str(tmp_path).encode() in blob]
    assert kept[0] == kept[1]
    assert toys.store.text(toys.record(request).stream) == "/workspace /home/agent /tmp /home/agent\n"


def _without(value, names):
    if isinstance(value, dict):
        return {key: _without(item, names) for key, item in value.items() if key not in names}
    return value


def test_a_loss_that_the_substrate_tells_is_no_result_and_keeps_its_price(toys, agent_class) -> None:
    class Losing(agent_class):
        def parse(self, stdout, stderr, exit: Exit) -> Trajectory:
            return Trajectory((), Usage("0.25", source="stream"))

        def loss(self, trajectory: Trajectory, exit: Exit) -> Lost | None:
            return Lost("rate-limit", "429", wait_seconds=17)

    toys.agent = Losing()
    request = toys.rollout_request("print('too many requests')")
    (ended,) = toys.perform(request)
    assert (ended.final, ended.cause, ended.wait_seconds) == (False, "rate-limit", 17)
    assert toys.store.get("rollout", ended.request) is None
    assert spent_on_lost(toys.store, ended.request).usd == "0.25"
    assert lost_attempts(toys.store, ended.request) == 1


def test_a_parser_that_breaks_does_not_lose_a_paid_rollout(toys, agent_class) -> None:
    class Broken(agent_class):
        def parse(self, stdout, stderr, exit: Exit) -> Trajectory:
            raise KeyError("part")

    toys.agent = Broken()
    record = toys.rolled(SUM)
    assert record.delivered
    assert "the parser of toy raised KeyError" in toys.store.text(record.transcript)
    assert toys.store.text(record.stream) == "summed\n"


def test_a_renderer_that_breaks_leaves_core_s_text_view(toys, bench_class) -> None:
    class Renders(bench_class):
        def views(self, deliverables, ctx):
            raise RuntimeError("no office here")

    toys.bench = Renders(toys.bench.root)
    record = toys.rolled(SUM)
    assert toys.store.text(record.views.entries["sum.txt.txt"]) == "3\n"
    assert "RuntimeError: no office here" in record.note


def test_an_adapter_s_views_override_core_s_file_by_file(toys, bench_class) -> None:
    class Renders(bench_class):
        def views(self, deliverables, ctx):
            page = ctx.scratch / "page.txt"
            page.write_text(f"rendered {sorted(deliverables)} by {deliverables['sum.txt'].read_text()}")
            return {"sum.txt.txt": page, "sum.png": page}

    toys.bench = Renders(toys.bench.root)
    record = toys.rolled(SUM + "\nPath('output/b.txt').write_text('b')")
    assert sorted(record.views.entries) == ["b.txt.txt", "sum.png", "sum.txt.txt"]
    assert toys.store.text(record.views.entries["sum.txt.txt"]) == "rendered ['b.txt', 'sum.txt'] by 3\n"


def test_an_adapter_s_own_finding_is_captured_apart_from_what_is_sealed(toys, bench_class) -> None:
    class Collects(bench_class):
        def collect(self, run: Path, task) -> Collected:
            return Collected(True, {"state.txt": run / "state.txt"}, sealed={"marks.json": run / "marks.json"})

    toys.bench = Collects(toys.bench.root)
    record = toys.rolled("open('state.txt', 'w').write('s')\nopen('marks.json', 'w').write('{}')")
    assert list(record.deliverables.entries) == ["state.txt"]
    assert list(record.sealed.entries) == ["marks.json"]
    assert "marks" not in "".join(record.views.entries)


def test_a_link_that_an_adapter_found_is_not_followed(toys, bench_class, tmp_path) -> None:
    class Collects(bench_class):
        def collect(self, run: Path, task) -> Collected:
            found = {path.name: path for path in (run / "output").rglob("*") if path.is_file()}
            return Collected(True, {**found, "deep": run / "output" / "folder" / "canary.txt"})

    (tmp_path / "canary.txt").write_text("canary-text")
    toys.bench = Collects(toys.bench.root)
    program = f"import os\nos.symlink({str(tmp_path)!r}, 'output/folder')\nos.symlink('/etc/passwd', 'output/p')"
    record = toys.rolled(program)
    assert not record.deliverables.entries
    assert not any(b"canary-text" in blob or b"root:" in blob for blob in toys.store.blobs.values())


def test_an_error_in_plugin_code_is_a_loss_that_names_the_plugin_and_keeps_the_traceback(toys, agent_class) -> None:
    class Broken(agent_class):
        def install(self, *args):
            raise ZeroDivisionError("oh")

    toys.agent = Broken()
    (ended,) = toys.perform(toys.rollout_request(SUM))
    assert (ended.final, ended.cause) == (False, "worker")
    assert "substrate toy" in ended.note
    assert "ZeroDivisionError: oh" in ended.note
    digest = ended.note.rsplit("blob ", 1)[1].rstrip(")")
    assert b"in install" in toys.store.blobs[digest]


def test_a_full_disk_is_a_loss_of_its_own(toys, agent_class) -> None:
    class Full(agent_class):
        def install(self, *args):
            raise OSError(28, "No space left on device")

    toys.agent = Full()
    (ended,) = toys.perform(toys.rollout_request(SUM))
    assert ended.cause == "disk"


def test_a_cancelled_rollout_is_dead_when_its_work_ends_and_leaves_no_record(toys, agent_class) -> None:
    from harness2_core.api.engine import cancelled_here

    request = toys.rollout_request("import time\ntime.sleep(600)", limit_seconds=600)
    cancelled_here.add(request_digest(request))
    try:
        (ended,) = toys.perform(request)
    finally:
        cancelled_here.discard(request_digest(request))
    assert (ended.final, ended.cause) == (False, "cancelled")
    assert toys.store.get("rollout", ended.request) is None
    assert lost_attempts(toys.store, ended.request) == 0


def test_an_agent_behind_a_service_is_captured_like_one_here(toys) -> None:
    keys: list[str] = []

    class Service:
        surface = Surface("toy", always_on=(), cap_chars=0, allowed=())

        def run(self, tree, prompt, channel, workspace: Path, ctx) -> Trajectory:
            keys.append(ctx.key)
            (workspace / "output" / "answer.txt").write_text((workspace / "numbers.txt").read_text())
            return Trajectory((), Usage("1", elapsed_ms=5, source="service"))

    toys.agent = Service()
    request = toys.rollout_request(SUM)
    record = toys.done(request)
    assert record.delivered
    assert record.usage.usd == "1"
    assert keys == [request_digest(request)]


def test_draws_of_a_batch_are_recorded_as_they_end_and_missing_ones_are_lost(toys, bench_class) -> None:
    seen: list[int] = []
    stopped: list[str] = []

    class Owns(bench_class):
        def run(self, requests, tree, agent, ctx):
            for request in requests[:2]:
                page = ctx.scratch / f"{request_digest(request)}.txt"
                page.write_text("delivered")
                yield request_digest(request), Collected(True, {"answer.txt": page}, Trajectory((), Usage("0.1")))
                seen.append(len([key for key, _ in toys.store.scan("rollout")]))

        def stop(self, key):
            stopped.append(key)

    toys.bench = Owns(toys.bench.root, batch=3)
    requests: list[RolloutRequest] = [toys.rollout_request(SUM, f"base{n}") for n in (1, 2, 3)]
    ended = toys.perform(*requests)
    assert [item.final for item in ended] == [True, True, False]
    assert seen == [1, 2]
    assert toys.record(requests[1]).usage.usd == "0.1"
    assert stopped == [*map(request_digest, requests), request_digest(requests[2])]


def test_a_batch_that_breaks_keeps_what_had_ended(toys, bench_class) -> None:
    class Owns(bench_class):
        def run(self, requests, tree, agent, ctx):
            yield request_digest(requests[0]), Collected(False, {})
            raise Lost("sandbox", "no more networks")

        def stop(self, key):
            pass

    toys.bench = Owns(toys.bench.root, batch=2)
    requests = [toys.rollout_request(SUM, f"base{n}") for n in (1, 2)]
    ended = toys.perform(*requests)
    assert [(item.final, item.cause) for item in ended] == [(True, ""), (False, "sandbox")]


def test_a_sandbox_is_shown_constant_paths_and_only_what_is_asked_for(toys, tmp_path) -> None:
    asked = []

    class Sandbox:
        def wrap(self, argv, policy, place):
            asked.append((policy, place))
            return ("/bin/echo", *argv)

        def works(self):
            return ""

    toys.sandbox = Sandbox()
    record = toys.rolled(SUM)
    ((policy, place),) = asked
    assert (place.workspace, place.home, place.temp) == ("/workspace", "/home/agent", "/tmp")
    writable = {path for path, mount in policy.mounts.items() if mount.writable}
    assert writable == {"/workspace", "/home/agent", "/tmp"}
    assert not any(toys.runs.is_relative_to(mount.host) for mount in policy.mounts.values())
    assert policy.network == "none"
    assert record.versions["sandbox"] == "toy"


def test_what_opens_the_runs_directory_is_never_granted_for_reading(toys, agent_class) -> None:
    from attrs import evolve

    class Sandbox:
        def wrap(self, argv, policy, place):
            return argv

        def works(self):
            return ""

    class Greedy(agent_class):
        def install(self, *args):
            return evolve(super().install(*args), reads=(toys.runs.parent,))

    toys.sandbox, toys.agent = Sandbox(), Greedy()
    (ended,) = toys.perform(toys.rollout_request(SUM))
    assert "opens the runs directory" in ended.note


def test_without_a_sandbox_the_record_says_so(toys) -> None:
    assert toys.rolled(SUM).versions["sandbox"] == "none"


def test_a_worker_never_raises_for_a_store_that_fails(toys) -> None:
    from harness2_core.api import StoreError

    request = toys.rollout_request(SUM)

    def full(kind, key, value):
        raise StoreError("the store is full", "make room")

    toys.store.put = full
    (ended,) = toys.perform(request)
    assert (ended.final, ended.cause) == (False, "disk")
