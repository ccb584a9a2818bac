from __future__ import annotations

from typing import Any

import pytest
from attrs import evolve, fields

from harness2_core.model.channel import Channel
from harness2_core.model.errors import InvalidValue
from harness2_core.model.requests import (
    GradeRequest,
    Request,
    RolloutRequest,
    SessionRequest,
    encode_request,
    kind_of,
    request_digest,
)

ROLLOUT = RolloutRequest("jb", "law/7", "1" * 64, "oc", "2" * 64, Channel("m"), {"a": "b"}, "jb-oc-agg2/law/7/base1")
SESSION = SessionRequest(
    bench="jb",
    task="law/7",
    task_digest="1" * 64,
    substrate="oc",
    role="improver",
    kind="inv",
    proposer="scripted",
    channel=Channel("m"),
    settings={},
    mission="Improve it.",
    evidence="3" * 64,
    editable="4" * 64,
    draw="jb-oc-agg2-s7/law/7/inv1",
)
GRADE = GradeRequest("jb", "law/7", "1" * 64, "5" * 64, "6" * 64, "checks", Channel(), {})

CHANGES: dict[str, Any] = {
    "bench": "other",
    "task": "law/8",
    "task_digest": "a" * 64,
    "substrate": "cx",
    "tree": "a" * 64,
    "channel": Channel("m", effort="high"),
    "settings": {"a": "c"},
    "draw": "jb-oc-agg2/law/7/base2",
    "role": "selector",
    "kind": "dom",
    "proposer": "agent",
    "mission": "Improve it!",
    "evidence": "a" * 64,
    "editable": None,
    "rollout": "a" * 64,
    "grader": "a" * 64,
    "judge": "other",
}


@pytest.mark.parametrize("request_", [ROLLOUT, SESSION, GRADE], ids=kind_of)
def test_a_change_of_any_field_is_another_request(request_: Request) -> None:
    changed = [evolve(request_, **{part.name: CHANGES[part.name]}) for part in fields(type(request_))]
    assert len({request_digest(request_), *map(request_digest, changed)}) == len(changed) + 1


@pytest.mark.parametrize(
    "channel",
    [
        Channel("n"),
        Channel("m", effort="low"),
        Channel("m", steps=5),
        Channel("m", limit_seconds=60),
        Channel("m", options={"temperature": "0"}),
    ],
)
def test_a_change_of_any_part_of_the_channel_is_another_request(channel: Channel) -> None:
    assert request_digest(evolve(ROLLOUT, channel=channel)) != request_digest(ROLLOUT)


def test_requests_of_two_kinds_never_share_a_digest() -> None:
    assert [kind_of(request_) for request_ in (ROLLOUT, SESSION, GRADE)] == ["rollout", "session", "grade"]
    assert encode_request(ROLLOUT).startswith(b'{"rollout":{')


def test_a_field_at_its_default_is_left_out_so_that_new_fields_keep_old_digests() -> None:
    assert b'"channel":{}' in encode_request(GRADE)
    assert b'"draw"' not in encode_request(GRADE)


def test_the_same_task_id_in_two_benches_is_two_requests() -> None:
    assert request_digest(evolve(ROLLOUT, bench="wb")) != request_digest(ROLLOUT)


@pytest.mark.parametrize(
    "draw",
    ["jb-oc-agg2/t/inv1.fix", "jb-oc-agg2-s7-x/a/b/c/inv1", "jb-oc-agg2/t/inv1.a2", "jb-oc-agg2/t/inv1.fix.a12"],
)
def test_a_draw_is_namespace_task_and_label(draw: str) -> None:
    assert evolve(ROLLOUT, draw=draw).draw == draw


@pytest.mark.parametrize(
    "draw",
    [
        *("", "jb-oc-agg2", "jb-oc-agg2/t", "jb-oc-agg2//inv1", "jb-oc-agg2/t/", "jb-oc-agg2/t/Inv1", "jb/t/inv1"),
        *("jb-oc-agg2/t/inv1.a1", "jb-oc-agg2/t/inv1.a0", "jb-oc-agg2/t/inv1.a2.fix", "/jb-oc-agg2/t/inv1"),
    ],
)
def test_anything_else_is_no_draw(draw: str) -> None:
    with pytest.raises(InvalidValue):
        evolve(ROLLOUT, draw=draw)


@pytest.mark.parametrize(
    "change",
    [
        {"bench": "J"},
        {"substrate": "o"},
        {"tree": "x"},
        {"task_digest": "A" * 64},
    ],
)
def test_the_parts_of_a_request_are_checked(change: dict[str, str]) -> None:
    with pytest.raises(InvalidValue, match=r"RolloutRequest\."):
        evolve(ROLLOUT, **change)  # type: ignore[arg-type]
