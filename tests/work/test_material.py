from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

import pytest
from attrs import evolve

from harness2_core.api import ConfigError, FrozenMap, InvalidValue, Task
from harness2_core.testing.workroom import SumsBench, WorkRoom
from harness2_core.work.material import INPUTS, PROMPT, grader_manifest, material
from harness2_core.work.trees import flatten, read_blob, read_card, read_manifest


def test_a_task_is_read_back_from_the_store_as_it_was(room: WorkRoom) -> None:
    room.sums.expects = ("sum.txt",)
    card = material(room.store, room.sums, "one", "sums")
    assert read_card(room.store, card.digest) == card
    files = flatten(room.store, read_manifest(room.store, card.material))
    assert {path: read_blob(room.store, entry.digest) for path, entry in files.items()} == {
        PROMPT: b"Sum the numbers.",
        f"{INPUTS}numbers.txt": b"1\n2\n",
    }


def test_the_same_task_has_the_same_digest_wherever_it_lies(tmp_path: Path) -> None:
    cards = []
    for name in ("a", "b"):
        room = WorkRoom(tmp_path / name)
        cards.append(material(room.store, room.sums, "one", "sums").digest)
    assert cards[0] == cards[1]


@pytest.mark.parametrize("change", ["inputs", "prompt", "expects", "limit"])
def test_a_changed_task_has_another_digest(room: WorkRoom, change: str) -> None:
    before = material(room.store, room.sums, "one", "sums").digest
    if change == "inputs":
        (room.sums.root / "inputs" / "numbers.txt").write_text("1\n3\n")
    elif change == "prompt":
        room.sums.prompt = "Other words."
    elif change == "expects":
        room.sums.expects = ("sum.txt",)
    else:
        room.sums.limit_seconds = 7
    assert material(room.store, room.sums, "one", "sums").digest != before


@pytest.mark.parametrize("where", [".git", "deep/er/.git", "sub/.GIT"])
def test_version_control_data_stays_out_at_any_level(room: WorkRoom, where: str) -> None:
    hidden = room.sums.root / "inputs" / where / "logs"
    hidden.mkdir(parents=True)
    (hidden / "HEAD").write_text("the solution is in here")
    card = material(room.store, room.sums, "one", "sums")
    assert list(flatten(room.store, read_manifest(room.store, card.material))) == [f"{INPUTS}numbers.txt", PROMPT]
    assert b"the solution is in here" not in room.everything()


def test_a_link_among_the_inputs_is_refused_by_name(room: WorkRoom) -> None:
    (room.sums.root / "inputs" / "more.txt").symlink_to(room.sums.root / "key.txt")
    with pytest.raises(InvalidValue, match=r"'more.txt' is a symbolic link"):
        material(room.store, room.sums, "one", "sums")


def test_a_pipe_among_the_inputs_is_refused_by_name(room: WorkRoom) -> None:
    os.mkfifo(room.sums.root / "inputs" / "pipe")
    with pytest.raises(InvalidValue, match=r"'pipe' is a named pipe"):
        material(room.store, room.sums, "one", "sums")


def test_a_hard_link_to_a_grader_side_file_is_refused(room: WorkRoom) -> None:
    os.link(room.sums.root / "key.txt", room.sums.root / "inputs" / "innocent.txt")
    with pytest.raises(InvalidValue, match=r"'innocent.txt' .* is a grader-side file"):
        material(room.store, room.sums, "one", "sums")


def test_a_copy_of_a_grader_side_file_is_refused_before_any_agent_sees_it(room: WorkRoom) -> None:
    secret = "the answer is 3, and this is why it is 3\n"
    (room.sums.root / "key.txt").write_text(secret)
    (room.sums.inputs / "innocent.txt").write_text(secret)
    with pytest.raises(InvalidValue, match=r"'innocent.txt' .* is a copy of the grader-side file .*key\.txt"):
        material(room.store, room.sums, "one", "sums")


@pytest.mark.parametrize("text", ["the answer is 4, and this is why it is 4\n", "1\n"])
def test_another_file_of_equal_size_and_a_short_one_are_taken(room: WorkRoom, text: str) -> None:
    (room.sums.root / "key.txt").write_text(text.replace("4", "3"))
    (room.sums.inputs / "other.txt").write_text(text)
    material(room.store, room.sums, "one", "sums")


def test_an_input_below_a_grader_side_directory_is_refused(room: WorkRoom) -> None:
    class Everything(SumsBench):
        def grader_side(self, task: str) -> Mapping[str, Path]:
            return {"all": self.inputs}

    with pytest.raises(InvalidValue, match="is a grader-side file"):
        material(room.store, Everything(room.sums.root), "one", "sums")


def test_a_grader_side_directory_reached_by_a_linked_parent_is_found_too(room: WorkRoom, tmp_path: Path) -> None:
    (tmp_path / "alias").symlink_to(room.sums.root)
    bench = _bringing(room, {"k.txt": tmp_path / "alias" / "key.txt"})
    with pytest.raises(InvalidValue, match="is a grader-side file"):
        material(room.store, bench, "one", "sums")


def test_a_name_that_is_no_utf8_is_refused_clearly(room: WorkRoom) -> None:
    (room.sums.root / "inputs" / os.fsdecode(b"caf\xe9")).write_text("x")
    with pytest.raises(InvalidValue, match="not valid UTF-8"):
        material(room.store, room.sums, "one", "sums")


def test_an_input_that_is_not_there_is_named(room: WorkRoom) -> None:
    bench = _bringing(room, {"gone.txt": room.sums.root / "gone.txt"})
    with pytest.raises(ConfigError, match=r"gone\.txt"):
        material(room.store, bench, "one", "sums")


def test_a_directory_stands_for_the_files_in_it(room: WorkRoom) -> None:
    bench = _bringing(room, {"data": room.sums.root / "inputs"})
    card = material(room.store, bench, "one", "sums")
    assert f"{INPUTS}data/numbers.txt" in flatten(room.store, read_manifest(room.store, card.material))


def test_grader_side_files_are_stored_for_judges_alone(room: WorkRoom) -> None:
    manifest = grader_manifest(room.store, room.sums, "one")
    assert room.text(manifest.entries["key.txt"]) == "the answer is 3\n"
    card = material(room.store, room.sums, "one", "sums")
    named = {entry.digest for entry in flatten(room.store, read_manifest(room.store, card.material)).values()}
    assert manifest.entries["key.txt"].digest not in named


def _bringing(room: WorkRoom, files: Mapping[str, Path]) -> SumsBench:
    class Brings(SumsBench):
        def task(self, id: str) -> Task:
            return evolve(super().task(id), files=FrozenMap(files))

    return Brings(room.sums.root)
