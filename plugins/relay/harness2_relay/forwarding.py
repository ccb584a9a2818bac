"""One request on its way: to the endpoint and back, streamed in both directions, and cut when the other side cuts.

A client never sees a clean end of what did not end: when the endpoint breaks off, so does the relay. What the relay
itself says is JSON in the form of the protocols that agents speak, so that their messages show it.
"""

from __future__ import annotations

import asyncio
import logging
import os
from typing import Final

from aiohttp import ClientError, ClientSession, ClientTimeout, DummyCookieJar, TCPConnector, hdrs, web
from yarl import URL

from .grants import Grants, Upstream
from .headers import downwards, token_in, upwards
from .settings import Settings
from .striking import Striking

MOST_AT_ONCE: Final = 64
"""Requests of one run under way at once: each holds two connections of the worker."""


def session(settings: Settings) -> ClientSession:
    """Without cookies, proxies or keys of the environment. Each request has a connection of its own.

    One that was kept may be closed by the endpoint at the very moment it is used again, and a request that costs money
    is not sent twice to find out.
    """
    return ClientSession(
        connector=TCPConnector(limit=0, force_close=True),
        cookie_jar=DummyCookieJar(),
        auto_decompress=False,
        timeout=ClientTimeout(total=None, connect=None, sock_connect=settings.connect_seconds, sock_read=None),
        skip_auto_headers=(hdrs.USER_AGENT, hdrs.ACCEPT, hdrs.CONTENT_TYPE),
        trust_env=False,
        read_bufsize=1 << 16,
        max_line_size=1 << 16,
        max_field_size=1 << 16,
    )


class Forwarding:
    """A handler of requests."""

    def __init__(self, grants: Grants, client: ClientSession, settings: Settings) -> None:
        self._grants = grants
        self._client = client
        self._proxy = settings.proxy or None
        self._running: dict[str, set[asyncio.Transport]] = {}

    async def __call__(self, request: web.BaseRequest) -> web.StreamResponse:
        token = token_in(request.headers.items())
        upstream = self._grants.find(token)
        if upstream is None:
            return _said(401, "authentication_error", "this relay knows no such key: it may be of a run that has ended")
        target = upstream.target(request.raw_path)
        if target is None:
            return _said(403, "permission_error", f"only what is below {upstream.path or '/'} is passed on")
        if "upgrade" in request.headers.get(hdrs.CONNECTION, "").lower():
            return _said(501, "invalid_request_error", "this relay passes on no websockets")
        if request.version < (1, 1):  # it would take a connection that is cut for the end
            return _said(505, "invalid_request_error", "this relay speaks HTTP/1.1")
        transport = request.transport
        if transport is None:  # the client is gone
            raise asyncio.CancelledError
        running = self._running.setdefault(token, set())
        if len(running) >= MOST_AT_ONCE:
            return _said(429, "rate_limit_error", f"a run may have {MOST_AT_ONCE} requests under way at once")
        running.add(transport)
        try:
            return await self._forward(request, transport, upstream, target)
        finally:
            running.discard(transport)
            if not running and self._running.get(token) is running:
                del self._running[token]

    def is_under_way(self, transport: object) -> bool:
        """Whether a connection has a request that is being passed on. On the loop's thread."""
        return any(transport in running for running in self._running.values())

    def cut(self, token: str) -> None:
        """Ends what is under way with a token that is no longer good. On the loop's thread."""
        for transport in tuple(self._running.get(token, ())):
            transport.abort()

    async def _forward(
        self, request: web.BaseRequest, transport: asyncio.Transport, upstream: Upstream, target: str
    ) -> web.StreamResponse:
        if request.headers.get(hdrs.EXPECT, "").lower() == "100-continue":
            await request.writer.write(b"HTTP/1.1 100 Continue\r\n\r\n")
        try:
            answer = await self._client.request(
                request.method,
                URL(target, encoded=True),
                headers=list(upwards(request.headers.items(), upstream.key)),
                data=request.content if request.can_read_body else None,
                allow_redirects=False,
                proxy=self._proxy,
            )
        except (ClientError, OSError, TimeoutError) as error:
            return _said(502, "api_error", f"the relay could not reach {upstream.origin}: {_reason(error)}")
        async with answer:
            struck = Striking(upstream.key)
            response = web.StreamResponse(status=answer.status, reason=struck.text(answer.reason or ""))
            for name, value in downwards(answer.headers.items()):
                response.headers.add(name, struck.text(value))
            await response.prepare(request)
            try:
                async for data in answer.content.iter_any():
                    if passed := struck.take(data):
                        await response.write(passed)
            except (ClientError, OSError, TimeoutError):
                transport.close()  # what was passed on still arrives; the end that says that this was all does not
                return response
            if rest := struck.rest():
                await response.write(rest)
            return response


def _said(status: int, kind: str, message: str) -> web.Response:
    body = {"type": "error", "error": {"type": kind, "code": "relay", "message": message}}
    response = web.json_response(body, status=status)
    response.force_close()  # a body that nobody read may still come
    return response


def _reason(error: BaseException) -> str:
    """In words that hold no header and no key."""
    inner = getattr(error, "os_error", None) or error
    if isinstance(inner, OSError) and inner.errno and str(inner.strerror).startswith("Connect call failed"):
        return os.strerror(inner.errno)  # asyncio's words for it say the address again and not the reason
    return (
        getattr(inner, "strerror", None)
        or ("no answer in time" if isinstance(inner, TimeoutError) else "")
        or (type(inner).__name__)
    )


SILENT: Final = logging.getLogger("harness2_relay.silent")
"""What aiohttp would say of requests: it may hold what they held, so nobody hears it."""
SILENT.addHandler(logging.NullHandler())
SILENT.propagate = False
SILENT.setLevel(logging.CRITICAL + 1)
