from __future__ import annotations

import os

import pytest

from harness2_core.api import ConfigError, InvalidValue
from harness2_core.work.material import INPUTS, PROMPT, grader_manifest, material
from harness2_core.work.trees import flatten, read_blob, read_card, read_manifest


def test_a_task_is_read_back_from_the_store_as_it_was(toys) -> None:
    toys.bench.expects = ("sum.txt",)
    card = material(toys.store, toys.bench, "one", "toys")
    assert read_card(toys.store, card.digest) == card
    files = flatten(toys.store, read_manifest(toys.store, card.material))
    assert {path: read_blob(toys.store, entry.digest) for path, entry in files.items()} == {
        PROMPT: b"Sum the numbers of task one.",
        f"{INPUTS}numbers.txt": b"1\n2\n",
    }


def test_the_same_task_has_the_same_digest_wherever_it_lies(toys_at, tmp_path) -> None:
    cards = []
    for name in ("a", "b"):
        (tmp_path / name).mkdir()
        toys = toys_at(tmp_path / name)
        cards.append(material(toys.store, toys.bench, "one", "toys").digest)
    assert cards[0] == cards[1]


@pytest.mark.parametrize("change", ["inputs", "prompt", "expects", "limit"])
def test_a_changed_task_has_another_digest(toys, change) -> None:
    before = material(toys.store, toys.bench, "one", "toys").digest
    if change == "inputs":
        (toys.bench.root / "inputs" / "numbers.txt").write_text("1\n3\n")
    elif change == "prompt":
        task = toys.bench.task
        toys.bench.task = lambda id: __import__("attrs").evolve(task(id), prompt="Other words.")
    elif change == "expects":
        toys.bench.expects = ("sum.txt",)
    else:
        toys.bench.limit_seconds = 7
    assert material(toys.store, toys.bench, "one", "toys").digest != before


@pytest.mark.parametrize("where", [".git", "deep/er/.git", "sub/.GIT"])
def test_version_control_data_stays_out_at_any_level(toys, where) -> None:
    hidden = toys.bench.root / "inputs" / where / "logs"
    hidden.mkdir(parents=True)
    (hidden / "HEAD").write_text("the solution is in here")
    card = material(toys.store, toys.bench, "one", "toys")
    assert list(flatten(toys.store, read_manifest(toys.store, card.material))) == [f"{INPUTS}numbers.txt", PROMPT]
    assert b"the solution is in here" not in toys.store.blobs.values()


def test_a_link_among_the_inputs_is_refused_by_name(toys) -> None:
    (toys.bench.root / "inputs" / "more.txt").symlink_to(toys.bench.root / "key.txt")
    with pytest.raises(InvalidValue, match=r"'more.txt' is a symbolic link"):
        material(toys.store, toys.bench, "one", "toys")


def test_a_pipe_among_the_inputs_is_refused_by_name(toys) -> None:
    os.mkfifo(toys.bench.root / "inputs" / "pipe")
    with pytest.raises(InvalidValue, match=r"'pipe' is a named pipe"):
        material(toys.store, toys.bench, "one", "toys")


def test_a_hard_link_to_a_grader_side_file_is_refused(toys) -> None:
    os.link(toys.bench.root / "key.txt", toys.bench.root / "inputs" / "innocent.txt")
    with pytest.raises(InvalidValue, match=r"'innocent.txt' .* is a grader-side file"):
        material(toys.store, toys.bench, "one", "toys")


def test_an_input_below_a_grader_side_directory_is_refused(toys) -> None:
    toys.bench.grader_side = lambda task: {"all": toys.bench.root / "inputs"}
    with pytest.raises(InvalidValue, match="is a grader-side file"):
        material(toys.store, toys.bench, "one", "toys")


def test_a_grader_side_directory_reached_by_a_linked_parent_is_found_too(toys, tmp_path) -> None:
    (tmp_path / "alias").symlink_to(toys.bench.root)
    task = toys.bench.task("one")
    from attrs import evolve

    toys.bench.task = lambda id: evolve(task, files={"k.txt": tmp_path / "alias" / "key.txt"})
    with pytest.raises(InvalidValue, match="is a grader-side file"):
        material(toys.store, toys.bench, "one", "toys")


def test_a_name_that_is_no_utf8_is_refused_clearly(toys) -> None:
    (toys.bench.root / "inputs" / os.fsdecode(b"caf\xe9")).write_text("x")
    with pytest.raises(InvalidValue, match="not valid UTF-8"):
        material(toys.store, toys.bench, "one", "toys")


def test_an_input_that_is_not_there_is_named(toys) -> None:
    from attrs import evolve

    task = toys.bench.task("one")
    toys.bench.task = lambda id: evolve(task, files={"gone.txt": toys.bench.root / "gone.txt"})
    with pytest.raises(ConfigError, match=r"gone\.txt"):
        material(toys.store, toys.bench, "one", "toys")


def test_a_directory_stands_for_the_files_in_it(toys) -> None:
    from attrs import evolve

    task = toys.bench.task("one")
    toys.bench.task = lambda id: evolve(task, files={"data": toys.bench.root / "inputs"})
    card = material(toys.store, toys.bench, "one", "toys")
    assert f"{INPUTS}data/numbers.txt" in flatten(toys.store, read_manifest(toys.store, card.material))


def test_grader_side_files_are_stored_for_judges_alone(toys) -> None:
    manifest = grader_manifest(toys.store, toys.bench, "one")
    assert toys.store.text(manifest.entries["key.txt"]) == "the answer is 3\n"
    card = material(toys.store, toys.bench, "one", "toys")
    named = {entry.digest for entry in flatten(toys.store, read_manifest(toys.store, card.material)).values()}
    assert manifest.entries["key.txt"].digest not in named
