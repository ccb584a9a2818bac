from __future__ import annotations

import json

import pytest

from harness2_core.method.cuts import Caps
from harness2_core.method.missions import core_templates
from harness2_core.method.reflection import Finished, round_of
from harness2_core.model.bench import BenchSpec, BenchWords, TaskCard
from harness2_core.model.manifest import Manifest
from harness2_core.model.strategy import Choice, Round
from harness2_core.model.tree import HarnessTree
from harness2_core.testing.captured import Blobs

WORDS = BenchWords("Add up ledgers.")
BASE = HarnessTree({"notes.md": "Add up.\n"})
INV = HarnessTree({"notes.md": "Count.\n"})
LABELS = ("base1", "inv1", "dom1", "agg1")


def finished(adopted: str = "agg1", deliverables: str = "contents", **caps: int) -> tuple[Round, dict[str, str]]:
    blobs = Blobs()
    material = Manifest({"task.md": blobs.put("Add.\n")})
    for tree in (BASE, INV):
        blobs.manifest(dict(tree.files))
    done = Finished(
        card=TaskCard("ledgers", "march", "books", material.digest),
        material=material,
        spec=BenchSpec("ledgers", WORDS, deliverables=deliverables),
        base=BASE,
        stages=LABELS[1:],
        trees={"inv1": INV, "dom1": BASE, "agg1": INV},
        rolls=LABELS,
        rollouts={label: blobs.rollout(label, {"sum.txt": label}) for label in LABELS},
        decisions={"inv1": "counts", "agg1": "kept -> inv1"},
        choice=Choice("B", "its total is right"),
        adopted=adopted,
        ids={"A": "agg2", "B": "agg1"},
        caps=Caps(**caps),
    )
    round, new = round_of(done, WORDS, core_templates())
    blobs.add(new)
    return round, blobs.files(round.evidence)


def test_every_rollout_and_every_harness_is_there() -> None:
    _, files = finished()
    assert {f"rollouts/{label}.md" for label in LABELS} <= files.keys()
    assert {f"deliverables/{label}/files/sum.txt.txt" for label in LABELS} <= files.keys()
    assert {f"pool/{label}/harness/notes.md" for label in LABELS[1:]} <= files.keys()
    assert {f"decisions/{label}.md" for label in LABELS[1:]} <= files.keys()


def test_diffs_begin_at_the_unmodified_harness_the_adopted_ones_too() -> None:
    _, files = finished()
    assert files["pool/agg1/harness.diff"].startswith("--- base/notes.md\n+++ agg1/notes.md")
    assert files["pool/dom1/harness.diff"] == "(no file differs from base)\n"


@pytest.mark.parametrize(("adopted", "text"), [("agg1", "Count.\n"), ("base1", "Add up.\n")])
def test_the_adopted_harness_is_there_to_read_beside_the_base(adopted: str, text: str) -> None:
    _, files = finished(adopted)
    assert (files["harness/notes.md"], files["base_harness/notes.md"]) == (text, "Add up.\n")


def test_the_adoption_decodes_the_ids() -> None:
    _, files = finished()
    assert json.loads(files["adoption.json"]) == {
        "chosen": "agg1",
        "chosen_id": "B",
        "ids": {"A": "agg2", "B": "agg1"},
        "why": "its total is right",
    }


def test_the_mission_lists_what_the_evidence_holds() -> None:
    round, files = finished()
    named = {line.split("`")[1].removeprefix("context/").split("<")[0] for line in round.listing}
    assert all(any(path.startswith(name) for path in files) for name in named)
    assert {path.split("/")[0] for path in files} == {name.split("/")[0] for name in named}
    assert all(line in round.mission() for line in round.listing)


def test_trees_are_texts_by_label() -> None:
    round, _ = finished()
    assert round.trees["inv1"] == {"notes.md": "Count.\n"}
    assert set(round.rollouts) == set(LABELS)


def test_where_only_names_may_be_seen_a_reflector_sees_names() -> None:
    _, files = finished(deliverables="names")
    assert not [path for path in files if "/files/" in path]
    assert "`sum.txt`" in files["deliverables/agg1/INDEX.md"]


def test_a_round_has_the_caps_of_other_evidence() -> None:
    _, files = finished(bytes_seen=10, note_chars=3, diff_chars=5)
    for path in ("rollouts/agg1.md", "decisions/agg1.md", "pool/inv1/harness.diff"):
        assert "left out here" in files[path], path
