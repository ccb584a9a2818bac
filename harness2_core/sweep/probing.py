"""One token asked of a model before anything is paid: is it there, does the key open it, is the model offered?

The answer is one sentence for people, empty when all is well. What only time mends (a rate limit) is no problem. The
probe is a plain request in the protocol that the agent itself speaks; nothing of the task is in it.
"""

from __future__ import annotations

import http.client
import json
import urllib.error
import urllib.request
from collections.abc import Mapping
from typing import Final
from urllib.parse import urlsplit

from attrs import frozen

from harness2_core.api.substrates import Wire
from harness2_core.model.nearest import near
from harness2_core.model.process import Endpoint

AGENT: Final = "harness2-probe"
"""The user agent that probes give."""
SECONDS: Final = 60.0
_TOKENS: Final = 16
"""The least that every protocol takes."""
_LONGEST: Final = 300
_PATHS: Final[Mapping[Wire, str]] = {
    "chat": "/chat/completions",
    "responses": "/responses",
    "messages": "/v1/messages",
}
"""Below the url as that vendor's own library wants it."""
_LISTED: Final = 8
_SUFFERED: Final = (429, 529)
"""Asked too often, or overloaded: the key and the model are fine."""


@frozen
class Answer:
    status: int
    text: str


def probe(endpoint: Endpoint, model: str, protocol: Wire, role: str, *, url: str = "", seconds: float = SECONDS) -> str:
    """What keeps `role` from its model, with the remedy; empty when it answers. `url` is the configured one: the
    endpoint's own may be a gateway's, which nobody has set and which is gone when its address is read."""
    table = f"[roles.{role}.options]"
    where = f"the {role}'s model {model!r} at {_place(url or endpoint.url)}"
    try:
        answer = _ask(endpoint, protocol, _body(model, protocol), seconds)
        if answer.status == 400 and protocol == "chat" and "max_completion_tokens" in answer.text:
            answer = _ask(endpoint, protocol, _body(model, protocol, "max_completion_tokens"), seconds)
    except (ValueError, http.client.InvalidURL):  # its words may hold a key, or a password of the url
        return f"{where} cannot be asked; mend `url` under {table}, or the key that `key_variable` names"
    except (OSError, http.client.HTTPException) as error:
        return f"{where} is not reached: {_reason(error)}; see that it runs, or mend `url` under {table}"
    said = _said(answer.text.replace(endpoint.key, "(the key)") if endpoint.key else answer.text)
    told = f": {said}" if said else ""
    if 200 <= answer.status < 300 or answer.status in _SUFFERED:
        return ""
    if answer.status in (401, 403):
        return f"{where} refuses the key ({answer.status}{told}); mend what `key_variable` under {table} names"
    if answer.status == 404 or (answer.status == 400 and "model" in said.lower()):
        return _not_offered(endpoint, model, protocol, where, f"{answer.status}{told}", role, seconds)
    if answer.status == 502 and '"relay"' in answer.text:
        return f"{where} is not reached: {said}; see that it runs, or mend `url` under {table}"
    return f"{where} answers {answer.status}{told}; mend that, or skip the question with --offline"


def _not_offered(
    endpoint: Endpoint, model: str, protocol: Wire, where: str, told: str, role: str, seconds: float
) -> str:
    offered = _offered(endpoint, protocol, seconds)
    if offered is None:
        remedy = f"mend `model` under [roles.{role}], or `url` under [roles.{role}.options]"
        return f"{where} is not offered there ({told}); {remedy}"
    if model in offered:
        return f"{where} is listed and does not answer ({told}); see whether it takes the protocol {protocol!r}"
    meant = near(model, offered).strip() or f"listed are {', '.join(offered[:_LISTED]) or 'none'}"
    return f"{where} is not offered ({told}); {meant}"


def _offered(endpoint: Endpoint, protocol: Wire, seconds: float) -> tuple[str, ...] | None:
    """Ids of the listed models; `None` where there is no list."""
    path = "/v1/models" if protocol == "messages" else "/models"
    try:
        answer = _send(
            urllib.request.Request(endpoint.url.rstrip("/") + path, headers=_headers(endpoint, protocol)), seconds
        )
        listed = json.loads(answer.text)["data"] if answer.status == 200 else None
        return None if listed is None else tuple(str(item["id"]) for item in listed)
    except (OSError, http.client.HTTPException, ValueError, LookupError, TypeError):
        return None


def _body(model: str, protocol: Wire, limit: str = "max_tokens") -> Mapping[str, object]:
    if protocol == "responses":
        return {"model": model, "input": "Say ok.", "max_output_tokens": _TOKENS, "store": False}
    return {"model": model, "messages": [{"role": "user", "content": "Say ok."}], limit: _TOKENS}


def _ask(endpoint: Endpoint, protocol: Wire, body: Mapping[str, object], seconds: float) -> Answer:
    url = endpoint.url.rstrip("/") + _PATHS[protocol]
    headers = _headers(endpoint, protocol) | {"Content-Type": "application/json"}
    return _send(urllib.request.Request(url, json.dumps(body).encode(), headers), seconds)


def _headers(endpoint: Endpoint, protocol: Wire) -> dict[str, str]:
    headers = {"User-Agent": AGENT, "Accept": "application/json"}
    if protocol == "messages":
        headers["anthropic-version"] = "2023-06-01"  # the protocol's own, which never changed
    if endpoint.key:
        headers |= (
            {"x-api-key": endpoint.key} if protocol == "messages" else {"Authorization": f"Bearer {endpoint.key}"}
        )
    return headers


class _Unmoved(urllib.request.HTTPRedirectHandler):
    """A redirect is an answer: following it would carry the key elsewhere."""

    def redirect_request(self, *args: object, **named: object) -> None:  # noqa: ARG002
        return None


_OPENER: Final = urllib.request.build_opener(urllib.request.ProxyHandler({}), _Unmoved)
"""Agents are given no proxy of the environment either."""


def _send(request: urllib.request.Request, seconds: float) -> Answer:
    try:
        with _OPENER.open(request, timeout=seconds) as response:
            return Answer(response.status, response.read(1 << 20).decode(errors="replace"))
    except urllib.error.HTTPError as error:
        with error:
            return Answer(error.code, error.read(1 << 16).decode(errors="replace"))


def _said(text: str) -> str:
    """The message in an error of any protocol, else its first line; short."""
    try:
        value = json.loads(text)
        error = value.get("error", value)
        message = error.get("message", "") if isinstance(error, dict) else error
        found = str(message)
    except (ValueError, AttributeError):
        found = text.strip().partition("\n")[0]
    return found if len(found) <= _LONGEST else found[:_LONGEST] + "..."


def _place(url: str) -> str:
    """Host and path, without what may be secret."""
    try:
        parts = urlsplit(url)
        return f"{parts.hostname or '?'}{f':{parts.port}' if parts.port else ''}{parts.path}"
    except ValueError:  # a port that is no number, brackets without an end
        return "an address that cannot be read"


def _reason(error: Exception) -> str:
    inner = error.reason if isinstance(error, urllib.error.URLError) else error
    if isinstance(inner, TimeoutError):
        return "no answer in time"
    return str(getattr(inner, "strerror", None) or inner or type(inner).__name__)
