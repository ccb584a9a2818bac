"""The contract of adapters. Subclass it in your tests and give `adapter` and `surface`.

    class TestMine(AdapterContract):
        @pytest.fixture
        def adapter(self): return MyBench(...)
        @pytest.fixture
        def surface(self): return MY_SURFACE

An adapter that reads inputs from folders gives `inputs_of`, one that finds deliverables itself `finished_run`.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from attrs import evolve

from harness2_core.api import (
    Accepted,
    Adapter,
    ChecksTree,
    CollectsOutput,
    Harness2Error,
    HasWords,
    HoldsGrader,
    Preflights,
    Surface,
    accept,
    collisions,
    unsafe,
)

from .hostile_inputs import HOSTILE_INPUTS

HOSTILE_IDS = ("", " ", ".", "..", "../..", "/etc/passwd", "a\x00b", "no/such/task", "inputs", "{id}/..", "{id}/../x")
"""Ids that name no task; `{id}` stands for one that does."""


class AdapterContract:
    @pytest.fixture
    def adapter(self) -> Adapter:
        raise NotImplementedError("give the adapter under test, with at least one task")

    @pytest.fixture
    def surface(self) -> Surface:
        raise NotImplementedError("give the surface of a substrate that the adapter has a base harness for")

    @pytest.fixture
    def inputs_of(self) -> tuple[str, Path] | None:
        """A task and the folder that its inputs are read from; `None` when they come from no folder on this disk."""
        return None

    @pytest.fixture
    def finished_run(self) -> tuple[str, Path] | None:
        """A task and a run directory as its agent leaves it, with something to seal; for adapters with `collect`."""
        return None

    def test_it_is_an_adapter(self, adapter: Adapter) -> None:
        assert isinstance(adapter, Adapter)

    def test_task_ids_are_stable_sorted_and_unique(self, adapter: Adapter) -> None:
        ids = adapter.tasks("all")
        assert ids
        assert list(ids) == sorted(set(ids))
        assert list(adapter.tasks("all")) == list(ids)

    def test_an_unknown_split_is_refused(self, adapter: Adapter) -> None:
        with pytest.raises(Harness2Error):
            adapter.tasks("no such split")

    def test_a_task_is_told_the_same_way_each_time(self, adapter: Adapter) -> None:
        for id in adapter.tasks("all"):
            task = adapter.task(id)
            assert task.id == id
            assert task == adapter.task(id)
            assert task.prompt.strip()

    @pytest.mark.parametrize("hostile", HOSTILE_IDS)
    def test_ids_that_name_no_task_are_refused(self, adapter: Adapter, hostile: str) -> None:
        with pytest.raises(Harness2Error):
            adapter.task(hostile.replace("{id}", adapter.tasks("all")[0]))

    def test_inputs_are_regular_files_at_safe_paths(self, adapter: Adapter) -> None:
        for id in adapter.tasks("all"):
            files = adapter.task(id).files
            assert not [problem for path in files for problem in unsafe(path)]
            assert not collisions(files)
            assert all(path.is_file() and not path.is_symlink() for path in files.values())

    def test_version_control_is_no_input(self, adapter: Adapter) -> None:
        for id in adapter.tasks("all"):
            assert not [path for path in adapter.task(id).files if ".git" in path.split("/")]

    def test_expected_files_are_below_output(self, adapter: Adapter) -> None:
        for id in adapter.tasks("all"):
            assert not [problem for path in adapter.task(id).expects for problem in unsafe(path)]

    def test_grader_side_files_are_no_inputs_even_by_link(self, adapter: Adapter) -> None:
        if not isinstance(adapter, HoldsGrader):
            pytest.skip("it holds no grader-side files")
        ids = adapter.tasks("all")
        hidden = {_identity(path) for id in ids for path in adapter.grader_side(id).values()}
        for id in ids:
            shown = {_identity(path) for path in adapter.task(id).files.values()}
            assert not shown & hidden, f"task {id} hands out a grader-side file"

    @pytest.mark.parametrize("how", HOSTILE_INPUTS)
    def test_a_hostile_folder_of_inputs_is_refused_or_does_no_harm(
        self, how: str, inputs_of: tuple[str, Path] | None, tmp_path: Path, request: pytest.FixtureRequest
    ) -> None:
        if inputs_of is None:
            pytest.skip("its inputs come from no folder")
        id, folder = inputs_of
        adapter = request.getfixturevalue("adapter")
        hidden = dict(adapter.grader_side(id)) if isinstance(adapter, HoldsGrader) else {}
        stand_in = tmp_path / "grader-side" / "answers.txt"
        stand_in.parent.mkdir()
        stand_in.write_text("the answer\n")
        HOSTILE_INPUTS[how](folder, next(iter(hidden.values()), stand_in))

        try:
            files = adapter.task(id).files
        except Harness2Error as refused:
            assert refused.remedy
            assert "odd" in refused.what
            str(refused).encode()
        else:
            assert not collisions(files)
            assert not [problem for path in files for problem in unsafe(path)]
            for path in files.values():
                assert path.is_file() and not path.is_symlink(), f"{path} is no file of its own"
                assert path.resolve().is_relative_to(folder.resolve()), f"{path} lies outside the task"
                assert _identity(path) not in {_identity(item) for item in (*hidden.values(), stand_in)}
                assert ".git" not in path.relative_to(folder).parts

    def test_what_is_sealed_is_not_delivered(self, adapter: Adapter, finished_run: tuple[str, Path] | None) -> None:
        if not isinstance(adapter, CollectsOutput) or finished_run is None:
            pytest.skip("it finds no deliverables itself, or no run is given")
        id, run = finished_run
        found = adapter.collect(run, evolve(adapter.task(id), files={}))  # as the worker calls it
        delivered, sealed = ({_identity(path) for path in part.values()} for part in (found.deliverables, found.sealed))
        assert delivered
        assert sealed
        assert not delivered & sealed
        assert not set(found.deliverables) & set(found.sealed)
        assert all(path.is_file() and not path.is_symlink() for path in found.deliverables.values())

    def test_prompts_do_not_name_grader_side_files(self, adapter: Adapter) -> None:
        if not isinstance(adapter, HoldsGrader):
            pytest.skip("it holds no grader-side files")
        for id in adapter.tasks("all"):
            prompt = adapter.task(id).prompt
            assert not [str(path) for path in adapter.grader_side(id).values() if str(path) in prompt]

    def test_the_base_tree_passes_the_surface(self, adapter: Adapter, surface: Surface) -> None:
        tree = adapter.base_tree(surface)
        if tree is None:
            pytest.skip("it leaves the base harness to the substrate")
        checks = [adapter.check_tree] if isinstance(adapter, ChecksTree) else []
        taken = accept(surface, {path: text.encode() for path, text in tree.files.items()}, checks)
        assert isinstance(taken, Accepted), taken
        assert taken.tree == tree, "the base tree needs repairs: ship it repaired"
        assert adapter.base_tree(surface) == tree

    def test_its_words_are_told_the_same_way_each_time(self, adapter: Adapter) -> None:
        assert adapter.spec == adapter.spec
        if isinstance(adapter, HasWords):
            for id in adapter.tasks("all"):
                assert adapter.words(id) == adapter.words(id)

    def test_preflight_finds_nothing_wrong(self, adapter: Adapter) -> None:
        if isinstance(adapter, Preflights):
            assert tuple(adapter.preflight()) == ()


def _identity(path: Path) -> tuple[int, int]:
    status = path.stat()
    return status.st_dev, status.st_ino
