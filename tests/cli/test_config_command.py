"""`config`: each value and where it comes from; setting one leaves the rest of the file alone."""

from __future__ import annotations

import stat
import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import tomlkit
from hypothesis import given
from hypothesis import strategies as st

from harness2_core.cli import main
from harness2_core.model.errors import ConfigError
from harness2_core.plugins.config_edit import with_value

FILE = """\
# What this is for.

[run]
bench = "tasks"   # our own
k = 1             # few

[adapters.tasks]
path = "bench"

[roles.improver.options]
api_key = "canary-1"
url = "https://user:canary-2@host.invalid/v1"
"""


@pytest.fixture
def file(bench: Any, monkeypatch: pytest.MonkeyPatch) -> Path:
    path: Path = bench.root / "harness2.toml"
    path.write_text(FILE, encoding="utf-8")
    return path


def test_each_value_is_shown_with_its_origin(
    file: Path, typed: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HARNESS2_RUN__K", "3")
    found = {item["key"]: item for item in typed("config", "show", "--all", "--json").json}
    assert (found["run.bench"]["shown"], found["run.bench"]["origin"]) == ('"tasks"', f"{file}:4")
    assert (found["run.k"]["shown"], found["run.k"]["origin"]) == ('"3"', "variable HARNESS2_RUN__K")
    assert (found["run.slots"]["shown"], found["run.slots"]["origin"]) == ("4", "")
    assert found["adapters.tasks.path"]["origin"] == f"{file}:8"


def test_secrets_are_hidden_wherever_settings_are_shown(file: Path, typed: Callable[..., Any]) -> None:
    for arguments in (("show",), ("show", "--json"), ("get", "roles.improver.options"),
                      ("get", "roles.improver.options.api_key")):  # fmt: skip
        said = typed("config", *arguments)
        assert said.code == 0
        assert "(hidden)" in said.out
        assert "canary" not in said.out + said.err


def test_what_a_settings_class_calls_secret_is_hidden_too(bench: Any, typed: Callable[..., Any]) -> None:
    bench.plugin(
        "judge",
        "shy",
        """
        from attrs import field, frozen

        @frozen
        class Settings:
            phrase: str = field(default="", repr=False)

        class Made: ...
        """,
        settings="shy_judge_made:Settings",
    )
    bench.options["judges.shy.phrase"] = "canary"
    for arguments in (
        ("show",),
        ("show", "--all", "--json"),
        ("get", "judges.shy.phrase"),
        ("get", "judges.shy.phrase", "--json"),
    ):
        said = typed("config", *arguments)
        assert said.code == 0
        assert "(hidden)" in said.out
        assert "canary" not in said.out + said.err


def test_get_prints_the_value_alone(file: Path, typed: Callable[..., Any]) -> None:
    said = typed("config", "get", "run.bench")
    assert (said.out, said.err) == ("tasks\n", f"from {file}:4\n")
    said = typed("config", "get", "run.pool")
    assert (said.out, said.err) == ("finals\n", "from the default\n")


def test_set_keeps_comments_order_and_everything_else(file: Path, typed: Callable[..., Any]) -> None:
    said = typed("config", "set", "run.k", "2")
    assert said.code == 0
    assert file.read_text(encoding="utf-8") == FILE.replace("k = 1  ", "k = 2  ")


@pytest.mark.parametrize(
    ("key", "value", "held"),
    [
        ("run.strict", "yes", True),
        ("run.modes", "parallel, sequential", ["parallel", "sequential"]),
        ("run.max_usd", "2.5", "2.5"),
        ("library.max_harnesses", "3", 3),
        ("roles.judge.limit_seconds", "60", 60),
        ("roles.judge.options.url", "https://host.invalid", "https://host.invalid"),
        ("adapters.tasks.name", "mine", "mine"),
    ],
)
def test_a_value_is_written_as_its_type_and_read_back(
    file: Path, typed: Callable[..., Any], key: str, value: str, held: object
) -> None:
    said = typed("config", "set", key, value)
    assert said.code == 0, said.err
    found: Any = tomllib.loads(file.read_text(encoding="utf-8"))
    for part in key.split("."):
        found = found[part]
    assert found == held


@pytest.mark.parametrize(
    ("key", "value", "told"),
    [
        ("run.k", "none", "give an integer"),
        ("run.k", "0", "at least 1"),
        ("run.slot", "2", "did you mean 'slots'"),
        ("rum.k", "2", "did you mean 'run'"),
        ("roles.improvr.model", "m", "did you mean 'improver'"),
        ("adapters.task.path", "x", "did you mean 'tasks'"),
        ("run.pool", "all", "'finals', 'mixed'"),
        ("run", "2", "names no key"),
        ("run.max_usd", "-1", "max_usd"),
    ],
)
def test_what_is_wrong_is_told_and_not_written(
    file: Path, typed: Callable[..., Any], key: str, value: str, told: str
) -> None:
    said = typed("config", "set", "--", key, value)
    assert said.code == 1
    assert told in said.err
    assert file.read_text(encoding="utf-8") == FILE


def test_set_makes_the_file_where_there_is_none(bench: Any, typed: Callable[..., Any]) -> None:
    typed("config", "path")
    (bench.root / "harness2.toml").unlink()
    assert main.run(["config", "set", "run.k", "2"]) == 0
    assert (bench.root / "harness2.toml").read_text() == "[run]\nk = 2\n"


def test_what_overrides_the_file_is_said(
    file: Path, typed: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HARNESS2_RUN__K", "3")
    said = typed("config", "set", "run.k", "2")
    assert "variable HARNESS2_RUN__K overrides it" in said.err


def test_path_names_the_file_in_use(file: Path, typed: Callable[..., Any]) -> None:
    assert typed("config", "path").out == f"{file}\n"


def test_the_file_s_permissions_stay(file: Path, typed: Callable[..., Any]) -> None:
    file.chmod(0o600)
    typed("config", "set", "run.k", "2")
    assert stat.S_IMODE(file.stat().st_mode) == 0o600


NAMES = st.sampled_from(["a", "b", "c d", "é"])


@given(
    st.dictionaries(NAMES, st.integers() | st.dictionaries(NAMES, st.integers(), max_size=2), max_size=3),
    st.lists(NAMES, min_size=1, max_size=3),
    st.integers() | st.text(st.characters(exclude_categories=["Cs"])) | st.booleans() | st.lists(st.sampled_from("xy")),
)
def test_setting_a_value_changes_that_value_alone(before: dict[str, Any], keys: list[str], value: Any) -> None:
    text = "# a comment\n" + tomlkit.dumps(before)
    try:
        after = tomllib.loads(with_value(text, tuple(keys), value, "the file"))
    except ConfigError:
        assert any(not isinstance(_at(before, keys[:depth]), dict | None) for depth in range(1, len(keys)))
        return
    assert _at(after, keys) == value
    assert _without(after, keys) == _without(before, keys)


def _at(data: Any, keys: list[str]) -> Any:
    for key in keys:
        data = data.get(key) if isinstance(data, dict) else None
    return data


def _without(data: Any, keys: list[str]) -> Any:
    """`data` without that value, and without tables that are empty then."""
    if not isinstance(data, dict):
        return data
    rest = {key: _without(item, keys[1:]) if key == keys[0] else item for key, item in data.items()} if keys else {}
    if len(keys) == 1:
        rest.pop(keys[0], None)
    return {key: item for key, item in rest.items() if item != {}}
