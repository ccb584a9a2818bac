"""The parent's side of supervision: `run` starts a program under a supervisor of its own and waits for its end.

Whatever happens to this process, the program does not outlive it: see `control.py`. What the supervisor does is in
`supervise.py`.
"""

from __future__ import annotations

import os
import select
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Final

from harness2_core.model.errors import ConfigError, Lost
from harness2_core.model.process import Exit, Resources

from .control import Control
from .supervision.order import CANCEL, Order, Report, decode_report

STREAM_BYTES: Final = 32 << 20
"""Bytes kept of one stream; what is longer loses its middle."""
GRACE_SECONDS: Final = 3.0
"""From the request to end (SIGTERM) to its enforcement."""

_SCRIPT: Final = Path(__file__).with_name("supervise.py")
_TICK_SECONDS: Final = 0.1
_PATIENCE_SECONDS: Final = 90.0
"""After its program's limit and grace, a supervisor that has not reported by then never will."""
_INHERITED: Final = ("LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH", "DYLD_FALLBACK_LIBRARY_PATH")
"""What an interpreter may need to start. The program can read its supervisor's environment: nothing else goes there."""


def run(
    argv: Sequence[str],
    *,
    cwd: Path,
    env: Mapping[str, str],
    stdin: bytes = b"",
    limit_seconds: float,
    out: Path,
    stream_bytes: int = STREAM_BYTES,
    memory_mb: int = 0,
    processes: int = 0,
    disk_mb: int = 0,
    written: Sequence[Path] = (),
    grace_seconds: float = GRACE_SECONDS,
    cancelled: Callable[[], bool] = lambda: False,
) -> Exit:
    """Runs `argv` to its end and returns how it ended; when this returns, nobody that descends from it is alive.

    `env` is the whole environment; `argv[0]` is looked up in its PATH. `stdin` is there to be read, then ends. The
    streams become the files `stdout` and `stderr` in the directory `out`, made when missing. `memory_mb` (MiB,
    all descendants together) and `processes` (threads count) bound the program by what `limits_in_force` says; 0 does
    not. So does `disk_mb`: MiB of all files in the directories `written` together, and of any one file.

    `cancelled` is asked ten times a second. An exception that strikes while waiting, `KeyboardInterrupt` say,
    ends the program first.

    Any thread may call it, any number at once. Raises `ConfigError` when `argv[0]` cannot be run, `Lost` with cause
    `disk` when the streams could not be kept, and with cause `worker` when supervision itself failed.
    """
    if sys.platform == "win32":
        raise ConfigError("programs cannot be supervised on Windows", "run Harness2 under WSL or in a Linux container")
    if not argv:
        raise ConfigError("there is no command to run", "give at least the program's name")
    try:
        out.mkdir(parents=True, exist_ok=True)
        given = _readable(stdin, out)
    except OSError as error:
        raise Lost("disk", f"{out}: {error.strerror}: streams have no place; make room or mend permissions") from error
    with given:
        order = Order(
            argv=list(argv),
            cwd=str(cwd),
            env=dict(env),
            stdin=given.fileno(),
            stdout=str((out / "stdout").absolute()),
            stderr=str((out / "stderr").absolute()),
            stream_bytes=stream_bytes,
            limit_ms=round(limit_seconds * 1000),
            grace_ms=round(grace_seconds * 1000),
            memory_mb=memory_mb,
            processes=processes,
            disk_mb=disk_mb,
            written=[str(path.absolute()) for path in written],
        )
        patience = limit_seconds + grace_seconds + _PATIENCE_SECONDS
        with _supervisor(given.fileno()) as (supervisor, control):
            answer = _converse(supervisor, control, order.encode(), cancelled, time.monotonic() + patience)
    return _exit(_understood(answer, supervisor.returncode), order)


def limits_in_force() -> str:
    """What enforces memory and process limits on this machine: `cgroup`, `rlimits`, `counting` or `none`."""
    if sys.platform == "win32":
        return "none"
    from .supervision.limits import limits_for  # it needs POSIX

    limits = limits_for(64, 64)
    limits.close()
    return limits.kind


def _readable(stdin: bytes, directory: Path) -> IO[bytes]:
    """A file without a name rather than a pipe: nobody has to feed it, and a program may leave it unread."""
    if not stdin:
        return Path(os.devnull).open("rb")
    file = tempfile.TemporaryFile(dir=directory)  # noqa: SIM115 (the caller closes it)
    file.write(stdin)
    file.flush()
    file.seek(0)
    return file


@contextmanager
def _supervisor(stdin: int) -> Iterator[tuple[subprocess.Popen[bytes], Control]]:
    """A supervisor and its control pipe. On leaving it is hung up on and waited for."""
    listen, descriptor = os.pipe()
    control = Control(descriptor)
    try:
        process = subprocess.Popen(
            [sys.executable, "-I", "-S", "-X", "utf8", str(_SCRIPT)],
            stdin=listen,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            pass_fds=(stdin,),
            env={name: os.environ[name] for name in _INHERITED if name in os.environ},
            cwd="/",
            start_new_session=True,  # the terminal's interrupt reaches us, who then end it in order
        )
    except OSError as error:
        control.hang_up()
        raise Lost("worker", f"no supervisor could be started: {error}") from error
    finally:
        os.close(listen)
    assert process.stdout is not None
    with process.stdout:
        try:
            yield process, control
        finally:
            control.hang_up()
            _await(process)


def _converse(
    supervisor: subprocess.Popen[bytes],
    control: Control,
    order: bytes,
    cancelled: Callable[[], bool],
    deadline: float,
) -> bytes:
    """Sends the order, passes on a cancellation, returns what the supervisor wrote until its end."""
    assert supervisor.stdout is not None
    source = supervisor.stdout.fileno()
    poll = select.poll()
    poll.register(source, select.POLLIN)
    poll.register(control.descriptor, select.POLLOUT)
    answer = bytearray()
    waiting = memoryview(order)
    asked = False
    while time.monotonic() < deadline:
        for descriptor, _ in poll.poll(int(_TICK_SECONDS * 1000)):
            if descriptor == source:
                data = os.read(source, 1 << 16)
                if not data:
                    return bytes(answer)
                answer += data
            else:
                waiting = waiting[control.write(waiting) :]
                if not waiting:
                    poll.unregister(descriptor)
        if not waiting and not asked and cancelled():
            asked = True
            control.write(CANCEL)
    raise Lost("worker", f"the supervisor (process {supervisor.pid}) does not answer; its program was given up")


def _await(supervisor: subprocess.Popen[bytes]) -> None:
    """Waits for a supervisor that was hung up on. One that was stopped or is stuck is killed, its program with it."""
    try:
        supervisor.wait(_PATIENCE_SECONDS)
    except subprocess.TimeoutExpired:
        supervisor.kill()
        supervisor.wait()


def _understood(answer: bytes, status: int) -> Report:
    try:
        return decode_report(answer)
    except (ValueError, TypeError) as error:
        last = answer.decode(errors="replace").strip().splitlines()[-1:] or ["it said nothing"]
        raise Lost("worker", f"the supervisor failed with status {status}: {last[0]}") from error


def _exit(report: Report, order: Order) -> Exit:
    if report.failed == "argv":
        remedy = "install it, or mend the command or the PATH it is given"
        if "/" not in order.argv[0]:
            remedy += f" ({order.env.get('PATH', os.defpath)})"
        raise ConfigError(f"{order.argv[0]!r} cannot be run: {report.detail}", remedy)
    if report.failed:
        where = f"its directory {order.cwd}: " if report.failed == "cwd" else ""
        raise Lost("worker", f"{order.argv[0]!r} could not be started: {where}{report.detail}")
    if report.disk:
        raise Lost("disk", f"{report.disk}: a stream could not be kept; make room, then go on")
    if report.survivors:
        pids = ", ".join(map(str, report.survivors))
        raise Lost("worker", f"processes {pids} of {order.argv[0]!r} could not be killed; end them by hand")
    return Exit(
        code=report.code,
        signal=report.signal,
        timed_out=report.timed_out,
        truncated=report.truncated,
        stdout=Path(order.stdout),
        stderr=Path(order.stderr),
        usage=Resources(
            elapsed_ms=report.elapsed_ms,
            user_ms=report.user_ms,
            system_ms=report.system_ms,
            max_rss_kib=report.max_rss_kib,
            left_behind=report.left_behind,
            limits=report.limits,
            exceeded=report.exceeded,
        ),
        cancelled=report.cancelled,
    )
