"""Connections taken in, so many that the process that the relay runs in never lacks files to open.

Agents are not trusted: one that opens thousands of connections takes files from the worker, which needs them for every
result. When there are too many, the oldest that asks for nothing gives way; connections with requests under way are
bounded for each run, so no run can keep the others out.
"""

from __future__ import annotations

import asyncio
import resource
import socket
from collections.abc import Callable, Coroutine
from typing import Final

from aiohttp import web

_BACKLOG: Final = 512
"""Connections that may wait to be taken in."""
_MOST: Final = 1024
_AGAIN_SECONDS: Final = 0.2


def most_connections() -> int:
    """A quarter of the files that this process may open: each request that is passed on has a second connection."""
    soft, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    return _MOST if soft == resource.RLIM_INFINITY else max(8, min(_MOST, soft // 4))


def accept(
    listening: socket.socket, server: web.Server, is_under_way: Callable[[object], bool]
) -> Coroutine[None, None, None]:
    """Listens at once; what is given back takes in what comes, for ever."""
    listening.setblocking(False)
    listening.listen(_BACKLOG)
    return _accept(listening, server, is_under_way)


async def _accept(listening: socket.socket, server: web.Server, is_under_way: Callable[[object], bool]) -> None:
    """One at a time: a burst would open its files before any could be closed."""
    loop = asyncio.get_running_loop()
    while True:
        try:
            connection, _ = await loop.sock_accept(listening)
        except OSError:  # the client is gone again, or the process has no file left: others may let go of some
            await asyncio.sleep(_AGAIN_SECONDS)
            continue
        try:
            if _has_room(server, is_under_way):
                await loop.connect_accepted_socket(server, connection)
                continue
        except OSError:
            pass
        connection.close()


def _has_room(server: web.Server, is_under_way: Callable[[object], bool]) -> bool:
    """Makes it where it can."""
    transports = [one.transport for one in server.connections]  # oldest first
    open_ = [one for one in transports if one is not None and not one.is_closing()]
    if len(open_) < most_connections():
        return True
    oldest = next((one for one in open_ if not is_under_way(one)), None)
    if oldest is None:
        return False
    oldest.abort()
    return True
