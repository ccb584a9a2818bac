"""Requests: paid work as a value. A request's digest is its identity, cache key, audit name and idempotency key.

Canonical JSON with defaults left out, so a new field with a default keeps every old digest; golden digests in a test
hold that.
"""

from __future__ import annotations

import re
from typing import TypeAlias

from attrs import field, frozen

from .canonical import Digest, canonical, digest_bytes
from .channel import Channel
from .check import Field, a_digest, matches, optional
from .errors import InvalidValue
from .frozen import FrozenMap, texts
from .namespace import LABEL, bench_name, parse_namespace, short_name

_kind = matches(LABEL, "a lower-case word")


def _draw(owner: object, field: Field, value: str) -> None:
    namespace, _, rest = value.partition("/")
    task, _, label = rest.rpartition("/")
    parse_namespace(namespace)
    if not task or not re.fullmatch(LABEL + r"(\.fix|\.f[0-9]+)?(\.a([2-9]|[1-9][0-9]+))?", label):
        raise InvalidValue(f"the draw {value!r}", "it reads <namespace>/<task>/<label>")


@frozen
class RolloutRequest:
    """One execution of one task under one tree."""

    bench: str = field(validator=bench_name)
    task: str
    task_digest: Digest = field(validator=a_digest)
    substrate: str = field(validator=short_name)
    tree: Digest = field(validator=a_digest)
    channel: Channel
    settings: FrozenMap[str] = field(converter=texts)
    """Of the substrate, those that affect results; paths as content digests."""
    draw: str = field(validator=_draw)


@frozen
class SessionRequest:
    """One call of an improver-side role."""

    bench: str = field(validator=bench_name)
    task: str
    task_digest: Digest = field(validator=a_digest)
    substrate: str = field(validator=short_name)
    """Whose surface applies."""
    role: str = field(validator=_kind)
    kind: str = field(validator=_kind)
    """The stage's template, or `select`, `reflect`."""
    proposer: str
    channel: Channel
    settings: FrozenMap[str] = field(converter=texts)
    mission: str
    evidence: Digest = field(validator=a_digest)
    """A manifest: what the session may read, under `context/`."""
    editable: Digest | None = field(validator=optional(a_digest))
    """A manifest: what `context/harness/` begins as; `None` when the session edits nothing."""
    draw: str = field(validator=_draw)


@frozen
class GradeRequest:
    """One grading of one rollout."""

    bench: str = field(validator=bench_name)
    task: str
    task_digest: Digest = field(validator=a_digest)
    rollout: Digest = field(validator=a_digest)
    grader: Digest = field(validator=a_digest)
    """A manifest of the grader-side files."""
    judge: str
    channel: Channel
    settings: FrozenMap[str] = field(converter=texts)
    draw: str = field(default="", validator=lambda owner, field, value: _draw(owner, field, value) if value else None)
    """Empty unless a grading is drawn again."""


Request: TypeAlias = RolloutRequest | SessionRequest | GradeRequest


def encode_request(request: Request) -> bytes:
    """Canonical JSON; stored as a blob, whose digest is the request's."""
    from .serial import plain  # serial needs every value type, these too

    return canonical({kind_of(request): plain(request)})


def request_digest(request: Request) -> Digest:
    """SHA-256 of the request's canonical JSON: its identity everywhere."""
    return digest_bytes(encode_request(request))


def kind_of(request: Request) -> str:
    """The record kind under which the result is stored: `rollout`, `session` or `grade`."""
    match request:
        case RolloutRequest():
            return "rollout"
        case SessionRequest():
            return "session"
        case GradeRequest():
            return "grade"


def role_of(request: Request) -> str:
    """`executor` for rollouts, the session's role, `judge` for gradings."""
    match request:
        case RolloutRequest():
            return "executor"
        case SessionRequest():
            return request.role
        case GradeRequest():
            return "judge"
