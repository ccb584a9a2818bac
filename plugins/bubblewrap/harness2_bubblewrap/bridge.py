"""The way to the model out of a network namespace: loopback ports inside, each led to a unix socket that was shown.

    python -I -S bridge.py 11811=/run/model/11811 -- PROGRAM ARGUMENT ...

Runs inside the sandbox, with the standard library only. It listens, leaves a process behind that forwards, and becomes
the program: so exit status, signals, standard input and process id are the program's own. The forwarder is an orphan,
adopted by the sandbox's first process, with nothing of the program's command or environment in sight; it ends with the
sandbox, which ends with the program.
"""

from __future__ import annotations

import os
import selectors
import signal
import socket
import sys
import time

SAID = "harness2-bridge: "
_KEPT = ("LD_LIBRARY_PATH",)
"""What an interpreter may need to start."""
_CHUNK = 1 << 16
_MOST_HELD = 1 << 20
"""Bytes on their way to a side that does not read."""
_CONNECT_SECONDS = 10.0
_AGAIN_SECONDS = 0.02
_BACKLOG = 128


def main(arguments: list[str]) -> None:
    """Becomes the program, or the forwarder that an earlier call left behind. Returns only when it could not."""
    at = arguments.index("--")
    bridges, program = arguments[:at], arguments[at + 1 :]
    if not program:
        forward({socket.socket(fileno=int(number)): path for number, path in map(_pair, bridges)})
        return
    try:
        listening = {_listen(int(port)): path for port, path in map(_pair, bridges)}
        _leave_behind(listening)
    except OSError as error:
        print(f"{SAID}the way to the model could not be made: {error}", file=sys.stderr)
        return
    for listener in listening:
        listener.close()
    for number in signal.valid_signals():
        if signal.getsignal(number) is signal.SIG_IGN:  # Python ignores SIGPIPE, and that would be inherited
            signal.signal(number, signal.SIG_DFL)
    try:
        os.execvp(program[0], program)
    except OSError as error:
        print(f"bwrap: execvp {program[0]}: {error.strerror}", file=sys.stderr)  # as without a bridge


def _pair(text: str) -> tuple[str, str]:
    number, _, path = text.partition("=")
    return number, path


def _listen(port: int) -> socket.socket:
    listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    listener.bind(("127.0.0.1", port))
    listener.listen(_BACKLOG)
    return listener


def _leave_behind(listening: dict[socket.socket, str]) -> None:
    """Starts the forwarder as nobody's child: a program that waits for all its children must not wait for it."""
    child = os.fork()
    if child:
        os.waitpid(child, 0)
        return
    try:
        os.setsid()
        if os.fork() == 0:
            nothing = os.open(os.devnull, os.O_RDWR)
            for stream in range(3):
                os.dup2(nothing, stream)
            for listener in listening:
                listener.set_inheritable(True)
            pairs = [f"{listener.fileno()}={path}" for listener, path in listening.items()]
            kept = {name: os.environ[name] for name in _KEPT if name in os.environ}
            os.execve(sys.executable, [sys.executable, "-I", "-S", __file__, *pairs, "--"], kept)
    finally:
        os._exit(0)


def forward(listening: dict[socket.socket, str]) -> None:
    """Forwards for ever."""
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):  # the program has time to end well, and may ask yet
        signal.signal(number, signal.SIG_IGN)
    chooser = selectors.DefaultSelector()
    for listener in listening:
        listener.setblocking(False)
        chooser.register(listener, selectors.EVENT_READ)
    while True:
        for key, events in chooser.select():
            if isinstance(key.data, End):
                key.data.ready(events)
            else:
                _accept(chooser, key.fileobj, listening)


def _accept(chooser: selectors.BaseSelector, listener: object, listening: dict[socket.socket, str]) -> None:
    assert isinstance(listener, socket.socket)
    try:
        client, _ = listener.accept()
    except OSError:  # the client is gone again, or there is no file left to open: connections may end meanwhile
        time.sleep(_AGAIN_SECONDS)
        return
    try:
        server = _connected(listening[listener])
    except OSError:  # nobody is there any more, or no file left: the client sees its connection end
        client.close()
        return
    near, far = End(chooser, client), End(chooser, server)
    near.other, far.other = far, near
    near.watch()
    far.watch()


def _connected(path: str) -> socket.socket:
    server = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    try:
        server.settimeout(_CONNECT_SECONDS)
        server.connect(path)
    except OSError:
        server.close()
        raise
    return server


class End:
    """One of the two ends of a connection: what is read from it goes to the `other`, at the other's pace."""

    other: End

    def __init__(self, chooser: selectors.BaseSelector, end: socket.socket) -> None:
        end.setblocking(False)
        self._chooser = chooser
        self._socket = end
        self._watched = 0
        self._waiting = bytearray()
        """What it is still to be sent."""
        self._is_read = False
        """Whether everything that comes from it has come."""
        self._is_told = False
        """Whether it knows that nothing more will be sent."""

    def ready(self, events: int) -> None:
        try:
            if events & selectors.EVENT_WRITE:
                self._send()
            if events & selectors.EVENT_READ:
                self._read()
        except BlockingIOError:
            pass
        except OSError:
            self.close()
            self.other.close()
            return
        self.watch()
        self.other.watch()

    def watch(self) -> None:
        """For what it waits now; closed, both, when there is nothing left to wait for."""
        if self._socket.fileno() < 0:
            return
        if self._is_read and self.other._is_read and not self._waiting and not self.other._waiting:
            self.close()
            self.other.close()
            return
        wanted = 0 if self._is_read or len(self.other._waiting) > _MOST_HELD else selectors.EVENT_READ
        wanted |= selectors.EVENT_WRITE if self._waiting or (self.other._is_read and not self._is_told) else 0
        if wanted != self._watched:
            if not self._watched:
                self._chooser.register(self._socket, wanted, self)
            elif not wanted:
                self._chooser.unregister(self._socket)
            else:
                self._chooser.modify(self._socket, wanted, self)
            self._watched = wanted

    def close(self) -> None:
        if self._socket.fileno() >= 0:
            if self._watched:
                self._chooser.unregister(self._socket)
            self._socket.close()

    def _read(self) -> None:
        data = self._socket.recv(_CHUNK)
        if data:
            self.other._waiting += data
        else:
            self._is_read = True

    def _send(self) -> None:
        if self._waiting:
            del self._waiting[: self._socket.send(self._waiting)]
        if not self._waiting and self.other._is_read and not self._is_told:
            self._is_told = True
            self._socket.shutdown(socket.SHUT_WR)


if __name__ == "__main__":
    main(sys.argv[1:])
    sys.exit(1)
