"""The user's own list, and switches from everywhere."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest

from harness2_core.model.errors import ConfigError, PluginError
from harness2_core.plugins.discovery import Flaw, Found, Scan
from harness2_core.plugins.off_switches import check_names, disable, enable, read_list, switches

SCAN = Scan(
    (Found("store", "vault", "", "a", "acme", "1.0"), Found("mode", "spiral", "spi", "b", "acme", "1.0")),
    (
        Flaw(
            "old",
            "1.0",
            "store.crate = x",
            "speaks v0",
            "pip install -U old",
            Found("store", "crate", "", "x", "old", "1.0"),
        ),
        Flaw("torn", "1.0", "entry_points.txt", "unreadable", "reinstall"),
    ),
)


def test_switches_come_from_option_variable_and_list(tmp_path: Path) -> None:
    kept = tmp_path / "plugins.toml"
    disable("spiral", SCAN, kept)
    found = switches(["vault"], {"HARNESS2_DISABLE_PLUGINS": " acme , ,crate"}, kept)
    assert [(item.name, item.origin) for item in found] == [
        ("vault", "--disable-plugin"),
        ("acme", "the variable HARNESS2_DISABLE_PLUGINS"),
        ("crate", "the variable HARNESS2_DISABLE_PLUGINS"),
        ("spiral", str(kept)),
    ]
    check_names(found, SCAN, kept)


def test_a_plugin_uninstalled_after_it_was_disabled_is_no_error(tmp_path: Path) -> None:
    kept = tmp_path / "plugins.toml"
    disable("vault", SCAN, kept)
    check_names(switches([], {}, kept), Scan(), kept)


@pytest.mark.parametrize("origin", ["--disable-plugin", "HARNESS2_DISABLE_PLUGINS"])
def test_a_name_that_covers_nothing_is_an_error_that_says_who_gave_it(tmp_path: Path, origin: str) -> None:
    kept = tmp_path / "plugins.toml"
    option, environ = (["vualt"], {}) if origin.startswith("--") else ([], {origin: "vualt"})
    with pytest.raises(PluginError, match=origin) as caught:
        check_names(switches(option, environ, kept), SCAN, kept)
    assert "'vault'" in caught.value.remedy


@pytest.mark.parametrize("name", ["vault", "store.vault", "Acme", "crate", "torn"])
def test_everything_that_is_installed_can_be_disabled_broken_or_not(tmp_path: Path, name: str) -> None:
    path = tmp_path / "made" / "plugins.toml"
    assert disable(name, SCAN, path)
    assert not disable(name, SCAN, path)
    assert read_list(path) == (name,)
    enable(name, path)
    assert read_list(path) == ()


def test_comments_and_other_names_survive_a_change(tmp_path: Path) -> None:
    path = tmp_path / "plugins.toml"
    path.write_text('# mine\ndisabled = ["acme"]  # for now\n')
    disable("vault", SCAN, path)
    assert read_list(path) == ("acme", "vault")
    assert path.read_text().startswith("# mine\n")


def test_enabling_what_is_not_disabled_lists_what_is(tmp_path: Path) -> None:
    path = tmp_path / "plugins.toml"
    disable("vault", SCAN, path)
    with pytest.raises(PluginError) as caught:
        enable("vualt", path)
    assert "'vault'" in caught.value.remedy


@pytest.mark.parametrize("text", ["disabled = ", "disabled = 'vault'", "disabled = [1]", "\udcff"])
def test_a_damaged_list_is_an_error_and_never_an_empty_list(tmp_path: Path, text: str) -> None:
    path = tmp_path / "plugins.toml"
    path.write_bytes(text.encode("utf-8", "surrogateescape"))
    with pytest.raises(ConfigError) as caught:
        switches([], {}, path)
    assert str(path) in caught.value.what
    assert "delete it" in caught.value.remedy


def test_changes_at_the_same_time_are_all_kept(tmp_path: Path) -> None:
    path = tmp_path / "plugins.toml"
    names = [f"p{number}" for number in range(12)]
    scan = Scan(tuple(Found("store", name, "", "a", "acme", "1.0") for name in names))
    threads = [threading.Thread(target=disable, args=(name, scan, path)) for name in names]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(read_list(path)) == sorted(names)


def test_a_list_that_cannot_be_written_is_an_error_with_another_way(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(ConfigError) as caught:
        disable("vault", SCAN, tmp_path / "file" / "plugins.toml")
    assert "--disable-plugin" in caught.value.remedy
