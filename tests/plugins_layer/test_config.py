"""Layers: what overrides what, where a value comes from, and that nothing misspelt is ignored."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest
from attrs import field, frozen

from harness2_core.model.check import at_least
from harness2_core.model.errors import ConfigError
from harness2_core.model.frozen import FrozenMap
from harness2_core.plugins.config import Config, parse_options
from harness2_core.plugins.run_settings import RunSettings


@frozen
class Box:
    path: Path | None = None
    size: int = field(default=3, validator=at_least(1))
    lazy: bool = False
    names: tuple[str, ...] = ()
    words: Mapping[str, str] = FrozenMap()
    places: Mapping[str, Path] = FrozenMap()
    count: int = 0
    label: str = "plain"
    api_key: str = ""


@frozen
class Strict:
    folder: Path


def _file(folder: Path, text: str) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / "harness2.toml"
    path.write_text(text, encoding="utf-8")
    return path


def _load(tmp_path: Path, text: str = "", environ: dict[str, str] | None = None, *options: str) -> Config:
    file = _file(tmp_path / "project", text)
    return Config.load(file, environ or {}, parse_options(options), cwd=tmp_path / "elsewhere")


def test_a_variable_overrides_the_file_and_an_option_the_variable(tmp_path: Path) -> None:
    text = "[stores.box]\nsize = 1\nlabel = 'file'\nlazy = true\n"
    environ = {"HARNESS2_STORES__BOX__SIZE": "2", "HARNESS2_STORES__BOX__LABEL": "variable"}

    box = _load(tmp_path, text, environ, "stores.box.size=4").structure("stores.box", Box)

    assert (box.size, box.label, box.lazy) == (4, "variable", True)


def test_every_value_knows_where_it_was_given(tmp_path: Path) -> None:
    config = _load(tmp_path, "# a comment\n[run]\nk = 1\n\ntag = 'x'\n", {"HARNESS2_RUN__SEED": "7"}, "run.split=train")
    where = {key: given.origin.where for (key,), given in config.given("run").items()}

    assert where == {
        "k": f"{tmp_path}/project/harness2.toml:3",
        "tag": f"{tmp_path}/project/harness2.toml:5",
        "seed": "variable HARNESS2_RUN__SEED",
        "split": "option -o run.split",
    }
    assert config.value("run", "modes") is None


def test_text_is_read_as_the_type_of_its_field(tmp_path: Path) -> None:
    environ = {
        "HARNESS2_STORES__BOX__SIZE": "12",
        "HARNESS2_STORES__BOX__LAZY": "Yes",
        "HARNESS2_STORES__BOX__NAMES": "a, b,,c",
        "HARNESS2_STORES__BOX__WORDS__GREETING": "hello",
        "HARNESS2_STORES__BOX__LABEL": "7",
    }
    box = _load(tmp_path, "[stores.box.words]\nname = 'x'\n", environ).structure("stores.box", Box)

    assert (box.size, box.lazy, box.names, box.label) == (12, True, ("a", "b", "c"), "7")
    assert dict(box.words) == {"greeting": "hello", "name": "x"}


def test_paths_start_from_where_they_are_named(tmp_path: Path) -> None:
    text = "[stores.box]\npath = 'data'\n[stores.box.places]\na = 'x'\nb = '/y'\n"
    config = _load(tmp_path, text, {"HARNESS2_STORES__BOX__PLACES__C": "z"})
    box = config.structure("stores.box", Box)

    assert box.path == tmp_path / "project" / "data"
    assert dict(box.places) == {
        "a": tmp_path / "project" / "x",
        "b": Path("/y"),
        "c": tmp_path / "elsewhere" / "z",
    }
    overridden = Config.load(config.file, {}, {"stores.box.path": "data"}, cwd=tmp_path / "elsewhere")
    assert overridden.structure("stores.box", Box).path == tmp_path / "elsewhere" / "data"


def test_a_name_with_dashes_is_written_with_underscores_in_a_variable(tmp_path: Path) -> None:
    config = _load(tmp_path, "[stores.my-box]\nsize = 1\n", {"HARNESS2_STORES__MY_BOX__SIZE": "9"})
    assert config.structure("stores.my-box", Box).size == 9
    assert config.names("stores") == ("my-box",)


def test_variables_without_two_underscores_are_no_tables(tmp_path: Path) -> None:
    environ = {"HARNESS2_DISABLE_PLUGINS": "x", "HARNESS2_RUNS": "y", "OTHER__TABLE__KEY": "z"}
    assert _load(tmp_path, "", environ).given("run") == {}


@pytest.mark.parametrize(
    ("text", "line", "says"),
    [
        ("[stores.box]\nsize = 1\nsiez = 2\n", 3, "did you mean 'size'?"),
        ("\n\n[sotres.box]\nsize = 1\n", 4, "did you mean 'stores'"),
        ("[run]\nk = 1\n[librayr]\nmax_harnesses = 3\n", 4, "did you mean 'library'?"),
        ("k = 2\n", 1, "put it under [run]"),
        ("run = 3\n", 1, "write [run]"),
        ("[stores]\nsize = 2\n", 2, "[stores.<name>]"),
        ("[stores.box]\n\nsize = 'big'\n", 3, "give an integer"),
        ("[stores.box]\nsize = 1.5\n", 2, "give an integer"),
        ("[stores.box]\ncount = true\n", 2, "give an integer"),
        ("[stores.box]\nlazy = 1\n", 2, "give true or false"),
        ("[stores.box]\nlabel = 5\n", 2, "give a text; put it in quotes"),
        ("[stores.box]\nlabel = 5.5\n", 2, "give a text; put it in quotes"),
        ("[stores.box]\nnames = 'one'\n", 2, "give a list of texts"),
        ("[stores.box]\nnames = [\n 'a',\n 3]\n", 2, "give a list of texts"),
        ("[stores.box]\npath = 5\n", 2, "give a path"),
        ("[stores.box]\nwords = 'x'\n", 2, "give a table of texts"),
        ("[stores.box.words]\na = 3\n", 2, "give a table of texts"),
        ("[stores.box.words.deep]\na = 'b'\n", 2, "give a table of texts"),
        ("[stores.box.size]\na = 3\n", 2, "give an integer"),
        ("[[stores.box.names]]\na = 3\n", 1, "give a list of texts"),
        ("[stores.box]\nlabel = 'x'\nsize = 0\n", 3, "an integer of at least 1"),
    ],
)
def test_what_is_wrong_in_the_file_names_its_line_and_what_was_expected(
    tmp_path: Path, text: str, line: int, says: str
) -> None:
    with pytest.raises(ConfigError) as caught:
        _load(tmp_path, text).structure("stores.box", Box)
    assert f"project/harness2.toml:{line}:" in caught.value.what
    assert says in caught.value.remedy


@pytest.mark.parametrize(
    ("variable", "value", "says"),
    [
        ("HARNESS2_SOTRES__BOX__SIZE", "1", "did you mean 'stores'"),
        ("HARNESS2_STORES__BOX__SIEZ", "1", "did you mean 'size'?"),
        ("HARNESS2_STORES__BOX__SIZE", "1_", "give an integer"),
        ("HARNESS2_STORES__BOX__LAZY", "perhaps", "give true or false"),
        ("HARNESS2_STORES__BOX__WORDS", "a=b", "stores.box.words.<name>"),
        ("HARNESS2_STORES__SIZE", "1", "[stores.<name>]"),
        ("HARNESS2_STORES__BOX__PATH", "~nobody-of-that-name/x", "give a path"),
    ],
)
def test_what_is_wrong_in_a_variable_names_it(tmp_path: Path, variable: str, value: str, says: str) -> None:
    with pytest.raises(ConfigError) as caught:
        _load(tmp_path, "", {variable: value}).structure("stores.box", Box)
    assert f"variable {variable}" in caught.value.what
    assert says in caught.value.remedy


@pytest.mark.parametrize("option", ["size", "=3", "size=3", "a b=3", "run.k\nx=3", "run.{}=3", "run..k=3"])
def test_an_option_that_names_no_key_of_a_table_says_how_it_reads(tmp_path: Path, option: str) -> None:
    with pytest.raises(ConfigError) as caught:
        _load(tmp_path, "", {}, option)
    assert "-o run.k=2" in caught.value.remedy


def test_an_option_may_quote_a_name_with_dots(tmp_path: Path) -> None:
    config = _load(tmp_path, "", {}, 'prices."model-1.5".input=3', "run.tag=a=b")
    assert {keys: given.value for keys, given in config.given("prices.model-1.5").items()} == {("input",): "3"}
    value = config.value("run", "tag")
    assert value is not None
    assert value.value == "a=b"


def test_a_required_setting_that_is_missing_tells_all_three_ways(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="lacks `folder`") as caught:
        _load(tmp_path).structure("adapters.my-tasks", Strict)
    assert "[adapters.my-tasks]" in caught.value.remedy
    assert "HARNESS2_ADAPTERS__MY_TASKS__FOLDER" in caught.value.remedy
    assert "-o adapters.my-tasks.folder=" in caught.value.remedy


def test_where_there_is_no_file_a_missing_setting_says_so(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="lacks `folder`") as nowhere:
        Config.load(environ={}, cwd=tmp_path).structure("adapters.mine", Strict)
    assert "a harness2.toml (there is none here or above)" in nowhere.value.remedy

    (tmp_path / "other.toml").write_text("")
    with pytest.raises(ConfigError) as named:
        Config.load(tmp_path / "other.toml", environ={}).structure("adapters.mine", Strict)
    assert "under [adapters.mine] in other.toml" in named.value.remedy


def test_what_a_class_refuses_is_told_by_its_table_and_not_by_its_name(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r": \[run\] k is 0\n"):
        _load(tmp_path, "[run]\nk = 0\n").structure("run", RunSettings)


def test_an_empty_variable_unsets_an_optional_setting(tmp_path: Path) -> None:
    config = _load(tmp_path, "[stores.box]\npath = 'x'\n", {"HARNESS2_STORES__BOX__PATH": ""})
    assert config.structure("stores.box", Box).path is None


def test_the_nearest_file_above_is_used(tmp_path: Path) -> None:
    deep = tmp_path / "project" / "a" / "b"
    deep.mkdir(parents=True)
    _file(tmp_path / "project", "[run]\nk = 2\n")

    assert Config.load(environ={}, cwd=deep).base == tmp_path / "project"
    file = _file(deep.parent, "[run]\nk = 3\n")
    assert Config.load(environ={}, cwd=deep).file == file


def test_no_file_is_fine_and_paths_start_from_the_working_directory(tmp_path: Path) -> None:
    config = Config.load(environ={}, cwd=tmp_path)
    assert config.file is None or tmp_path not in config.file.parents
    assert config.given("run") == {} or config.file is not None


def test_the_variable_names_the_file_and_the_option_wins_over_it(tmp_path: Path) -> None:
    one, two = _file(tmp_path / "one", ""), _file(tmp_path / "two", "")
    environ = {"HARNESS2_CONFIG": "one/harness2.toml"}
    assert Config.load(environ=environ, cwd=tmp_path).file == one
    assert Config.load(two, environ, cwd=tmp_path).file == two


@pytest.mark.parametrize("by", ["--config", "HARNESS2_CONFIG"])
@pytest.mark.parametrize("named", ["nowhere.toml", "~nobody-of-this-name/harness2.toml"])
def test_a_file_that_is_named_and_missing_is_an_error(tmp_path: Path, by: str, named: str) -> None:
    option, environ = (Path(named), {}) if by == "--config" else (None, {by: named})
    with pytest.raises(ConfigError, match=by):
        Config.load(option, environ, cwd=tmp_path)


@pytest.mark.parametrize(("data", "says"), [(b"[run]\nk = \n", "line 2"), (b"[run\xff]", "utf-8")])
def test_a_file_that_does_not_parse_names_file_and_place(tmp_path: Path, data: bytes, says: str) -> None:
    file = tmp_path / "harness2.toml"
    file.write_bytes(data)
    with pytest.raises(ConfigError, match=says) as caught:
        Config.load(file, {}, cwd=tmp_path)
    assert str(file) in caught.value.what


def test_a_byte_order_mark_is_no_error(tmp_path: Path) -> None:
    file = tmp_path / "harness2.toml"
    file.write_bytes(b"\xef\xbb\xbf[run]\nk = 2\n")
    value = Config.load(file, {}, cwd=tmp_path).value("run", "k")
    assert value is not None
    assert value.value == 2


def test_a_table_of_nothing_installed_is_an_error_with_near_names(tmp_path: Path) -> None:
    config = _load(tmp_path, "[stores.vualt]\nsize = 1\n")
    with pytest.raises(ConfigError, match=r"harness2\.toml:2") as caught:
        config.check_names("stores", ["vault", "chest"])
    assert "did you mean 'vault'?" in caught.value.remedy
    config.check_names("stores", ["vualt"])


@pytest.mark.parametrize("text", ["[stores.box]\napi_key = 5\n", "[stores.box]\nsize = 'canary-5b1'\n"])
def test_an_error_shows_what_was_given_unless_it_is_secret(tmp_path: Path, text: str) -> None:
    with pytest.raises(ConfigError) as caught:
        _load(tmp_path, text).structure("stores.box", Box)
    assert ("canary-5b1" in str(caught.value)) == ("size" in text)


def test_a_validator_that_quotes_a_secret_does_not_betray_it(tmp_path: Path) -> None:
    @frozen
    class Keyed:
        api_key: str = field(default="", validator=lambda owner, field, value: _refuse(value))

    def _refuse(value: str) -> None:
        raise ValueError(f"api_key {value!r} has the wrong shape")

    with pytest.raises(ConfigError, match="wrong shape") as caught:
        _load(tmp_path, "[stores.box]\napi_key = 'canary-77'\n").structure("stores.box", Keyed)
    assert "canary-77" not in str(caught.value)
    assert "harness2.toml:2" in caught.value.what


def test_a_configuration_does_not_print_its_values() -> None:
    config = Config.load(environ={"HARNESS2_STORES__BOX__API_KEY": "canary-1"}, cwd=Path("/"))
    assert "canary-1" not in repr(config)
