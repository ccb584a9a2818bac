"""`harness2 plugins new`: names, and that nothing is overwritten. What is generated is tried in `test_scaffolds.py`."""

from __future__ import annotations

import json
import keyword
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness2_core import api
from harness2_core.cli.main import run
from harness2_core.cli.scaffold.kinds import SCAFFOLDS
from harness2_core.cli.scaffold.naming import LONGEST, Names, known_kind, named, plain_name
from harness2_core.cli.scaffold.writing import core_bound, rendered
from harness2_core.model.errors import ConfigError
from harness2_core.model.kinds import KINDS
from harness2_core.plugins.discovery import GROUP, Flaw, Found, Scan

NOTHING = Scan()


def name_of(kind: str, given: str, scan: Scan = NOTHING, distributions: tuple[str, ...] = ()) -> Names:
    return named(kind, given, scan, distributions)


@pytest.mark.parametrize(
    ("given", "plain"),
    [
        ("quorum", "quorum"),
        ("Two.Steps", "two-steps"),
        ("two_steps", "two-steps"),
        ("  Two   Steps ", "two-steps"),
        ("two--steps-", "two-steps"),
        ("harness2-quorum", "quorum"),
        ("Harness2_Quorum", "quorum"),
        ("class", "class"),
        ("None", "none"),
        ("x", "x"),
        ("gpt4", "gpt4"),
    ],
)
def test_what_needs_no_guess_is_converted(given: str, plain: str) -> None:
    assert plain_name(given) == plain


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ("", "says nothing"),
        ("-._", "says nothing"),
        ("harness2", "says nothing"),
        ("2fast", "begins with a digit"),
        ("a/b", "'/'"),
        ("../up", "'/'"),
        ("a:b", "':'"),
        ("a'b", '"\'"'),
        ("tab\x00", "x00"),
        ("{{ 7*7 }}", "'*'"),
        ("Zürich", "'zurich'"),
        ("日本", "one of a to z"),
        ("a" * (LONGEST + 1), "characters"),
    ],
)
def test_what_would_be_a_guess_is_refused_with_a_remedy(given: str, says: str) -> None:
    with pytest.raises(ConfigError) as raised:
        plain_name(given)
    assert says in str(raised.value)
    assert raised.value.remedy


@given(st.text(max_size=40), st.sampled_from(KINDS))
def test_a_name_is_legal_wherever_it_is_used_or_refused(given: str, kind: str) -> None:
    try:
        names = name_of(kind, given)
    except ConfigError:
        return
    assert re.fullmatch(r"[a-z][a-z0-9_\-]*", names.plain)
    for word in (names.package, names.cls):
        assert word.isidentifier()
        assert not keyword.iskeyword(word)
    assert names.cls not in api.__all__
    assert plain_name(names.distribution) == names.plain
    assert name_of(kind, names.plain) == names
    if names.token:
        assert re.fullmatch(r"[a-z]{2,8}", names.token)


@pytest.mark.parametrize("word", [*keyword.kwlist, *keyword.softkwlist])
def test_keywords_of_python_are_names_like_any_other(word: str) -> None:
    if word.strip("_"):
        assert name_of("mode", word).cls.isidentifier()


def test_a_class_never_hides_one_of_the_api() -> None:
    assert (name_of("access", "plainer").cls, Names("access", "model").cls) == ("PlainerAccess", "ModelAccessPlugin")
    assert (Names("judge", "judge").cls, Names("mode", "my-mode").cls) == ("JudgePlugin", "MyMode")


@pytest.mark.parametrize(
    ("name", "token"),
    [("steps", "steps"), ("two-steps", "twosteps"), ("many-more-steps", "mms"), ("x", "xmode"), ("greedy2", "greedy")],
)
def test_a_mode_gets_a_token_without_being_asked(name: str, token: str) -> None:
    names = name_of("mode", name)
    assert names.token == token
    assert names.entry == f"mode.{name}" + ("" if token == name else f".{token}")


def test_a_token_that_is_taken_gives_way_to_another() -> None:
    rival = Found("mode", "other", "twosteps", "m", "some-modes", "1")
    assert name_of("mode", "two-steps", Scan((rival,))).token == "ts"
    assert name_of("mode", "agg").token == "ag", "the home namespace has the token agg"
    assert name_of("selector", "two-steps").token == ""


@pytest.mark.parametrize("name", ["quorum", "Quorum", "qrm"])
def test_a_name_or_token_that_an_installed_plugin_of_the_kind_has_is_refused(name: str) -> None:
    rival = Found("selector", "quorum", "qrm", "m", "some-selectors", "1.5")
    with pytest.raises(ConfigError, match=r"some-selectors 1\.5"):
        name_of("selector", name, Scan((rival,)))
    with pytest.raises(ConfigError, match=r"some-selectors 1\.5"):
        name_of("selector", name, Scan(flaws=(Flaw("some-selectors", "1.5", "e", "w", "r", rival),)))
    assert name_of("reflector", "quorum", Scan((rival,))).plain == "quorum"


def test_a_distribution_or_package_that_is_there_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for own in ("core", "harness2-bundle"):
        with pytest.raises(ConfigError, match="exists"):
            name_of("mode", own)
    with pytest.raises(ConfigError, match=r"harness2_Quorum\.x exists"):
        name_of("mode", "quorum-x", distributions=("harness2_Quorum.x",))
    (tmp_path / "harness2_quorum.py").write_text("")
    monkeypatch.syspath_prepend(str(tmp_path))
    with pytest.raises(ConfigError, match="package harness2_quorum can be imported"):
        name_of("mode", "quorum")


def test_words_of_the_configuration_and_names_of_core_are_refused() -> None:
    for word in ("none", "auto"):
        with pytest.raises(ConfigError, match="means something else"):
            name_of("sandbox", word)
    assert name_of("reflector", "none").plain == "none"
    with pytest.raises(ConfigError, match="core itself"):
        named("access", "plain", NOTHING, (), ["plain"])


def test_kinds_are_understood_in_the_plural_and_refused_with_near_names() -> None:
    assert [known_kind(word, KINDS) for word in ("Modes", "sandboxes", "access")] == ["mode", "sandbox", "access"]
    with pytest.raises(ConfigError, match="did you mean 'selector'"):
        known_kind("selecter", KINDS)


def test_the_bound_on_core_ends_where_the_api_may_break() -> None:
    assert [core_bound(version) for version in ("0.1.0", "0.9.3", "1.0.0", "2.7.1")] == [
        ">=0.1,<0.2",
        ">=0.9,<0.10",
        ">=1.0,<2",
        ">=2.7,<3",
    ]


def test_every_kind_can_be_begun() -> None:
    assert tuple(sorted(SCAFFOLDS)) == tuple(sorted(KINDS))


@pytest.mark.parametrize("kind", KINDS)
def test_a_settings_class_is_there_where_something_is_to_be_set(kind: str) -> None:
    texts = rendered(Names(kind, "quorum", "qu"))
    assert ("harness2_quorum/settings.py" in texts) is SCAFFOLDS[kind].settings
    assert ("| setting |" in texts["README.md"]) is SCAFFOLDS[kind].settings
    assert ("Settings" in texts["harness2_quorum/plugin.py"]) is SCAFFOLDS[kind].settings
    assert texts["pyproject.toml"].count(f'[project.entry-points."{GROUP}"]') == 1


# --- the command


@pytest.fixture
def typed(capsys: pytest.CaptureFixture[str]) -> Callable[..., tuple[int, str, str]]:
    def type_(*arguments: str) -> tuple[int, str, str]:
        code = run(["plugins", "new", *arguments])
        captured = capsys.readouterr()
        return code, captured.out, captured.err

    return type_


Typed = Callable[..., tuple[int, str, str]]


def test_it_says_what_it_made_and_what_to_do_next(typed: Typed, tmp_path: Path) -> None:
    code, out, _ = typed("mode", "zz-Steps", "--to", str(tmp_path / "new" / "place"))

    folder = tmp_path / "new" / "place" / "harness2-zz-steps"
    assert code == 0
    assert out.startswith(f"made {folder}: the mode 'zz-steps'")
    assert (folder / "harness2_zz_steps" / "mode.py").is_file()
    assert "pip install -e ." in out
    assert "harness2 plugins show zz-steps" in out


def test_json_tells_programs_the_same(typed: Typed, tmp_path: Path) -> None:
    told: Any = json.loads(typed("substrate", "zz-agent", "--to", str(tmp_path), "--json")[1])

    found = sorted(path.relative_to(told["folder"]).as_posix() for path in tmp_path.rglob("*") if path.is_file())
    assert told["files"] == found
    assert (told["token"], told["package"]) == ("zzagent", "harness2_zz_agent")


@pytest.mark.parametrize("thing", ["file", "empty folder", "full folder", "broken link"])
def test_what_is_there_is_never_overwritten(typed: Typed, tmp_path: Path, thing: str) -> None:
    folder = tmp_path / "harness2-zz-steps"
    if thing == "file":
        folder.write_text("mine")
    elif thing == "broken link":
        folder.symlink_to(tmp_path / "nowhere")
    else:
        folder.mkdir()
    if thing == "full folder":
        (folder / "pyproject.toml").write_text("mine")
    before = {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()}

    code, out, err = typed("mode", "zz-steps", "--to", str(tmp_path))

    assert (code, out) == (1, "")
    assert "never overwritten" in err.replace("nothing is ever", "never")
    assert {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()} == before
    assert not (tmp_path / "nowhere").exists()


def test_a_file_in_place_of_the_target_directory_is_named(typed: Typed, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("mine")

    code, _, err = typed("mode", "zz-steps", "--to", str(tmp_path / "file"))

    assert code == 1
    assert str(tmp_path / "file") in err


@pytest.mark.parametrize(("kind", "name"), [("command", "run"), ("access", "plain"), ("nonsense", "x"), ("mode", "ö")])
def test_a_refusal_leaves_nothing(typed: Typed, tmp_path: Path, kind: str, name: str) -> None:
    code, _, err = typed(kind, name, "--to", str(tmp_path / "place"))

    assert code == 1
    assert err.startswith("error: ")
    assert list(tmp_path.iterdir()) == []
