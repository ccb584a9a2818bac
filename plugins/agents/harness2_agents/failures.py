"""What the words of a provider mean, whichever agent passes them on.

One table for all agents. Give it error texts of the agent or its provider only, never what a tool printed: `429` in the
output of a program is no rate limit. Words that name the matter go before the status, for providers use one status for
several: 429 for "slow down" and for "no credit left", 400 for "too long" and for "not that".
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from enum import Enum
from typing import Final

from attrs import frozen

from harness2_core.api import Lost

LONGEST_WAIT: Final = 3600
"""Seconds; who is at a rate limit and is asked to wait for longer has used up a quota, and no service is waited for
longer."""


class Kind(Enum):
    """What went wrong. The value says what follows, in the words of the policy table, or whose doing it was."""

    RATE_LIMIT = "rate-limit"
    SERVICE = "provider"
    NETWORK = "network"
    BUDGET = "budget"
    ACCESS = "access"
    REFUSAL = "refused"
    OVERFLOW = "own doing"


@frozen
class Problem:
    """An error of a provider or of the way to it. `wait_seconds` is what it asked for, 0 when it did not."""

    kind: Kind
    said: str
    wait_seconds: int = 0

    def lost(self) -> Lost | None:
        """The loss that this is; `None` for what the model or the agent did: refused, or filled its context."""
        if self.kind in (Kind.REFUSAL, Kind.OVERFLOW):
            return None
        return Lost(self.kind.value, f"{_MEANS[self.kind]}: {self.said}", wait_seconds=self.wait_seconds)


def problem_in(text: str, status: int | None = None, retry_after: str = "") -> Problem | None:
    """What an error text means; `None` when it names nothing that is known here.

    `status` is the HTTP status where the agent tells it, else it is looked for in the text; `retry_after` is the
    header's value, in seconds.
    """
    said = " ".join(text.replace("\x00", "").split())
    status = status or _status_in(said)
    kind = _by_words(said, _NAMED) or _by_status(status) or _by_words(said, _GENERAL)
    if kind is None:
        return None
    wait = _seconds(retry_after) or _wait_in(said)
    if kind is Kind.RATE_LIMIT and wait > LONGEST_WAIT:
        kind = Kind.BUDGET
    return Problem(kind, _short(said), min(wait, LONGEST_WAIT) if kind in (Kind.RATE_LIMIT, Kind.SERVICE) else 0)


_Table = Sequence[tuple[Kind, "re.Pattern[str]"]]


def _words(*patterns: str) -> re.Pattern[str]:
    return re.compile("|".join(patterns), re.IGNORECASE)


_NAMED: Final[_Table] = (
    (
        Kind.BUDGET,
        _words(
            r"insufficient[_ ]quota",
            r"exceeded your current quota",
            r"billing[_ ](hard[_ ]limit|not[_ ]active)",
            r"credit balance is too low",
            r"(out of|insufficient|not enough|no) (credits?|funds|balance)",
            r"insufficient_(credits|funds|balance)",
            r"payment required",
            r"(hit|reached|exceeded) your (usage|spend(ing)?|monthly|weekly|daily) limit",
            r"usage[_ ]limit[_ ]reached",
            r"(budget|spend(ing)? limit|monthly limit) (has been |was |is )?(exceeded|exhausted|reached)",
            r"budget[_ ]exceeded",
            r"PerDay",
            r"per day \(RPD\)|tokens per day",
        ),
    ),
    (
        Kind.OVERFLOW,
        _words(
            r"context[_ ]length[_ ]exceeded",
            r"maximum context length",
            r"context[_ ]window",
            r"prompt is too long",
            r"input is too long",
            r"input length and `?max_tokens`? exceed",
            r"input token count .{0,40}exceeds",
            r"exceeds? (the |its |your )?(available |maximum |model'?s? )*(context|number of (input )?tokens)",
            r"request_too_large|request entity too large|payload too large",
        ),
    ),
    (
        Kind.REFUSAL,
        _words(
            r"content[_ ](policy|filter|management)",
            r"(violat\w*|against) (our|the|its|\w+'s) (\w+ )?(usage |content |acceptable use )polic(y|ies)",
            r"usage policy",
            r"flagged (as|by|for)",
            r"invalid_prompt",
            r"safety (system|filter|reasons|settings)",
            r"PROHIBITED_CONTENT",
            r"(the )?model refused|\brefusal\b",
        ),
    ),
    (
        Kind.ACCESS,
        _words(
            r"invalid[_ -]?(x-)?api[_ -]?key",
            r"(incorrect|missing|no|expired) (x-)?api[_ -]?key",
            r"api[_ -]?key (is )?(not valid|invalid|missing|expired|not found|required)",
            r"authentication[_ ](error|failed|required)",
            r"permission_(error|denied)",  # as codes: in plain words it is a file that may not be opened
            r"\bunauthori[sz]ed\b",
            r"invalid (bearer|access|auth\w*) token",
            r"token (has )?expired",
            r"not logged in|please run /login|please log ?in",
            r"model[_ ]not[_ ]found|modelnotfound",
            r"(unknown|no such|unsupported|invalid) model",
            r"\bmodel:? [`'\"]?[\w./:@-]+[`'\"]? (does not exist|(was |is )?not (found|supported|available))",
            r"\bmodel not found|issue with the selected model",
            r"not_found_error",
            r"unsupported[_ ](parameter|value|country)",
            r"(unknown|unrecognized) (parameter|request argument)",
        ),
    ),
    (
        Kind.RATE_LIMIT,
        _words(
            r"rate[_ -]?limit",
            r"too many requests",
            r"throttl",
            r"RESOURCE_EXHAUSTED",
            r"(tokens|requests) per (min|minute|second)",
            r"quota exceeded",
        ),
    ),
    (Kind.SERVICE, _words(r"overloaded", r"at capacity")),
    (Kind.NETWORK, _words(r"the relay could not reach")),  # said with a 502 that no provider sent
)
"""Words that name the matter itself: they go before any status."""

_GENERAL: Final[_Table] = (
    (
        Kind.NETWORK,
        _words(
            r"ECONN(REFUSED|RESET|ABORTED)|ENOTFOUND|ETIMEDOUT|EAI_AGAIN|EHOSTUNREACH|ENETUNREACH|EPIPE",
            r"connection ?(refused|reset|error|closed|aborted|timed out|failed)",
            r"(could|can) ?not connect|unable to connect|failed to connect|ConnectionRefused|FailedToOpenSocket",
            r"socket (hang up|connection was closed|closed)",
            r"fetch failed|network ?error|network is unreachable|no route to host",
            r"\bdns\b|getaddrinfo|name resolution|resolve host",
            r"error sending request|(stream|body|response) (disconnected|closed|ended) (before|unexpectedly|early)",
            r"premature close|unexpected (eof|end of (file|stream))|incomplete (chunk|message|body)",
            r"request timed out|timed? ?out (waiting|while)|idle timeout|timeout waiting",
            r"\btls\b|certificate",
        ),
    ),
    (
        Kind.SERVICE,
        _words(
            r"internal (server )?error|server[_ ]error|\bapi_error\b",
            r"service (is )?(temporarily )?unavailable|temporarily unavailable|bad gateway|gateway timeout",
            r"upstream",
            r"try again later",
            r"exceeded retry limit|retries exhausted",
            r"(empty|invalid|malformed|unparsable|unexpected) (response|stream|reply|content type)",
            r"JSON parsing failed|invalid json",
        ),
    ),
)
"""Words that are used for much: they count when there is no status."""

_MEANS: Final = {
    Kind.RATE_LIMIT: "the provider asks to slow down",
    Kind.SERVICE: "the provider failed",
    Kind.NETWORK: "the provider could not be reached, or the connection broke",
    Kind.BUDGET: "money or quota is used up",
    Kind.ACCESS: "the provider does not accept the key, the model or a setting",
}

_STATUS: Final = re.compile(
    r"(?:status(?:[_ ]?code)?|https?(?:/[\d.]+)?|api error|error code|\bcode|response)\W{0,4}([45]\d\d)\b"
    r"|^\W{0,3}([45]\d\d)\b(?:[\s:,;{-]|$)",
    re.IGNORECASE,
)
_WAIT: Final = re.compile(
    r"(?:retry[- ]?after|retry[- ]?delay|(?:try|retry) again in|retry(?:ing)? in|reset(?:s)? in|wait)\W{0,4}"
    r"((?:\d+(?:\.\d+)?\s*(?:ms|milliseconds?|hours?|hrs?|h|minutes?|mins?|m|seconds?|secs?|s)?[ ,]*)+)",
    re.IGNORECASE,
)
_SPAN: Final = re.compile(
    r"(\d+(?:\.\d+)?)\s*(ms|milliseconds?|hours?|hrs?|h|minutes?|mins?|m|seconds?|secs?|s)?", re.IGNORECASE
)
_LONGEST_SAID: Final = 600


def _by_words(said: str, table: _Table) -> Kind | None:
    return next((kind for kind, pattern in table if pattern.search(said)), None)


def _by_status(status: int | None) -> Kind | None:
    match status:
        case None:
            return None
        case 402:
            return Kind.BUDGET
        case 401 | 403 | 404 | 405:
            return Kind.ACCESS
        case 413:
            return Kind.OVERFLOW
        case 429:
            return Kind.RATE_LIMIT
        case 408:
            return Kind.NETWORK
        case _ if 400 <= status < 600:
            # Also 400 and 422: a request nobody can read is no doing of the agent that it could be judged by.
            return Kind.SERVICE
        case _:
            return None


def _status_in(said: str) -> int | None:
    found = _STATUS.search(said)
    return int(found.group(1) or found.group(2)) if found else None


def _wait_in(said: str) -> int:
    found = _WAIT.search(said)
    if found is None:
        return 0
    seconds = sum(float(number) * _unit(unit) for number, unit in _SPAN.findall(found.group(1)))
    return math.ceil(min(seconds, 2 * LONGEST_WAIT))  # a number of hundreds of digits is infinite


def _unit(name: str) -> float:
    name = name.lower()
    if name.startswith(("ms", "milli")):
        return 0.001
    return {"h": 3600.0, "m": 60.0}.get(name[:1], 1.0)


def _seconds(text: str) -> int:
    try:
        seconds = float(text)
    except ValueError:
        return _wait_in(f"retry after {text}")
    return math.ceil(seconds) if 0 < seconds < float("inf") else 0


def _short(said: str) -> str:
    return said if len(said) <= _LONGEST_SAID else said[: _LONGEST_SAID - 3] + "..."
