from __future__ import annotations

import json

from hypothesis import given
from hypothesis import strategies as st

from harness2_core.api import Action, FrozenMap, Observation, Trajectory
from harness2_core.work.rewriting import Rewriter

REAL = "/srv/runs é/work/abc"
TABLE = FrozenMap({REAL: "/workspace", f"{REAL}.aside/home": "/home/agent", "canary-key": "[key withheld]"})


@given(st.lists(st.sampled_from([REAL, REAL[:9], f"{REAL}.aside/home", "canary-key", "canary-", "x", "/"])), st.data())
def test_a_stream_is_rewritten_alike_wherever_it_is_cut(parts: list[str], data: st.DataObject) -> None:
    whole = "".join(parts).encode()
    cuts = sorted(data.draw(st.lists(st.integers(0, len(whole)), max_size=6)))
    chunks = [whole[a:b] for a, b in zip([0, *cuts], [*cuts, len(whole)], strict=True)]
    rewriter = Rewriter(TABLE)
    assert b"".join(rewriter.stream(chunks)) == rewriter.data(whole)


def test_the_longer_of_two_paths_wins() -> None:
    assert Rewriter(TABLE).text(f"{REAL}.aside/home/x {REAL}/y") == "/home/agent/x /workspace/y"


def test_a_path_is_found_in_json_and_in_urls_too() -> None:
    rewriter = Rewriter(TABLE)
    assert rewriter.text(json.dumps(REAL)) == '"/workspace"'
    assert rewriter.text(json.dumps(REAL).replace("/", "\\/")) == '"/workspace"'
    assert rewriter.text("file:///srv/runs%20%C3%A9/work/abc/a.txt") == "file:///workspace/a.txt"


def test_rewritten_text_holds_no_unpaired_surrogates() -> None:
    Rewriter(TABLE).text("\udcff").encode()


def test_all_texts_of_a_trajectory_are_rewritten() -> None:
    given = Trajectory((Action("bash", f"cd {REAL}"), Observation("a canary-key", True)), notes=(REAL,))
    assert Rewriter(TABLE).trajectory(given) == Trajectory(
        (Action("bash", "cd /workspace"), Observation("a [key withheld]", True)), notes=("/workspace",)
    )


def test_short_texts_are_left_alone_for_they_hit_by_chance() -> None:
    assert Rewriter(FrozenMap({"abc": "X"})).text("abc") == "abc"


def test_no_key_is_shown_by_a_rewriter() -> None:
    assert "canary" not in repr(Rewriter(TABLE))
