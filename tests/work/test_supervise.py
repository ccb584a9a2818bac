"""What the supervisor promises of programs, tried with real ones."""

from __future__ import annotations

import os
import signal
import stat
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from harness2_core.model.errors import ConfigError, Lost
from harness2_core.model.process import Exit
from harness2_core.work import process

pytestmark = [
    pytest.mark.process,
    pytest.mark.skipif(sys.platform == "win32", reason="programs are not supervised on Windows"),
]
linux = pytest.mark.skipif(sys.platform != "linux", reason="needs a child subreaper and /proc")

PYTHON = (sys.executable, "-I", "-S", "-c")
Run = Callable[..., Exit]


@pytest.fixture
def run(tmp_path: Path) -> Run:
    """`process.run` with a short limit and everything below `tmp_path`."""

    def run(*argv: str, **options: Any) -> Exit:
        given: dict[str, Any] = {
            "cwd": tmp_path,
            "env": {"PATH": "/usr/bin:/bin"},
            "limit_seconds": 60,
            "out": tmp_path / "out",
        }
        return process.run(argv, **(given | options))

    return run


@pytest.fixture
def pids(tmp_path: Path) -> Callable[[], list[int]]:
    """Process ids that programs wrote into files `*.pid` below `tmp_path`."""

    def pids() -> list[int]:
        return [int(path.read_text()) for path in tmp_path.glob("*.pid") if path.read_text().strip()]

    return pids


def alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


def open_descriptors() -> set[str]:
    return {path.name for path in Path("/proc/self/fd").iterdir()}


def wait_until(condition: Callable[[], object], seconds: float = 30) -> bool:
    deadline = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > deadline:
            return False
        time.sleep(0.02)
    return True


@pytest.fixture
def bystander() -> Iterator[subprocess.Popen[bytes]]:
    """A process of ours that no supervisor has to do with."""
    with subprocess.Popen(["sleep", "120"]) as sleeper:
        yield sleeper
        sleeper.kill()


# --- how it ended -------------------------------------------------------------------------------------------------


def test_exit_codes_and_streams_come_back(run: Run) -> None:
    ended = run("/bin/sh", "-c", "echo out; echo err >&2; exit 3")

    assert (ended.code, ended.signal, ended.timed_out, ended.truncated) == (3, None, False, False)
    assert (ended.stdout.read_bytes(), ended.stderr.read_bytes()) == (b"out\n", b"err\n")


def test_a_signal_that_ended_the_program_is_told_apart_from_an_exit_code(run: Run) -> None:
    ended = run("/bin/sh", "-c", "kill -SEGV $$")

    assert (ended.code, ended.signal) == (None, signal.SIGSEGV)


def test_exit_0_with_nothing_is_two_empty_files(run: Run) -> None:
    ended = run("/bin/sh", "-c", ":")

    assert (ended.code, ended.stdout.read_bytes(), ended.stderr.read_bytes()) == (0, b"", b"")


def test_resources_are_reported_in_milliseconds_and_kib(run: Run) -> None:
    ended = run(*PYTHON, "b = bytearray(100 << 20); b[::4096] = b'x' * len(b[::4096]); import time; time.sleep(0.3)")

    assert 300 <= ended.usage.elapsed_ms < 30_000
    assert 100 << 10 <= ended.usage.max_rss_kib < 1 << 20
    assert ended.usage.user_ms + ended.usage.system_ms > 0


@linux
def test_time_of_orphans_counts_too(run: Run) -> None:
    burn = "import time\nwhile time.process_time() < 0.35: pass\nopen('done', 'w').write('yes')"

    ended = run("/bin/sh", "-c", '(setsid "$@" &); while ! [ -s done ]; do sleep 0.05; done', "sh", *PYTHON, burn)

    assert ended.usage.user_ms + ended.usage.system_ms >= 300


# --- streams ------------------------------------------------------------------------------------------------------


def test_bytes_of_any_kind_are_kept_as_they_are(run: Run) -> None:
    ended = run(*PYTHON, "import os; os.write(1, bytes(range(256)) + b'\\xff' * 1000 + b'\\xc3')")

    assert ended.stdout.read_bytes() == bytes(range(256)) + b"\xff" * 1000 + b"\xc3"


def test_half_a_line_then_silence_is_kept_when_time_is_up(run: Run) -> None:
    ended = run("/bin/sh", "-c", "printf 'half a li'; exec sleep 300", limit_seconds=1)

    assert ended.timed_out
    assert ended.stdout.read_bytes() == b"half a li"


def test_what_is_printed_is_on_disk_while_the_program_runs(run: Run, tmp_path: Path) -> None:
    seen = tmp_path / "out" / "stdout"
    found: list[bool] = []

    def cancelled() -> bool:
        found.append(seen.exists() and seen.read_bytes() == b"early")
        return found[-1]

    assert run("/bin/sh", "-c", "printf early; exec sleep 300", cancelled=cancelled).cancelled
    assert found[-1]


@linux
def test_the_last_words_of_a_program_that_does_not_wait_for_its_reader_are_kept(run: Run) -> None:
    last = "import os; os.set_blocking(1, False); os.write(1, b'x' * 900_000)"  # as much as there is room for, at once
    exit = run(*PYTHON, last)
    assert exit.stdout.stat().st_size == 900_000


def test_200_mb_of_output_keep_head_and_tail_in_bounded_memory(run: Run) -> None:
    cap = 1 << 20
    flood = "import os\nos.write(1, b'HEAD')\nblock = b'x' * (1 << 20)\n" + (
        "for _ in range(200):\n    view = memoryview(block)\n"
        "    while view: view = view[os.write(1, view):]\nos.write(1, b'TAIL')"
    )
    peak = SupervisorMemory()

    ended = run(*PYTHON, flood, stream_bytes=cap, cancelled=peak)

    kept = ended.stdout.read_bytes()
    left_out = (200 << 20) + 8 - cap
    assert ended.code == 0
    assert ended.truncated
    assert kept.startswith(b"HEADxxx")
    assert kept.endswith(b"xxxTAIL")
    assert b"\n[harness2: %d bytes left out here]\n" % left_out in kept
    assert len(kept) < cap + 100
    assert sys.platform != "linux" or 0 < peak.kib < 60 << 10


class SupervisorMemory:
    """Asked ten times a second whether to cancel: never, but it remembers the supervisors' largest peak."""

    kib = 0

    def __call__(self) -> bool:
        for path in Path("/proc").glob("[0-9]*"):
            try:
                if b"supervise.py" in (path / "cmdline").read_bytes() and f"PPid:\t{os.getpid()}\n" in (
                    status := (path / "status").read_text()
                ):
                    self.kib = max(self.kib, int(status.split("VmHWM:")[1].split()[0]))
            except (OSError, IndexError):
                continue
        return False


@pytest.mark.parametrize("size", [0, 1, 7, 8, 9, 30])
def test_a_stream_up_to_its_cap_is_whole_and_beyond_it_is_marked(run: Run, size: int) -> None:
    text = bytes(range(65, 65 + size))

    ended = run(*PYTHON, f"import os; os.write(1, {text!r})", stream_bytes=8)

    marked = text[:6] + b"\n[harness2: %d bytes left out here]\n" % (size - 8) + text[-2:]
    assert ended.stdout.read_bytes() == (text if size <= 8 else marked)
    assert ended.truncated == (size > 8)


def test_a_full_disk_is_a_loss_that_names_it(run: Run, tmp_path: Path) -> None:
    if os.geteuid() != 0 or not Path("/dev/full").exists():
        pytest.skip("only root can put a full device in the place of a stream")
    (tmp_path / "out").mkdir()
    os.mknod(tmp_path / "out" / "stdout", 0o600 | stat.S_IFCHR, Path("/dev/full").stat().st_rdev)

    begun = time.monotonic()

    with pytest.raises(Lost, match="No space left") as caught:
        run("/bin/sh", "-c", "echo something; exec sleep 300", limit_seconds=300)

    assert caught.value.cause == "disk"
    assert time.monotonic() - begun < 60


# --- input, environment, descriptors -----------------------------------------------------------------------------


def test_input_is_there_and_then_ends(run: Run) -> None:
    given = b"\xff\x00 line\n" * 100_000

    assert run("/bin/cat", stdin=given).stdout.read_bytes() == given


def test_input_that_nobody_reads_does_no_harm(run: Run) -> None:
    assert run("/bin/sh", "-c", "exit 0", stdin=b"x" * (5 << 20)).code == 0


def test_no_input_is_the_end_at_once(run: Run) -> None:
    assert run("/bin/cat").stdout.read_bytes() == b""


def test_the_environment_is_exactly_what_was_given(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CANARY_SECRET", "canary-7c1")

    ended = run(*PYTHON, "import os; print(sorted(os.environb.items()))", env={"A": "1", "B": "ü\udcff"})

    given = [item for item in eval(ended.stdout.read_text()) if item[0] != b"LC_CTYPE"]  # set by the interpreter
    assert given == [(b"A", b"1"), (b"B", "ü".encode() + b"\xff")]


@linux
def test_the_supervisor_itself_knows_no_secret(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CANARY_SECRET", "canary-7c1")

    ended = run("/bin/sh", "-c", "cat /proc/$PPID/environ /proc/$PPID/cmdline")

    assert b"supervise.py" in ended.stdout.read_bytes()
    assert b"canary-7c1" not in ended.stdout.read_bytes()


@linux
def test_the_program_inherits_three_descriptors_and_no_more(run: Run) -> None:
    read, write = os.pipe()
    os.set_inheritable(write, True)
    try:
        ended = run(*PYTHON, "import os; print(sorted(os.listdir('/proc/self/fd'), key=int))", stdin=b"x")
    finally:
        os.close(read)
        os.close(write)

    assert ended.stdout.read_text() == "['0', '1', '2', '3']\n"  # the last one is the listing itself


def test_signals_that_python_ignores_are_not_ignored_by_the_program(run: Run) -> None:
    ended = run("/bin/sh", "-c", "kill -PIPE $$; echo still here")

    assert ended.signal == signal.SIGPIPE


def test_arguments_may_hold_spaces_unicode_and_undecodable_bytes(run: Run) -> None:
    ended = run(*PYTHON, "import os, sys; print([os.fsencode(a) for a in sys.argv[1:]])", "a b", "ü\n", "\udcff", "")

    assert eval(ended.stdout.read_text()) == [b"a b", "ü\n".encode(), b"\xff", b""]


# --- what cannot begin -------------------------------------------------------------------------------------------


def test_a_missing_program_is_a_matter_of_configuration(run: Run) -> None:
    with pytest.raises(ConfigError, match=r"'no-such-program'.*No such file"):
        run("no-such-program")


def test_a_program_is_looked_up_in_the_path_it_is_given_and_not_in_ours(run: Run, tmp_path: Path) -> None:
    tool = tmp_path / "tool"
    tool.write_text("#!/bin/sh\necho found\n")
    tool.chmod(0o755)

    assert run("tool", env={"PATH": f"/nowhere:{tmp_path}"}).stdout.read_bytes() == b"found\n"
    with pytest.raises(ConfigError):
        run("sh", env={"PATH": str(tmp_path)})


def test_a_file_that_is_not_executable_is_a_matter_of_configuration(run: Run, tmp_path: Path) -> None:
    (tmp_path / "data").write_text("no program")

    with pytest.raises(ConfigError, match="Permission denied"):
        run("./data")


def test_a_missing_directory_is_a_loss_that_names_it(run: Run, tmp_path: Path) -> None:
    with pytest.raises(Lost, match="nowhere") as caught:
        run("/bin/true", cwd=tmp_path / "nowhere")

    assert caught.value.cause == "worker"


def test_a_program_that_exits_with_127_did_begin(run: Run) -> None:
    assert run("/bin/sh", "-c", "exit 127").code == 127


# --- ending -------------------------------------------------------------------------------------------------------


def test_a_program_has_time_to_end_well_when_its_time_is_up(run: Run) -> None:
    ended = run("/bin/sh", "-c", "trap 'echo bye; exit 7' TERM; sleep 300 & wait", limit_seconds=1)

    assert (ended.timed_out, ended.code, ended.stdout.read_bytes()) == (True, 7, b"bye\n")


def test_a_program_that_ignores_sigterm_is_killed_after_the_grace(run: Run) -> None:
    begun = time.monotonic()

    ended = run(
        *PYTHON,
        "import signal, time\nfor n in (1, 2, 15): signal.signal(n, signal.SIG_IGN)\nwhile True: time.sleep(1)",
        limit_seconds=1,
        grace_seconds=0.5,
    )

    assert (ended.timed_out, ended.signal) == (True, signal.SIGKILL)
    assert time.monotonic() - begun < 30


def test_a_program_that_closes_its_streams_and_lives_on_is_waited_for(run: Run, tmp_path: Path) -> None:
    ended = run("/bin/sh", "-c", f"exec >&- 2>&-; sleep 0.5; : > {tmp_path}/done; exit 5")

    assert ended.code == 5
    assert (tmp_path / "done").exists()


def test_the_limit_holds_for_a_program_without_streams(run: Run) -> None:
    assert run("/bin/sh", "-c", "exec >&- 2>&-; exec sleep 300", limit_seconds=1).timed_out


def test_cancelling_ends_it(run: Run) -> None:
    begun = time.monotonic()

    ended = run("/bin/sh", "-c", "exec sleep 300", cancelled=lambda: time.monotonic() > begun + 0.3)

    assert (ended.cancelled, ended.timed_out, ended.signal) == (True, False, signal.SIGTERM)
    assert time.monotonic() - begun < 30


# --- nobody is left behind ---------------------------------------------------------------------------------------


@linux
def test_a_grandchild_in_a_new_session_does_not_survive_the_time_limit(run: Run, pids: Callable[[], list[int]]) -> None:
    ended = run("/bin/sh", "-c", "setsid sh -c 'echo $$ > a.pid; exec sleep 300' & exec sleep 300", limit_seconds=1)

    assert ended.timed_out
    assert len(pids()) == 1
    assert not any(map(alive, pids()))


DAEMON = """
import os, signal, time
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        open("a.pid", "w").write(str(os.getpid()))
        {more}
        while True: time.sleep(1)
    os._exit(0)
while not os.path.exists("a.pid") or not open("a.pid").read(): time.sleep(0.01)
"""


@linux
def test_a_daemon_that_outlives_the_program_is_killed_and_counted(run: Run, pids: Callable[[], list[int]]) -> None:
    ended = run(*PYTHON, DAEMON.format(more="for n in range(3): os.close(n)"))

    assert (ended.code, ended.usage.left_behind) == (0, 1)
    assert len(pids()) == 1
    assert not any(map(alive, pids()))


@linux
def test_a_daemon_that_keeps_stdout_open_does_not_keep_the_run_waiting(run: Run, pids: Callable[[], list[int]]) -> None:
    begun = time.monotonic()

    ended = run(*PYTHON, DAEMON.format(more="print('from the daemon', flush=True)"))

    assert (ended.code, ended.timed_out, ended.usage.left_behind) == (0, False, 1)
    assert time.monotonic() - begun < 30
    assert not any(map(alive, pids()))


def test_the_end_of_a_pipeline_has_a_moment_to_finish(run: Run) -> None:
    ended = run("/bin/sh", "-c", "(sleep 0.02; echo last words) & exit 0")

    assert (ended.stdout.read_bytes(), ended.usage.left_behind) == (b"last words\n", 0)


BOMB = """
import os, time
end = time.monotonic() + 20
open(f"{os.getpid()}.pid", "w").write(str(os.getpid()))
while time.monotonic() < end:
    try:
        if len(os.listdir(".")) < 300 and os.fork() == 0:
            os.setsid()
            open(f"{os.getpid()}.pid", "w").write(str(os.getpid()))
    except OSError:
        pass
    time.sleep(0.001)
"""
"""A fork bomb that stops itself: at 300 members, and after 20 seconds."""


@linux
def test_nothing_is_left_of_a_fork_bomb(run: Run, pids: Callable[[], list[int]]) -> None:
    ended = run(*PYTHON, BOMB, limit_seconds=2, grace_seconds=0.2)

    assert ended.timed_out
    assert len(pids()) > 20
    assert not any(map(alive, pids()))


@linux
def test_a_bomb_that_replaces_its_dead_is_ended(run: Run, pids: Callable[[], list[int]]) -> None:
    reviving = """
import os, signal, time
signal.signal(signal.SIGTERM, signal.SIG_IGN)
end = time.monotonic() + 30
def watch(other):
    while time.monotonic() < end:
        try: os.kill(other, 0)
        except ProcessLookupError: other = spawn()
        try: os.waitpid(-1, os.WNOHANG)
        except ChildProcessError: pass
def spawn():
    me = os.getpid()
    child = os.fork()
    if child == 0:
        os.setsid()
        open(f"{os.getpid()}.pid", "w").write(str(os.getpid()))
        watch(me)
        os._exit(0)
    return child
watch(spawn())
"""
    ended = run(*PYTHON, reviving, limit_seconds=1, grace_seconds=0.2)

    assert ended.timed_out
    assert not any(map(alive, pids()))


RECORDING = """
import sys
sys.path.append({work!r})
import supervision.family as family
kill = family.os.kill
def record(pid, number):
    with open({log!r}, "a") as file: print(number.name, pid, file=file)
    kill(pid, number)
family.os.kill = record
from supervision.serve import serve
sys.exit(serve(0, 1))
"""


@linux
def test_everybody_is_stopped_before_anybody_is_killed(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    script, log = tmp_path / "recording.py", tmp_path / "log"
    script.write_text(RECORDING.format(work=str(Path(process.__file__).parent), log=str(log)))
    monkeypatch.setattr(process, "_SCRIPT", script)

    run(
        "/bin/sh",
        "-c",
        "trap '' TERM; for n in 1 2 3; do setsid sleep 300 & done; exec sleep 300",
        limit_seconds=1,
        grace_seconds=0,
    )

    sent = [tuple(line.split()) for line in log.read_text().splitlines()]
    first = next(place for place, (name, _) in enumerate(sent) if name == "SIGKILL")
    stopped = {pid for name, pid in sent[:first] if name == "SIGSTOP"}
    assert stopped
    assert {pid for name, pid in sent if name == "SIGKILL"} == stopped


@linux
def test_a_program_that_never_stays_in_one_process_is_caught(run: Run, tmp_path: Path) -> None:
    """It forks and exits all the time, and so it is never where it was seen."""
    hop = "hop() { [ $1 -lt 99999 ] || exit; hop $(($1 + 1)) & echo $! > last; exit 0; }; hop 0"
    begun = time.monotonic()

    run("/bin/sh", "-c", f"(setsid sh -c '{hop}' &); sleep 0.5")

    assert time.monotonic() - begun < 25
    hops = (tmp_path / "last").read_text()
    time.sleep(0.2)
    assert (tmp_path / "last").read_text() == hops


BLIND = """
import sys
sys.path.append({work!r})
from supervision.family import Family
Family.alive = lambda self: []
from supervision.serve import serve
sys.exit(serve(0, 1))
"""


@linux
def test_what_a_search_of_proc_never_finds_is_ended_all_the_same(
    run: Run, tmp_path: Path, pids: Callable[[], list[int]], monkeypatch: pytest.MonkeyPatch
) -> None:
    script = tmp_path / "blind.py"
    script.write_text(BLIND.format(work=str(Path(process.__file__).parent)))
    monkeypatch.setattr(process, "_SCRIPT", script)
    begun = time.monotonic()

    ended = run(*PYTHON, DAEMON.format(more=""))

    assert (ended.code, ended.usage.left_behind) == (0, 1)
    assert time.monotonic() - begun < 25
    assert not any(map(alive, pids()))


DRAIN = """
import os, sys
sys.path.append({work!r})
from supervision.streams import Capture
read, write = os.pipe()
capture = Capture(read, "kept", 100)
os.write(write, b"all there was")
capture.drain()
capture.finish()
"""


def test_a_writer_that_cannot_be_ended_does_not_hold_up_the_end(tmp_path: Path) -> None:
    code = DRAIN.format(work=str(Path(process.__file__).parent))

    subprocess.run([sys.executable, "-c", code], cwd=tmp_path, check=True, timeout=60)

    assert (tmp_path / "kept").read_bytes() == b"all there was"


@linux
def test_nobody_else_is_touched(run: Run, bystander: subprocess.Popen[bytes]) -> None:
    run("/bin/sh", "-c", "setsid sleep 300 & exec sleep 300", limit_seconds=1)

    assert bystander.poll() is None


PARENT = """
import sys
from pathlib import Path
from harness2_core.work import process
here = Path(sys.argv[1])
process.run(
    ["/bin/sh", "-c", "setsid sh -c 'echo $$ > b.pid; exec sleep 300' & echo $$ > a.pid; exec sleep 300"],
    cwd=here, env={"PATH": "/usr/bin:/bin"}, limit_seconds=300, out=here / "out", grace_seconds=0.5,
)
"""


@linux
@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM])
def test_nothing_outlives_a_parent_that_is_killed(
    tmp_path: Path, pids: Callable[[], list[int]], number: signal.Signals
) -> None:
    with subprocess.Popen([sys.executable, "-c", PARENT, str(tmp_path)]) as parent:
        assert wait_until(lambda: len(pids()) == 2)
        parent.send_signal(number)
        parent.wait()

    assert wait_until(lambda: not any(map(alive, pids())))


@linux
def test_an_interrupt_ends_the_program_before_it_goes_on(tmp_path: Path, pids: Callable[[], list[int]]) -> None:
    caught = PARENT.replace("process.run(", "try:\n  process.run(") + (
        "except KeyboardInterrupt:\n  import os\n  pids = [int(p.read_text()) for p in here.glob('*.pid')]\n"
        "  (here / 'left').write_text(repr([p for p in pids if os.path.exists(f'/proc/{p}')]))\n"
    )
    with subprocess.Popen([sys.executable, "-c", caught, str(tmp_path)]) as parent:
        assert wait_until(lambda: len(pids()) == 2)
        parent.send_signal(signal.SIGINT)
        parent.wait()

    assert (tmp_path / "left").read_text() == "[]"


@linux
def test_a_supervisor_that_is_killed_takes_its_program_along_and_is_a_loss(
    run: Run, pids: Callable[[], list[int]]
) -> None:
    with pytest.raises(Lost, match="status -9") as caught:
        run("/bin/sh", "-c", "echo $$ > a.pid; kill -KILL $PPID; exec sleep 300")

    assert caught.value.cause == "worker"
    assert len(pids()) == 1
    assert wait_until(lambda: not any(map(alive, pids())))


@linux
def test_a_stopped_supervisor_is_given_up(
    run: Run, pids: Callable[[], list[int]], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(process, "_PATIENCE_SECONDS", 0.5)

    with pytest.raises(Lost, match="does not answer"):
        run("/bin/sh", "-c", "echo $$ > a.pid; kill -STOP $PPID; exec sleep 300", limit_seconds=1, grace_seconds=0.1)

    assert wait_until(lambda: not any(map(alive, pids())))


# --- many at once -------------------------------------------------------------------------------------------------


def test_eight_at_once_do_not_meet(run: Run, tmp_path: Path) -> None:
    def one(number: int) -> Exit:
        return run("/bin/sh", "-c", f"cat; exit {number}", stdin=b"%d" % number, out=tmp_path / f"out{number}")

    with ThreadPoolExecutor(8) as pool:
        ended = list(pool.map(one, range(24)))

    assert [exit.code for exit in ended] == list(range(24))
    assert [exit.stdout.read_bytes() for exit in ended] == [b"%d" % number for number in range(24)]


@linux
def test_runs_leave_no_descriptor_and_no_zombie_in_the_parent(run: Run) -> None:
    run("/bin/true")
    before, others = open_descriptors(), _children()

    for _ in range(5):
        run("/bin/true", stdin=b"x")
        with pytest.raises(ConfigError):
            run("no-such-program")

    assert open_descriptors() == before
    assert _children() <= others


def _children() -> set[str]:
    """Those of this thread; other tests of this process may have some of their own."""
    listed = Path(f"/proc/self/task/{threading.get_native_id()}/children")
    return set(listed.read_text().split()) if listed.exists() else set()


@linux
def test_no_sibling_holds_the_control_pipe_of_another(tmp_path: Path, pids: Callable[[], list[int]]) -> None:
    """Two runs at once and a fork without exec, then SIGKILL: if one of them held the pipe, its end would not come."""
    both = (
        "import os, threading, time\n"
        + PARENT.replace("process.run(", "def go(n):\n  process.run(", 1)
        .replace("a.pid", "a{n}.pid")
        .replace("b.pid", "b{n}.pid")
        .replace('"setsid', 'f"setsid')
        .replace('/ "out"', '/ f"out{n}"')
        + "for n in range(2): threading.Thread(target=go, args=(n,)).start()\n"
        "while len([p for p in here.glob('*.pid') if p.read_text()]) < 4: time.sleep(0.02)\n"
        "if os.fork() == 0:\n  (here / 'fork').write_text(str(os.getpid()))\n  time.sleep(60)\n  os._exit(0)\n"
        "time.sleep(60)\n"
    )
    fork = tmp_path / "fork"
    with subprocess.Popen([sys.executable, "-c", both, str(tmp_path)]) as parent:
        assert wait_until(lambda: fork.exists() and fork.read_text())
        parent.kill()
        parent.wait()

    try:
        assert wait_until(lambda: not any(map(alive, pids())), 20)
        assert alive(int(fork.read_text()))
    finally:
        os.kill(int(fork.read_text()), signal.SIGKILL)


def test_a_run_starts_fast(run: Run) -> None:
    begun = time.monotonic()
    for _ in range(5):
        run("/bin/true")

    assert (time.monotonic() - begun) / 5 < 0.5  # about 40 ms each, and ten-fold slack


def test_a_supervisor_that_says_no_report_is_a_loss_with_its_words(
    run: Run, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    broken = tmp_path / "python"
    broken.write_text("#!/bin/sh\necho a library is missing >&2\nexit 9\n")
    broken.chmod(0o755)
    monkeypatch.setattr(sys, "executable", str(broken))

    with pytest.raises(Lost, match="status 9: a library is missing"):
        run("/bin/true")


@linux
def test_the_supervisor_needs_the_standard_library_only() -> None:
    script = Path(process.__file__).with_name("supervise.py")
    code = f"import sys, runpy; sys.argv = ['x']; runpy.run_path({str(script)!r}); print(*sorted(sys.modules))"

    loaded = subprocess.run([sys.executable, "-I", "-S", "-c", code], capture_output=True, text=True, check=True)

    foreign = {name.partition(".")[0] for name in loaded.stdout.split()} - {*sys.stdlib_module_names, "__main__"}
    assert foreign == {"supervision"}
