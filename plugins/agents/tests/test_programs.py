"""Finding the program of an agent."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from attrs import evolve
from harness2_agents import programs
from harness2_agents.pinned import PINNED
from harness2_agents.programs import Package, agents_directory, find, problems, remark

from harness2_core.api import ConfigError

pytestmark = pytest.mark.process

PACKAGE = Package("@maker/toyagent", "2.0.0", "toyagent", ("@maker/toyagent-{platform}/bin/toyagent",), "1.5.0", 5)


def write_program(path: Path, says: str = "toyagent 2.0.0", *, native: bool = True, code: int = 0) -> Path:
    """A program that tells a version; a native one is of the size that native ones have."""
    path.parent.mkdir(parents=True, exist_ok=True)
    padding = "#" * (programs._STUB_BYTES if native else 0)
    path.write_text(f"#!/bin/sh\necho asked >> '{path}.log'\necho '{says}'\nexit {code}\n{padding}\n", encoding="utf-8")
    path.chmod(0o755)
    return path


def write_package(modules: Path, version: str = "2.0.0") -> Path:
    """An npm package: a script, and the native program in a package for this machine. Gives the native one."""
    script = modules / "@maker" / "toyagent" / "bin" / "toyagent.js"
    write_program(script, native=False, says="the script")
    return write_program(modules / "@maker" / "toyagent-testos-test64" / "bin" / "toyagent", f"toyagent {version}")


def on_path(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", f"{path.parent}{os.pathsep}{os.defpath}")


def test_the_setting_goes_before_everything(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    own = write_program(tmp_path / "own", native=False)
    write_package(agents_directory() / "toyagent" / "2.0.0" / "node_modules")
    on_path(write_program(tmp_path / "bin" / "toyagent", native=False), monkeypatch)
    assert find(PACKAGE, own).path == own


def test_what_was_set_up_goes_before_the_path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    native = write_package(agents_directory() / "toyagent" / "2.0.0" / "node_modules")
    on_path(write_program(tmp_path / "bin" / "toyagent", native=False), monkeypatch)
    assert find(PACKAGE).path == native


def test_else_it_is_found_on_the_path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    own = write_program(tmp_path / "bin" / "toyagent", native=False)
    on_path(own, monkeypatch)
    assert find(PACKAGE).path == own
    assert find(PACKAGE).reads == (own,)


def test_the_pinned_version_goes_before_others_that_were_set_up_and_the_newest_of_those_is_next() -> None:
    home = agents_directory() / "toyagent"
    places = {version: write_package(home / version / "node_modules", version) for version in ("1.9.0", "1.10.0")}
    assert find(PACKAGE).path == places["1.10.0"]
    assert find(PACKAGE).path == places["1.10.0"]
    pinned = write_package(home / "2.0.0" / "node_modules")
    assert find(PACKAGE).path == pinned


def test_the_native_program_runs_in_place_of_the_script_that_npm_links(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    native = write_package(tmp_path / "lib" / "node_modules")
    link = tmp_path / "bin" / "toyagent"
    link.parent.mkdir()
    link.symlink_to(tmp_path / "lib" / "node_modules" / "@maker" / "toyagent" / "bin" / "toyagent.js")
    on_path(link, monkeypatch)
    found = find(PACKAGE)
    assert found.path == native
    assert found.reads == (native.parent.parent,)


def test_the_native_program_is_also_found_below_a_package_that_is_installed_globally(tmp_path: Path) -> None:
    package = tmp_path / "lib" / "node_modules" / "@maker" / "toyagent"
    script = write_program(package / "bin" / "toyagent.js", native=False)
    native = write_package(package / "node_modules")
    assert find(PACKAGE, script).path == native


def test_a_script_without_its_native_program_is_told(tmp_path: Path) -> None:
    script = write_program(tmp_path / "node_modules" / "@maker" / "toyagent" / "toyagent.js", native=False)
    with pytest.raises(ConfigError, match="native program for this machine is missing"):
        find(PACKAGE, script)


def test_a_stub_that_waits_for_an_install_script_is_not_the_program() -> None:
    modules = agents_directory() / "toyagent" / "2.0.0" / "node_modules"
    native = write_package(modules)
    write_program(modules / "toyagent" / "stub", native=False)
    assert find(evolve(PACKAGE, natives=("toyagent/stub", *PACKAGE.natives))).path == native


def test_a_native_program_that_does_not_start_here_gives_way_to_the_next() -> None:
    modules = agents_directory() / "toyagent" / "2.0.0" / "node_modules"
    write_program(modules / "fast" / "toyagent", code=132)
    slow = write_program(modules / "slow" / "toyagent")
    assert find(evolve(PACKAGE, natives=("fast/toyagent", "slow/toyagent"))).path == slow


def test_a_directory_may_be_named_in_which_npm_installed_it(tmp_path: Path) -> None:
    native = write_package(tmp_path / "mine" / "node_modules")
    assert find(PACKAGE, tmp_path / "mine").path == native


@pytest.mark.parametrize("kind", ["missing", "directory", "not executable"])
def test_a_setting_that_names_no_program_is_told_with_a_remedy(kind: str, tmp_path: Path) -> None:
    path = tmp_path / "it"
    if kind == "directory":
        path.mkdir()
    if kind == "not executable":
        path.write_text("x")
    [problem] = problems(PACKAGE, path)
    assert "substrates.toyagent.binary" in problem
    assert str(path) in problem


def test_a_missing_agent_is_told_with_the_command_that_brings_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", os.defpath)
    [problem] = problems(PACKAGE)
    assert "harness2 setup toyagent" in problem


def test_the_version_is_asked_for_once_and_with_a_home_of_its_own(tmp_path: Path) -> None:
    own = write_program(tmp_path / "own", native=False, says="toyagent v1.9.3-beta.2 (build 7)")
    assert [find(PACKAGE, own).version for _ in range(3)] == ["1.9.3-beta.2"] * 3
    assert Path(f"{own}.log").read_text() == "asked\n"


def test_a_program_that_was_replaced_is_asked_again(tmp_path: Path) -> None:
    own = write_program(tmp_path / "own", native=False, says="1.9.0")
    assert find(PACKAGE, own).version == "1.9.0"
    write_program(own, native=False, says="toyagent 2.0.0")
    assert find(PACKAGE, own).version == "2.0.0"


def test_another_version_than_the_pinned_one_is_shown_and_no_problem(tmp_path: Path) -> None:
    own = write_program(tmp_path / "own", native=False, says="toyagent 1.6.0")
    assert problems(PACKAGE, own) == ()
    assert remark(PACKAGE, find(PACKAGE, own)) == "toyagent 1.6.0; tested with 2.0.0"


def test_a_version_that_does_not_understand_what_is_written_for_it_is_a_problem(tmp_path: Path) -> None:
    own = write_program(tmp_path / "own", native=False, says="toyagent 1.4.9")
    [problem] = problems(PACKAGE, own)
    assert "1.5.0" in problem
    assert "harness2 setup toyagent" in problem


def test_a_program_that_tells_no_version_is_a_problem(tmp_path: Path) -> None:
    own = write_program(tmp_path / "own", native=False, says="nothing", code=3)
    [problem] = problems(PACKAGE, own)
    assert str(own) in problem


def test_a_program_that_hangs_when_asked_is_ended(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("harness2_agents.programs.VERSION_SECONDS", 0.5)
    own = tmp_path / "own"
    own.write_text("#!/bin/sh\nexec sleep 600\n")
    own.chmod(0o755)
    [problem] = problems(PACKAGE, own)
    assert "does not tell its version" in problem


@pytest.mark.parametrize("name", sorted(PINNED))
def test_every_pinned_agent_says_where_its_native_program_is(name: str) -> None:
    package = PINNED[name]
    assert package.program == name
    assert package.natives
    assert package.megabytes > 0
    assert package.oldest


@pytest.mark.parametrize("binary", ["x" * 300, "~nobody-of-this-name/agent", "a\0b", "/dev/null/agent"])
def test_a_path_that_cannot_be_is_told_as_a_setting_to_mend(binary: str) -> None:
    with pytest.raises(ConfigError) as caught:
        find(PACKAGE, binary)
    assert "substrates.toyagent.binary" in f"{caught.value.what} {caught.value.remedy}"


def test_a_directory_of_agents_that_cannot_be_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(programs.DIRECTORY_VARIABLE, "x" * 300)
    with pytest.raises(ConfigError, match="too long"):
        find(PACKAGE)
