"""The contract of substrates. Subclass it in your tests and give `substrate`, `tree` and, best, recorded `streams`.

`working_tree` is a harness with which the agent comes to a good end by itself, without a model: it is then run once.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness2_core.api import (
    Accepted,
    Channel,
    Check,
    ChecksTree,
    Endpoint,
    Exit,
    Failure,
    FrozenMap,
    HarnessTree,
    Install,
    Place,
    Rejected,
    Resources,
    Substrate,
    Trajectory,
    accept,
    render,
)

from .fake_context import FakeContext
from .family import Family

PLACE = Place("/workspace", "/home/agent", "/workspace/output")
CANARY = "canary-of-the-host-7f3a"
KEY = "canary-key-of-one-run-c2d1"


class SubstrateContract:
    @pytest.fixture
    def substrate(self) -> Substrate:
        raise NotImplementedError("give the substrate under test")

    @pytest.fixture
    def tree(self) -> HarnessTree:
        raise NotImplementedError("give a harness tree that its surface takes, with a file of each kind it knows")

    @pytest.fixture
    def streams(self) -> Sequence[bytes]:
        """Standard outputs as recorded from the agent."""
        return (b"a line\n", "ünïcode – ☃\n".encode(), b"")

    @pytest.fixture
    def working_tree(self) -> HarnessTree | None:
        """A harness that the agent runs to a good end here, with no model to ask; `None` when it cannot."""
        return None

    def test_it_is_a_substrate(self, substrate: Substrate) -> None:
        assert isinstance(substrate, Substrate)

    def test_its_surface_takes_the_tree(self, substrate: Substrate, tree: HarnessTree) -> None:
        taken = accept(substrate.surface, _files(tree), _checks(substrate))
        assert isinstance(taken, Accepted), taken

    def test_its_surface_refuses_a_file_that_is_nowhere_on_it(self, substrate: Substrate, tree: HarnessTree) -> None:
        taken = accept(substrate.surface, {**_files(tree), "nowhere/on it.xyz": b"x"}, _checks(substrate))
        assert isinstance(taken, Rejected)
        assert any("nowhere/on it.xyz" in problem for problem in taken.problems)

    def test_its_surface_is_the_same_each_time(self, substrate: Substrate) -> None:
        assert substrate.surface.digest == substrate.surface.digest

    def test_install_is_pure(self, substrate: Substrate, tree: HarnessTree) -> None:
        assert _installed(substrate, tree) == _installed(substrate, tree)

    def test_install_carries_every_file_of_the_tree(self, substrate: Substrate, tree: HarnessTree) -> None:
        install = _installed(substrate, tree)
        written = [*install.files.values(), *install.home.values()]
        for path, text in tree.files.items():
            assert any(text.strip().encode() in data for data in written), f"{path} is not installed"

    def test_install_carries_the_prompt(self, substrate: Substrate, tree: HarnessTree) -> None:
        install = _installed(substrate, tree, "Sort the pebbles by weight.")
        carried = b"\n".join([install.stdin, *install.files.values(), *install.home.values(), *_bytes(install.argv)])
        assert b"Sort the pebbles by weight." in carried

    def test_install_brings_nothing_of_the_host(
        self, substrate: Substrate, tree: HarnessTree, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        for name in ("HARNESS2_CANARY", "ANTHROPIC_API_KEY", "OPENAI_API_KEY", "AWS_SECRET_ACCESS_KEY"):
            monkeypatch.setenv(name, CANARY)
        install = _installed(substrate, tree)
        everything = [*install.env.values(), *install.argv]
        assert not [text for text in everything if CANARY in text]
        assert not [path for path, data in {**install.files, **install.home}.items() if CANARY.encode() in data]

    def test_the_key_is_not_on_the_command_line(self, substrate: Substrate, tree: HarnessTree) -> None:
        install = _installed(substrate, tree)
        assert not [text for text in install.argv if KEY in text], "every user of a machine can read command lines"

    def test_what_it_reads_is_absolute(self, substrate: Substrate, tree: HarnessTree) -> None:
        assert all(path.is_absolute() for path in _installed(substrate, tree).reads)

    def test_streams_may_be_cut_anywhere(self, substrate: Substrate, streams: Sequence[bytes]) -> None:
        @given(st.data())
        def holds(data: st.DataObject) -> None:
            whole = data.draw(st.sampled_from(list(streams)))
            cut = data.draw(st.integers(0, len(whole)))
            _parsed(substrate, [whole[:cut]], [whole[cut:]], _exit(None, 9))

        holds()

    def test_any_bytes_are_read(self, substrate: Substrate) -> None:
        @given(st.lists(st.binary()), st.lists(st.binary()))
        def holds(stdout: list[bytes], stderr: list[bytes]) -> None:
            _parsed(substrate, stdout, stderr, _exit(0))

        holds()

    def test_the_size_of_chunks_means_nothing(self, substrate: Substrate, streams: Sequence[bytes]) -> None:
        @given(st.data())
        def holds(data: st.DataObject) -> None:
            whole = data.draw(st.sampled_from(list(streams)))
            size = data.draw(st.integers(1, max(1, len(whole))))
            chunks = [whole[start : start + size] for start in range(0, len(whole), size)]
            assert _parsed(substrate, chunks, [], _exit(0)) == _parsed(substrate, [whole], [], _exit(0))

        holds()

    @pytest.mark.process
    def test_what_it_installs_runs_and_what_that_prints_is_read(
        self,
        substrate: Substrate,
        working_tree: HarnessTree | None,
        tmp_path: Path,
        monkeypatch: pytest.MonkeyPatch,
    ) -> None:
        if working_tree is None:
            pytest.skip("no harness is given with which it works by itself")
        monkeypatch.setenv("HARNESS2_CANARY", CANARY)
        ctx, workspace = FakeContext(tmp_path / "context"), tmp_path / "workspace"
        (workspace / "output").mkdir(parents=True)
        with Family() as family:
            install = substrate.install(working_tree, "Do the task.", Channel(), ctx.place(workspace), Endpoint())
            ended = ctx.spawn(install, workspace, 300)

        trajectory = _parsed(substrate, [ended.stdout.read_bytes()], [ended.stderr.read_bytes()], ended)
        assert ended.code == 0, ended.stderr.read_text(errors="replace")
        assert not [event for event in trajectory.events if isinstance(event, Failure)]
        assert trajectory.events
        assert family.left == []
        assert CANARY not in render(trajectory)

    @pytest.mark.parametrize(
        "exit",
        [
            Exit(1, None, False, False, Path("stdout"), Path("stderr")),
            Exit(None, 9, False, False, Path("stdout"), Path("stderr")),
            Exit(None, 9, True, False, Path("stdout"), Path("stderr")),
        ],
        ids=["failed", "killed", "timed out"],
    )
    def test_an_ending_that_is_not_good_can_be_seen(self, substrate: Substrate, exit: Exit) -> None:
        good, bad = _parsed(substrate, [], [], _exit(0)), _parsed(substrate, [], [], exit)
        assert render(bad) != render(good)


def _installed(substrate: Substrate, tree: HarnessTree, prompt: str = "Do the task.") -> Install:
    endpoint = Endpoint("http://127.0.0.1:9/v1", KEY, FrozenMap({}))
    return substrate.install(tree, prompt, Channel(model="vendor/model"), PLACE, endpoint)


def _parsed(substrate: Substrate, stdout: Sequence[bytes], stderr: Sequence[bytes], exit: Exit) -> Trajectory:
    trajectory = substrate.parse(iter(stdout), iter(stderr), exit)
    render(trajectory).encode()
    return trajectory


def _exit(code: int | None, signal: int | None = None) -> Exit:
    return Exit(code, signal, False, False, Path("stdout"), Path("stderr"), Resources())


def _files(tree: HarnessTree) -> dict[str, bytes]:
    return {path: text.encode() for path, text in tree.files.items()}


def _checks(substrate: Substrate) -> list[Check]:
    return [substrate.check_tree] if isinstance(substrate, ChecksTree) else []


def _bytes(texts: Sequence[str]) -> list[bytes]:
    return [text.encode() for text in texts]
