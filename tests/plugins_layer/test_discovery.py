"""What the metadata of installed distributions says, and how what is wrong with it is told."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from typing import Any

import pytest

from harness2_core.plugins.discovery import Scan, scan
from harness2_core.plugins.quick_scan import quick_scan

Reader = Callable[[Sequence[str]], Scan]

RAISES = "raise AssertionError('a scan must not import')"


@pytest.fixture(params=[scan, quick_scan], ids=["whole", "quick"])
def read(request: pytest.FixtureRequest) -> Reader:
    """Either way of reading what is installed: they say the same."""
    return request.param  # type: ignore[no-any-return]


def test_an_entry_is_found_with_kind_name_token_and_distribution(read: Reader, distributions: Any) -> None:
    distributions.add(
        "acme-things",
        {"mode.spiral.spi": "inner.plugin", "store.vault": "inner.plugin"},
        {"inner/plugin.py": RAISES},
        version="2.1",
        requires=["harness2-core>=0.1", "harness2-core-extras", "attrs"],
    )

    mode, store = read(distributions.path).found

    assert (mode.kind, mode.name, mode.token, mode.module) == ("mode", "spiral", "spi", "inner.plugin")
    assert (mode.distribution, mode.version, mode.source) == ("acme-things", "2.1", "acme-things 2.1")
    assert mode.core == ("harness2-core>=0.1",)
    assert (store.kind, store.name, store.token, store.short) == ("store", "vault", "", "vault")
    assert "inner" not in sys.modules


def test_other_groups_are_none_of_ours(read: Reader, distributions: Any) -> None:
    text = "[console_scripts]\nx = y:z\n[other]\nstore.vault = y\n[harness2.v1]\nstore.mine = y\n"
    distributions.add("acme", {}, {}, entry_points=text)

    assert [found.name for found in read(distributions.path).found] == ["mine"]


@pytest.mark.parametrize(
    ("group", "upgrade"), [("harness2.v2", "harness2-core"), ("harness2.v0", "acme"), ("harness2.v10", "harness2-core")]
)
def test_another_api_version_is_reported_by_name(read: Reader, distributions: Any, group: str, upgrade: str) -> None:
    distributions.add("acme", {"store.vault": "acme_store"}, {}, group=group)

    result = read(distributions.path)

    assert result.found == ()
    (flaw,) = result.flaws
    assert flaw.found is not None
    assert (flaw.distribution, flaw.found.name) == ("acme", "vault")
    assert flaw.remedy == f"pip install -U {upgrade}"


def test_a_distribution_that_speaks_ours_beside_another_version_has_no_flaw(read: Reader, distributions: Any) -> None:
    text = "[harness2.v1]\nstore.vault = a\n[harness2.v2]\nstore.vault = b\n"
    distributions.add("acme", {}, {}, entry_points=text)

    result = read(distributions.path)

    assert [found.module for found in result.found] == ["a"]
    assert result.flaws == ()


@pytest.mark.parametrize(
    ("entry", "value", "says"),
    [
        ("stor.vault", "a", "'store'"),
        ("store", "a", "<kind>.<name>"),
        ("store.", "a", "<kind>.<name>"),
        ("store.Vault", "a", "<kind>.<name>"),
        ("store.vault.x", "a", "<kind>.<name>"),
        ("store.vault.", "a", "<kind>.<name>"),
        ("store.vault.abc.def", "a", "<kind>.<name>"),
        ("store.vault", "a:b", "package.module"),
        ("store.vault", "../evil", "package.module"),
        ("mode.spiralling", "a", "mode.spiralling."),
    ],
)
def test_a_malformed_entry_is_a_flaw_that_says_how_it_reads(
    read: Reader, distributions: Any, entry: str, value: str, says: str
) -> None:
    distributions.add("acme", {entry: value, "store.good": "a"}, {})

    result = read(distributions.path)

    assert [found.name for found in result.found] == ["good"]
    (flaw,) = result.flaws
    assert flaw.distribution == "acme"
    assert entry in flaw.entry
    assert says in flaw.remedy


def test_a_group_without_a_number_is_a_flaw(read: Reader, distributions: Any) -> None:
    distributions.add("acme", {"store.vault": "a"}, {}, group="harness2.vone")

    (flaw,) = read(distributions.path).flaws

    assert "harness2.v1" in flaw.remedy


def test_entry_points_that_do_not_parse_spoil_only_their_distribution(read: Reader, distributions: Any) -> None:
    distributions.add("acme", {}, {}, entry_points="[harness2.v1]\nno equals sign\n")
    distributions.add("other", {"store.good": "a"}, {})

    result = read(distributions.path)

    assert [found.name for found in result.found] == ["good"]
    assert [flaw.distribution for flaw in result.flaws] == ["acme"]


def test_a_distribution_seen_twice_counts_once(read: Reader, distributions: Any, tmp_path: Any) -> None:
    distributions.add("acme-store", {"store.vault": "first"}, {}, version="2.0")
    again = type(distributions)(tmp_path / "again")
    again.add("Acme.Store", {"store.vault": "second"}, {}, version="1.0")

    found = read([*distributions.path, *again.path, *distributions.path]).found

    assert [(item.module, item.version) for item in found] == [("first", "2.0")]


def test_what_an_earlier_installation_shadows_says_nothing(read: Reader, distributions: Any, tmp_path: Any) -> None:
    distributions.add("acme", {}, {}, version="2.0", entry_points="[console_scripts]\na = b:c\n")
    older = type(distributions)(tmp_path / "older")
    older.add("acme", {"store.vault": "old"}, {}, version="1.0")

    assert read([*distributions.path, *older.path]).found == ()


def test_metadata_left_by_a_broken_installation_is_passed_over(read: Reader, distributions: Any) -> None:
    distributions.add("acme", {"store.vault": "a"}, {})
    (distributions.folder / "acme-1.0.dist-info" / "METADATA").unlink()
    distributions.add("other", {"store.good": "a"}, {})

    assert [found.name for found in read(distributions.path).found] == ["good"]


def test_the_distribution_may_be_named_unlike_its_package(distributions: Any, source: Callable[..., str]) -> None:
    from harness2_core.plugins.registry import Registry

    text = source("store", "vault", "zz_package.things:Vault")
    distributions.add("quite-another-name", {"store.vault": "zz_package.plugin"}, {"zz_package/plugin.py": text})

    registry = Registry.installed(path=distributions.path)

    assert registry.version_of("store", "vault") == "quite-another-name 1.0"
    assert registry.provider("store", "vault").name == "vault"
