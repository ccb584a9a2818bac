"""Network policies, views' names, attempts, content of settings."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness2_core.api import ConfigError, FrozenMap, Outcome, Rejected, Usage
from harness2_core.model.manifest import Entry, Manifest, blob_entry
from harness2_core.model.paths import folded, parents
from harness2_core.testing.memory_store import MemoryStore
from harness2_core.testing.workroom import ProgramAgent
from harness2_core.work import attempts
from harness2_core.work.content import put_content, resolve_content
from harness2_core.work.harvest import FILE_BYTES, FILES, harvest, judged
from harness2_core.work.keeping import Caps, Keeper, Kept, listed
from harness2_core.work.network import stricter, with_model
from harness2_core.work.rewriting import Rewriter
from harness2_core.work.views import overlaid, text_views

POLICIES = st.sampled_from(["none", "model", "hosts:a.example", "hosts:a.example,b.example", "open"])


@given(POLICIES, POLICIES)
def test_the_stricter_network_is_the_same_whoever_asks_first(one: str, other: str) -> None:
    assert stricter(one, other) == stricter(other, one)
    assert stricter(one, "open") == one
    assert stricter(one, "none") == "none"


def test_two_lists_of_hosts_leave_what_is_in_both() -> None:
    assert stricter("hosts:a.example,b.example", "hosts:b.example,c.example") == "hosts:b.example"
    assert stricter("hosts:a.example", "hosts:b.example") == "model"


def test_an_agent_with_a_model_reaches_it_under_a_task_without_network() -> None:
    assert with_model("none") == "model"
    assert with_model("open") == "open"


@given(st.sets(st.sampled_from(["a", "a.txt", "a.txt/b", "a.txt.txt", "c/a", "c.txt/d", "c"]), min_size=1))
def test_every_deliverable_has_a_view_of_its_own(names: set[str]) -> None:
    names = {n for n in names if not any(other.startswith(f"{n}/") for other in names)}

    entries = {name: Entry(f"{n:064x}", n) for n, name in enumerate(sorted(names))}
    kept = Kept(Manifest(FrozenMap(entries)), frozenset(names))
    views = text_views(MemoryStore(), kept)
    assert sorted(entry.digest for entry in views.entries.values()) == sorted(e.digest for e in entries.values())


@given(
    st.sets(
        st.sampled_from(
            [*("Sum.csv", "sum.csv", "SUM.CSV", "caf\u00e9", "cafe\u0301", "a", "A", "A.txt/b", "a.TXT/B", "sum~2.csv")]
        ),
        min_size=1,
    )
)
def test_views_have_names_of_their_own_where_case_and_unicode_forms_do_not_count(names: set[str]) -> None:
    entries = {name: blob_entry(name.encode()) for name in names}
    views = text_views(MemoryStore(), Kept(Manifest(entries), frozenset(names))).entries
    assert sorted(entry.digest for entry in views.values()) == sorted(entry.digest for entry in entries.values())
    assert len({folded(path) for path in views}) == len(names)
    assert not {folded(path) for path in views} & {folded(parent) for path in views for parent in parents(path)}


def test_a_view_that_moves_keeps_its_suffix() -> None:
    """By it readers tell an image from a text."""
    one, two = Entry("1" * 64, 1), Entry("2" * 64, 2)
    assert list(overlaid(Manifest(), {"p.PNG": one, "p.png": two}).entries) == ["p.PNG", "p~2.png"]


def test_an_adapter_s_view_stands_in_the_place_of_core_s() -> None:
    one, two = Entry("a" * 64, 1), Entry("b" * 64, 2)
    views = overlaid(Manifest(FrozenMap({"x.txt": one})), {"x.txt": two, "x.png": one})
    assert views.entries == {"x.png": one, "x.txt": two}


def test_attempts_are_numbered_and_their_prices_add_up(store: MemoryStore) -> None:
    key = "c" * 64
    for usd in ("0.1", "0.2"):
        ordinal = attempts.begin(store, key)
        attempts.end(store, key, ordinal, Outcome.LOST, "network", "reset", Usage(usd, source="stream"))
    attempts.begin(store, key)
    assert [item.started.ordinal for item in attempts.attempts_of(store, key)] == [1, 2, 3]
    assert attempts.attempts_of(store, key)[2].in_flight
    assert attempts.spent_on_lost(store, key).usd == "0.3"
    assert attempts.lost_attempts(store, key) == 2


def test_content_travels_by_what_is_in_it_and_not_by_where_it_lies(store: MemoryStore, tmp_path: Path) -> None:
    (tmp_path / "a.toml").write_text("x = 1")
    (tmp_path / "moved.toml").write_text("x = 1")
    (tmp_path / "d").mkdir()
    (tmp_path / "d" / "inner.txt").write_text("y")
    name = put_content(store, tmp_path / "a.toml")
    assert name == put_content(store, tmp_path / "moved.toml")
    assert resolve_content(store, name, tmp_path / "scratch").read_text() == "x = 1"
    folder = resolve_content(store, put_content(store, tmp_path / "d"), tmp_path / "scratch")
    assert (folder / "inner.txt").read_text() == "y"
    assert resolve_content(store, name, tmp_path / "scratch").is_file()


def test_a_link_below_content_is_refused_by_name(store: MemoryStore, tmp_path: Path) -> None:
    (tmp_path / "d").mkdir()
    (tmp_path / "d" / "link").symlink_to("/etc/passwd")
    with pytest.raises(ConfigError, match="link"):
        put_content(store, tmp_path / "d")


def test_content_that_is_not_there_is_named(store: MemoryStore, tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"gone\.toml"):
        put_content(store, tmp_path / "gone.toml")


def test_files_and_bytes_beyond_the_caps_are_counted_in_words(store: MemoryStore, tmp_path: Path) -> None:
    (tmp_path / "output").mkdir()
    for n in range(5):
        (tmp_path / "output" / f"{n}.txt").write_text("12345")
    few = Keeper(store, Rewriter(), tmp_path, Caps(files=2)).tree(tmp_path, "output")
    assert list(few.manifest.entries) == ["0.txt", "1.txt"]
    assert few.problems == ("not kept: 3 more files, beyond the first 2 (10 bytes in all)",)
    light = Keeper(store, Rewriter(), tmp_path, Caps(total_bytes=11)).tree(tmp_path, "output")
    assert len(light.manifest.entries) == 3


def test_a_note_names_the_first_problems_and_counts_the_others() -> None:
    note = listed(f"problem {n}" for n in range(30))
    assert "problem 19" in note
    assert "problem 20" not in note
    assert note.endswith("and 10 more of the kind")


def test_a_harness_beyond_all_reason_is_refused_in_words(tmp_path: Path) -> None:
    scripts = tmp_path / "context" / "harness" / "scripts"
    scripts.mkdir(parents=True)
    (scripts / "huge.py").write_bytes(b"#" * (FILE_BYTES + 1))
    for n in range(FILES + 3):
        (scripts / f"s{n}.py").write_text("")
    result = judged(ProgramAgent.surface, harvest(tmp_path), ())
    assert isinstance(result, Rejected)
    assert any("'scripts/huge.py' has 4,194,305 bytes" in problem for problem in result.problems)
    assert any(f"3 files beyond the first {FILES:,}" in problem for problem in result.problems)


def test_droppings_are_noted_whatever_their_number_and_not_read(tmp_path: Path) -> None:
    modules = tmp_path / "context" / "harness" / "node_modules"
    modules.mkdir(parents=True)
    for n in range(FILES + 1):
        (modules / f"{n}.js").write_text("x")
    found = harvest(tmp_path)
    assert found.files == {}
    assert found.problems == ()
    assert found.notes[-1] == f"ignored {FILES + 1 - 20:,} more files left behind by tools"


def test_a_harness_that_is_gone_is_a_problem_in_words(tmp_path: Path) -> None:
    result = judged(ProgramAgent.surface, harvest(tmp_path), ())
    assert isinstance(result, Rejected)
    assert "the directory context/harness/ is gone; leave the whole harness in it" in result.problems
