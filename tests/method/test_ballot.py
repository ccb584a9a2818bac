from __future__ import annotations

import re
from collections.abc import Mapping

import pytest
from attrs import evolve

from harness2_core.method.ballot import Contest, Drawn, ballot, needed
from harness2_core.method.cuts import Caps
from harness2_core.method.entries import Final
from harness2_core.method.missions import core_templates
from harness2_core.model.bench import BenchSpec, BenchWords
from harness2_core.model.channel import Outcome
from harness2_core.model.manifest import Manifest
from harness2_core.model.records import Rollout
from harness2_core.model.tree import HarnessTree
from harness2_core.testing.captured import Blobs

WORDS = BenchWords("Add up ledgers.")
SPEC = BenchSpec("ledgers", WORDS)
BASE = HarnessTree({"notes.md": "Add up.\n"})
DRAW = "ledgers-py-agg4/march/select"


class World:
    def __init__(self) -> None:
        self.blobs = Blobs()
        source = self.blobs.manifest({"ledger.csv": "a,1\n"})
        self.material = Manifest({"task.md": self.blobs.put("Add.\n"), "source/": source.entry()})

    def final(
        self, label: str, files: Mapping[str, str | bytes] | None, tree: HarnessTree = BASE, **more: object
    ) -> Final:
        return Final(label, self.blobs.rollout(label, files, **more), tree)  # type: ignore[arg-type]

    def contest(self, *finals: Final, spec: BenchSpec = SPEC, draw: str = DRAW, caps: Caps | None = None) -> Contest:
        return Contest(finals, BASE, self.material, spec, WORDS, core_templates(), draw, caps or Caps())

    def draw(self, *finals: Final, spec: BenchSpec = SPEC, draw: str = DRAW, caps: Caps | None = None) -> Drawn:
        contest = self.contest(*finals, spec=spec, draw=draw, caps=caps)
        known = self.blobs.texts()
        return ballot(contest, {digest: known[digest] for digest in needed(contest) if digest in known})

    def files(self, drawn: Drawn) -> dict[str, str]:
        assert drawn.ballot is not None
        self.blobs.add(drawn.new)
        return self.blobs.files(drawn.ballot.evidence)


@pytest.fixture
def world() -> World:
    return World()


def longer(lines: int) -> HarnessTree:
    return HarnessTree({"notes.md": "Add up.\n" + "more\n" * lines})


def test_each_kept_final_is_one_candidate(world: World) -> None:
    drawn = world.draw(*(world.final(f"agg{i}", {"sum.txt": f"{i}\n"}) for i in range(1, 4)))
    assert drawn.order == ("A", "B", "C")
    assert sorted(drawn.ids.values()) == ["agg1", "agg2", "agg3"]
    assert drawn.ballot is not None
    assert {id: dict(views) for id, views in drawn.ballot.candidates.items()} == {
        id: {"sum.txt.txt": f"{label[-1]}\n"} for id, label in drawn.ids.items()
    }


def test_the_layout_is_the_documented_one(world: World) -> None:
    drawn = world.draw(world.final("agg1", {"sum.txt": "1"}), world.final("agg2", {"sum.txt": "2"}))
    assert sorted(world.files(drawn)) == [
        "candidates/A.md",
        "candidates/A/sum.txt.txt",
        "candidates/B.md",
        "candidates/B/sum.txt.txt",
        "source/ledger.csv",
        "task.md",
    ]


def test_no_label_draw_or_harness_gets_in(world: World) -> None:
    tree = HarnessTree({"notes.md": "CANARY-HARNESS\n"})
    finals = [world.final(f"aggx{number}", {"sum.txt": str(number)}, tree) for number in (1, 2)]
    drawn = world.draw(*finals)
    assert drawn.ballot is not None
    everything = "\n".join(
        [*world.files(drawn), *world.files(drawn).values(), drawn.ballot.mission(), repr(drawn.ballot)]
    ).replace(repr(drawn.ballot.templates), "")
    runs = [part for final in finals for part in (final.rollout.request, final.rollout.transcript.digest)]
    for secret in ("aggx", "CANARY", "march", "ledgers-py", drawn.ballot.templates.digest, "base1", *runs):
        assert secret.casefold() not in everything.casefold()


def test_a_sealed_file_or_a_judgement_gets_in_neither(world: World) -> None:
    finals = [world.final("agg1", {"sum.txt": "1"}), world.final("agg2", {"sum.txt": "2"})]
    sealed = world.blobs.manifest({"verdict.json": "CANARY-VERDICT"})
    finals = [evolve(final, rollout=evolve(final.rollout, sealed=sealed, note="CANARY-NOTE")) for final in finals]
    assert "CANARY" not in "".join(world.files(world.draw(*finals)).values())


def test_the_same_draw_shuffles_alike_and_another_otherwise(world: World) -> None:
    finals = [world.final(f"agg{i}", {"sum.txt": f"{i}"}) for i in range(1, 9)]
    assert world.draw(*finals).ids == world.draw(*finals).ids
    orders = {tuple(world.draw(*finals, draw=f"ledgers-py-agg4/{i}/select").ids.values()) for i in range(9)}
    assert len(orders) > 5


def test_the_shuffle_of_a_draw_never_changes() -> None:
    """Golden: records of finished tasks name candidates by these ids."""
    world = World()
    drawn = world.draw(*(world.final(f"agg{i}", {"sum.txt": f"{i}"}) for i in range(1, 5)))
    assert list(drawn.ids.values()) == GOLDEN


GOLDEN = ["agg1", "agg2", "agg4", "agg3"]


def test_what_was_not_delivered_or_is_blank_is_dropped_with_the_reason(world: World) -> None:
    lost = Final("agg4", Rollout(world.blobs.put("r").digest, Outcome.LOST, cause="network"), BASE)
    drawn = world.draw(
        world.final("agg1", {"sum.txt": "12"}),
        world.final("agg2", {}),
        world.final("agg3", {"sum.txt": " \n\n", "b.txt": ""}),
        lost,
        world.final("agg5", {"other.txt": "x"}, delivered=False),
        world.final("agg6", {"sum.bin": b"\xff"}, views={}),
    )
    assert drawn.dropped == {
        "agg2": "it did not deliver what the task asks for",
        "agg3": "what it delivered is blank",
        "agg4": "its rollout was lost (network)",
        "agg5": "it did not deliver what the task asks for",
        "agg6": "nothing could be shown of what it delivered",
    }
    assert dict(drawn.ids) == {"A": "agg1"}


def test_an_image_alone_is_not_blank(world: World) -> None:
    drawn = world.draw(world.final("agg1", {"p.png": b"\xff1"}, views={"p.png": b"\xff1"}))
    assert drawn.dropped == {}


def test_a_run_stopped_at_its_limit_may_be_delivered(world: World) -> None:
    assert world.draw(world.final("agg1", {"sum.txt": "1"}, outcome=Outcome.TIMED_OUT)).dropped == {}


def test_a_single_candidate_is_taken_without_asking(world: World) -> None:
    drawn = world.draw(world.final("agg1", {"sum.txt": "1"}), world.final("agg2", {}))
    assert (drawn.ballot, drawn.order, dict(drawn.ids), dict(drawn.new)) == (None, ("A",), {"A": "agg1"}, {})


def test_nothing_left_is_no_ballot(world: World) -> None:
    drawn = world.draw(world.final("agg1", {}))
    assert (drawn.ballot, drawn.order) == (None, ())


def test_equal_deliverables_are_one_candidate_standing_for_the_nearest_to_base(world: World) -> None:
    drawn = world.draw(
        world.final("agg1", {"sum.txt": "12"}, longer(5)),
        world.final("agg2", {"sum.txt": "12"}, longer(2)),
        world.final("agg3", {"sum.txt": "13"}, longer(9)),
        world.final("agg4", {"sum.txt": "12"}, longer(2)),
    )
    assert drawn.same == {"agg1": "agg2", "agg4": "agg2"}
    assert sorted(drawn.ids.values()) == ["agg2", "agg3"]


def test_a_line_that_looks_like_a_diffs_head_counts_as_changed(world: World) -> None:
    dashes = HarnessTree({"notes.md": "-- a\n-- b\n-- c\nAdd up.\n"})
    drawn = world.draw(world.final("agg1", {"s": "1"}, dashes), world.final("agg2", {"s": "1"}, longer(1)))
    assert drawn.same == {"agg1": "agg2"}


def test_equal_views_of_unlike_files_are_one_candidate(world: World) -> None:
    drawn = world.draw(
        world.final("agg1", {"a.xlsx": b"one"}, views={"a.xlsx.txt": "12"}),
        world.final("agg2", {"a.xlsx": b"two"}, views={"a.xlsx.txt": "12"}),
    )
    assert drawn.same == {"agg2": "agg1"}


def test_the_same_bytes_under_another_path_are_another_candidate(world: World) -> None:
    drawn = world.draw(world.final("agg1", {"a.txt": "12"}), world.final("agg2", {"b.txt": "12"}))
    assert drawn.same == {}


def test_an_index_counts_what_there_is_and_says_that_nothing_was_trimmed(world: World) -> None:
    drawn = world.draw(world.final("agg1", {"sum.txt": "zwölf"}), world.final("agg2", {"sum.txt": "2"}))
    index = {drawn.ids[id]: world.files(drawn)[f"candidates/{id}.md"] for id in drawn.ids}["agg1"]
    assert "- `sum.txt`: 6 bytes" in index
    assert "- `sum.txt.txt`: 5 characters" in index
    assert "Nothing was trimmed." in index


def test_who_delivered_more_than_could_be_kept_did_not_deliver_the_same(world: World) -> None:
    one, other = (world.final(f"agg{i}", {"sum.txt": "12"}) for i in (1, 2))
    more = evolve(other, rollout=evolve(other.rollout, missed=("not kept: 'a' is a symbolic link",)))
    assert world.draw(one, other).same == {"agg2": "agg1"}
    assert world.draw(one, more).same == {}


def test_what_could_not_be_kept_is_told_and_not_called_whole(world: World) -> None:
    finals = [world.final(f"agg{i}", {"sum.txt": f"{i}"}) for i in (1, 2)]
    finals = [evolve(x, rollout=evolve(x.rollout, missed=("not kept: 'a' is a symbolic link",))) for x in finals]
    index = world.files(world.draw(*finals))["candidates/A.md"]
    assert "\n[harness2: not kept: 'a' is a symbolic link]\n" in index
    assert "Nothing was trimmed" not in index


def test_what_is_too_big_is_left_out_and_marked(world: World) -> None:
    drawn = world.draw(
        world.final("agg1", {"big.txt": "x" * 900, "sum.txt": "1"}),
        world.final("agg2", {"sum.txt": "2"}),
        caps=Caps(bytes_seen=100),
    )
    id = next(id for id, label in drawn.ids.items() if label == "agg1")
    files = world.files(drawn)
    assert f"candidates/{id}/big.txt.txt" not in files
    assert "[harness2: `big.txt.txt` (900 bytes) left out here by the framework]" in files[f"candidates/{id}.md"]
    assert "Nothing was trimmed" not in files[f"candidates/{id}.md"]


def test_what_is_too_big_to_be_shown_is_not_even_read(world: World) -> None:
    finals = [world.final("agg1", {"big.txt": "x" * 900, "sum.txt": "1"}), world.final("agg2", {"sum.txt": "2"})]
    wanted = needed(world.contest(*finals, caps=Caps(bytes_seen=100)))
    big, small = (finals[0].rollout.views.entries[f"{name}.txt.txt"].digest for name in ("big", "sum"))
    assert big not in wanted
    assert small in wanted


def test_every_image_of_a_product_is_on_the_ballot(world: World) -> None:
    views: dict[str, str | bytes] = {f"{i:02}.png": b"\xff" + bytes([i]) for i in range(11)}
    drawn = world.draw(*(world.final(f"agg{i}", {"a.pdf": b"%d" % i}, views=views | {"t.txt": f"{i}"}) for i in (1, 2)))
    assert (
        len([path for path in world.files(drawn) if path.startswith("candidates/A/") and path.endswith(".png")]) == 11
    )


def test_contents_are_on_the_ballot_where_improvers_see_names_only(world: World) -> None:
    finals = [world.final(f"agg{i}", {"sum.txt": f"{i}"}) for i in (1, 2)]
    drawn = world.draw(*finals, spec=evolve(SPEC, deliverables="names"))
    assert {world.files(drawn)[f"candidates/{id}/sum.txt.txt"] for id in "AB"} == {"1", "2"}


def test_binary_deliverables_are_judged_by_their_views(world: World) -> None:
    drawn = world.draw(
        world.final("agg1", {"a.png": b"\xff1"}, views={"a.png": b"\xff1", "a.png.txt": "an image"}),
        world.final("agg2", {"a.png": b"\xff2"}, views={"a.png": b"\xff2", "a.png.txt": "another image"}),
    )
    assert drawn.ballot is not None
    assert {tuple(views) for views in drawn.ballot.candidates.values()} == {("a.png.txt",)}
    assert "candidates/A/a.png" in world.files(drawn)


STATE = evolve(SPEC, state_deliverable=True)


def test_transcripts_stand_in_where_the_product_is_a_state_and_nobody_delivered(world: World) -> None:
    drawn = world.draw(world.final("agg1", {}), world.final("agg2", {}), spec=STATE)
    assert drawn.by_transcript
    assert drawn.dropped == {}
    files = world.files(drawn)
    assert sorted(files[f"candidates/{id}/transcript.md"][-7:] for id in drawn.order) == [" agg1.\n", " agg2.\n"]


def test_transcripts_do_not_stand_in_once_somebody_delivered(world: World) -> None:
    drawn = world.draw(world.final("agg1", {"sum.txt": "1"}), world.final("agg2", {}), spec=STATE)
    assert not drawn.by_transcript
    assert dict(drawn.ids) == {"A": "agg1"}


def test_transcripts_do_not_stand_in_for_files(world: World) -> None:
    assert world.draw(world.final("agg1", {}), world.final("agg2", {})).order == ()


def test_a_transcript_that_stands_in_shows_no_harness(world: World) -> None:
    line = 'Always count the "open" rows before adding'
    tree = HarnessTree({"notes.md": f"# Notes\n\n  {line}\n"})
    said = f'[OBSERVATION]\n{line}\n\n[ACTION] write\n{{"text": "Always count the \\"open\\" rows before adding"}}\n'
    drawn = world.draw(
        world.final("agg1", {}, tree, transcript=said + "first\n"),
        world.final("agg2", {}, tree, transcript=said + "second\n"),
        spec=STATE,
    )
    shown = "".join(world.files(drawn).values())
    assert "Always count" not in shown
    assert "first\n" in shown


def test_a_path_that_only_one_harness_has_tells_no_harness(world: World) -> None:
    tree = HarnessTree({"notes.md": "Add up.\n", "skills/totals/SKILL.md": "x\n"})
    said = "[ACTION] read\nskills/totals/SKILL.md\n\n[ACTION] read\nnotes.md\n"
    drawn = world.draw(
        world.final("agg1", {}, tree, transcript=said + "first\n"),
        world.final("agg2", {}, transcript="two\n"),
        spec=STATE,
    )
    shown = "".join(world.files(drawn).values())
    assert "skills/totals" not in shown
    assert "\n[harness2: a path of its set-up left out here by the framework]\n" in shown
    assert "read\nnotes.md\n" in shown


def test_a_long_transcript_that_stands_in_is_cut_with_the_marks_it_had_left_as_they_were(world: World) -> None:
    mark = "[harness2: 9 characters left out here by the renderer]"
    said = f"[OBSERVATION]\n{mark}\n" + "y" * 900
    drawn = world.draw(
        *(world.final(f"agg{i}", {}, transcript=f"{said}{i}\n") for i in (1, 2)), spec=STATE, caps=Caps(bytes_seen=800)
    )
    lines = world.files(drawn)["candidates/A/transcript.md"].splitlines()
    assert lines[1] == mark
    assert [line for line in lines if re.fullmatch(r"\[harness2: \d+ characters left out here by the renderer\]", line)]
    assert len("\n".join(lines)) < 500


def test_a_run_without_transcript_stays_dropped(world: World) -> None:
    lost = Final("agg2", Rollout(world.blobs.put("r").digest, Outcome.LOST), BASE)
    drawn = world.draw(world.final("agg1", {}), lost, spec=STATE)
    assert dict(drawn.dropped) == {"agg2": "its rollout was lost"}


def test_thirty_candidates_get_thirty_ids(world: World) -> None:
    drawn = world.draw(*(world.final(f"draw{i}", {"sum.txt": f"{i}"}) for i in range(30)))
    assert drawn.order[24:28] == ("Y", "Z", "AA", "AB")
    assert drawn.ballot is not None
    assert drawn.ballot.ids == drawn.order
