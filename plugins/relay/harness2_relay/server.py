"""The relay's server: one thread of this process with an event loop, listening on a unix socket and on loopback.

One for all requests of the process: what a token opens tells them apart, and a sweep of many agents costs one thread.
It runs while somebody holds it, and leaves nothing behind. A process that was forked starts one of its own.
"""

from __future__ import annotations

import asyncio
import os
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Final

from aiohttp import web

from harness2_core.api import Lost

from . import private_socket
from .accepting import accept
from .forwarding import SILENT, Forwarding, session
from .grants import Grants
from .settings import Settings

_PATIENCE_SECONDS: Final = 30


class Server:
    """Not running yet."""

    def __init__(self, grants: Grants, settings: Settings) -> None:
        self._grants = grants
        self._settings = settings
        self._lock = threading.Lock()
        self._holders = 0
        self._port = 0
        self._running: _Running | None = None
        os.register_at_fork(after_in_child=self._forget)

    @contextmanager
    def running(self) -> Iterator[tuple[str, Path]]:
        """Its loopback address and its socket, while the context lasts. `Lost` when it cannot start."""
        with self._lock:
            if self._running is None:
                self._running = _Running(self._grants, self._settings, self._port)
                self._port = self._running.port  # the next one takes it again, if it is free
            running = self._running
            self._holders += 1
        try:
            yield f"http://127.0.0.1:{running.port}", running.path
        finally:
            with self._lock:
                if self._running is running:  # else we are a forked child that leaves what its parent entered
                    self._holders -= 1
                    if not self._holders:
                        self._running = None
                        running.stop()

    def cut(self, token: str) -> None:
        """Ends what is under way with `token`."""
        running = self._running
        if running is not None:
            running.cut(token)

    def _forget(self) -> None:
        """In a forked child, which has no such thread: it lets go of what the parent listens on."""
        running, self._running, self._holders = self._running, None, 0
        self._lock = threading.Lock()
        if running is not None:
            running.let_go()


class _Running:
    def __init__(self, grants: Grants, settings: Settings, port: int) -> None:
        self._grants = grants
        self._settings = settings
        self._private = private_socket.listen(settings.socket_dir)
        self.path = self._private.path
        try:
            self._tcp = _loopback(port)
        except Lost:
            self._private.remove()
            raise
        self.port: int = self._tcp.getsockname()[1]
        self._loop = asyncio.new_event_loop()
        self._started = threading.Event()
        self._ending = asyncio.Event()
        self._forwarding: Forwarding | None = None
        self._problem: BaseException | None = None
        self._thread = threading.Thread(target=self._run, name="model-relay", daemon=True)
        self._thread.start()
        self._started.wait(_PATIENCE_SECONDS)
        if self._forwarding is None:
            self.stop()
            raise Lost("worker", f"the relay could not start: {self._problem or 'it does not answer'}")

    def cut(self, token: str) -> None:
        forwarding = self._forwarding
        if forwarding is not None:
            with suppress(RuntimeError):
                self._loop.call_soon_threadsafe(forwarding.cut, token)

    def stop(self) -> None:
        with suppress(RuntimeError):  # it has ended by itself
            self._loop.call_soon_threadsafe(self._ending.set)
        self._thread.join(_PATIENCE_SECONDS)
        self._tcp.close()
        self._private.remove()

    def let_go(self) -> None:
        self._tcp.close()
        self._private.let_go()

    def _run(self) -> None:
        try:
            with asyncio.Runner(loop_factory=lambda: self._loop) as runner:
                runner.run(self._serve())
        except BaseException as error:
            self._problem = error
        finally:
            self._started.set()

    async def _serve(self) -> None:
        async with session(self._settings) as client:
            forwarding = Forwarding(self._grants, client, self._settings)
            server = web.Server(
                forwarding,
                handler_cancellation=True,
                access_log=None,
                logger=SILENT,
                auto_decompress=False,
                lingering_time=1.0,
                max_line_size=1 << 16,
                max_field_size=1 << 16,
            )
            accepting = [
                asyncio.create_task(accept(listening, server, forwarding.is_under_way))
                for listening in (self._tcp, self._private.listening)
            ]
            try:
                self._forwarding = forwarding
                self._started.set()
                await self._ending.wait()
            finally:
                for task in accepting:
                    task.cancel()
                await asyncio.gather(*accepting, return_exceptions=True)
                server.pre_shutdown()
                await server.shutdown(0.0)


def _loopback(port: int) -> socket.socket:
    """Listens on 127.0.0.1 only; on `port` if it is free."""
    for wanted in dict.fromkeys((port, 0)):
        listening = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            listening.bind(("127.0.0.1", wanted))
        except OSError as error:
            listening.close()
            if not wanted:
                raise Lost("worker", f"the relay found no port on loopback: {error.strerror}") from error
        else:
            return listening
    raise AssertionError
