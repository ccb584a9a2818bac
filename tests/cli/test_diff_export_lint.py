"""What people do with harnesses: compare two, take one out, check a folder."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from attrs import evolve

from harness2_core.api import FrozenMap, Install

SKIPS_NOTES = "+        if line.startswith('#'):"


def test_diff_is_from_base_to_adopted(bench: Any, typed: Callable[..., Any]) -> None:
    typed("run")
    said = typed("diff", "sums/first")
    assert said.code == 0
    assert said.out.startswith("--- base/scripts/solve.py\n+++ adopted/scripts/solve.py\n")
    assert SKIPS_NOTES in said.out


@pytest.mark.parametrize(
    ("span", "first", "last"),
    [
        ("inv1..dom1", "inv1", "dom1"),
        ("dom1", "base", "dom1"),
        ("inv1..", "inv1", "adopted"),
        ("..inv1", "base", "inv1"),
    ],
)
def test_a_span_names_its_ends(bench: Any, typed: Callable[..., Any], span: str, first: str, last: str) -> None:
    typed("run")
    said = typed("diff", "sums/first", span)
    assert said.out.splitlines()[:2] == [f"--- {first}/scripts/solve.py", f"+++ {last}/scripts/solve.py"]


def test_a_base_rollout_s_harness_is_the_base(bench: Any, typed: Callable[..., Any]) -> None:
    typed("run")
    assert typed("diff", "sums/first", "base1").out == "no difference\n"


def test_an_unknown_label_names_the_nearest(bench: Any, typed: Callable[..., Any]) -> None:
    typed("run")
    said = typed("diff", "sums/first", "inw1..adopted")
    assert said.code == 1
    assert "did you mean 'inv1'?" in said.err


def test_a_label_that_means_two_harnesses_asks_for_the_mode(bench: Any, typed: Callable[..., Any]) -> None:
    typed("run", "--modes", "parallel,null")
    said = typed("diff", "sums/first", "inv1")
    assert said.code == 1
    assert "another harness in each mode: agg, nul" in said.err
    assert SKIPS_NOTES in typed("diff", "sums/first", "inv1", "--mode", "agg").out
    assert typed("diff", "sums/first", "inv1", "--mode", "nul").out == "no difference\n"


def test_where_nothing_was_adopted_diff_says_so(bench: Any, typed: Callable[..., Any]) -> None:
    typed("run", "--modes", "sampling")
    said = typed("diff", "sums/first")
    assert said.code == 1
    assert "nothing was adopted of sums/first" in said.err


@pytest.mark.process
def test_an_exported_harness_works_as_it_lies_there(bench: Any, typed: Callable[..., Any], tmp_path: Path) -> None:
    bench.set(substrate="python")
    typed("run")
    said = typed("export", "sums/first", "--to", "out", "--json")
    assert said.err == ""
    done = said.json
    assert (tmp_path / "out" / "output").is_dir()  # as in a rollout: not every program makes it
    (tmp_path / "out" / "inputs").mkdir()
    (tmp_path / "out" / "inputs" / "numbers.txt").write_text("# a note\n1 000\n")
    ended = subprocess.run(
        done["argv"], cwd=tmp_path / "out", env={**os.environ, **done["env"]}, stdin=subprocess.DEVNULL
    )
    assert (said.code, ended.returncode) == (0, 0)
    assert "harness/scripts/solve.py" in done["files"]
    assert (tmp_path / "out" / "output" / "sum.txt").read_text() == "1000\n"


def test_an_exported_harness_is_started_with_the_configured_model_and_no_key_is_written(
    bench: Any, typed: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    from harness2_local.python_substrate import PythonSubstrate

    plainly = PythonSubstrate.install

    def install(self: PythonSubstrate, tree: Any, prompt: str, channel: Any, place: Any, endpoint: Any) -> Install:
        done = plainly(self, tree, prompt, channel, place, endpoint)
        return evolve(done, env=FrozenMap({**done.env, "MODEL_URL": endpoint.url, "MODEL_KEY": endpoint.key}))

    monkeypatch.setattr(PythonSubstrate, "install", install)
    monkeypatch.setenv("MY_KEY", "canary-key")
    options = (
        *("-o", "roles.executor.options.url=http://127.0.0.1:9/v1"),
        *("-o", "roles.executor.options.key_variable=MY_KEY"),
    )
    bench.set(substrate="python")
    typed("run", *options)

    written = typed("export", "sums/first", "--to", "out", "--json", *options)
    said = typed("export", "sums/first", "--to", "again", *options)

    assert (written.json["env"]["MODEL_URL"], written.json["key_variable"]) == ("http://127.0.0.1:9/v1", "MY_KEY")
    assert 'MODEL_KEY="$MY_KEY"' in said.out
    assert "canary-key" not in written.out + said.out


def test_a_domain_s_export_is_its_newest_entry(bench: Any, typed: Callable[..., Any]) -> None:
    bench.task("sums/second", "3\n# a note\n", "3")
    typed("run")
    assert typed("export", "sums", "--to", "out", "--json").json["task"] == "sums/second"


def test_of_an_agent_behind_a_service_the_tree_itself_is_exported(bench: Any, typed: Callable[..., Any]) -> None:
    typed("run")
    said = typed("export", "sums/first", "--to", "out")
    assert SKIPS_NOTES[1:] in Path("out/scripts/solve.py").read_text()
    assert "start it" not in said.out


def test_a_directory_with_something_in_it_is_left_alone(bench: Any, typed: Callable[..., Any]) -> None:
    typed("run")
    Path("out").mkdir()
    Path("out/mine").write_text("mine")
    said = typed("export", "sums/first", "--to", "out")
    assert said.code == 1
    assert "exists and is not empty" in said.err
    assert [path.name for path in Path("out").iterdir()] == ["mine"]


def test_what_was_not_adopted_cannot_be_exported(bench: Any, typed: Callable[..., Any]) -> None:
    typed("run")
    for name, told in (("sumz", "did you mean 'sums'?"), ("sums/frist", "did you mean 'sums/first'?")):
        said = typed("export", name, "--to", "out")
        assert said.code == 1
        assert told in said.err
        assert not Path("out").exists()


def test_a_harness_that_fits_its_surface_passes(bench: Any, typed: Callable[..., Any]) -> None:
    said = typed("lint", str(bench.folder / "base"), "--substrate", "pocket", "--json")
    assert (said.code, said.json["ok"], said.json["files"]) == (0, True, 1)
    assert said.json["fingerprint"] == bench.reading().study.base_digest


def test_all_problems_of_a_folder_are_told_at_once(bench: Any, typed: Callable[..., Any]) -> None:
    folder = bench.write("mine/notes.md", "x\n").parent
    (folder / "link").symlink_to("/etc")
    (folder / "bad.py~").write_text("")
    said = typed("lint", str(folder), "--substrate", "pocket", "--json")
    assert (said.code, said.json["ok"], said.json["fingerprint"]) == (1, False, "")
    told = "\n".join(said.json["problems"])
    assert "'link' is a symbolic link" in told
    assert "'notes.md': not on the editable surface" in told
    assert "scripts/solve.py: must exist" in told
    assert said.json["notes"] == ["ignored 'bad.py~': left behind by a tool"]


def test_lint_needs_no_configuration(bench: Any, typed: Callable[..., Any]) -> None:
    Path("harness2.toml").write_text("")
    assert typed("lint", str(bench.folder / "base"), "--substrate", "po").code == 0


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (("nowhere", "--substrate", "pocket"), "no such directory"),
        ((".", "--substrate", "pockt"), "did you mean 'pocket'"),
    ],
)
def test_a_wrong_folder_or_agent_is_told(typed: Callable[..., Any], arguments: tuple[str, ...], told: str) -> None:
    said = typed("lint", *arguments)
    assert said.code == 1
    assert told in said.err
