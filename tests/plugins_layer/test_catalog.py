"""Names: near ones, clashes, tokens, other versions, off switches."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness2_core.model.errors import PluginError
from harness2_core.plugins import core_version
from harness2_core.plugins.catalog import Catalog
from harness2_core.plugins.core_version import unmet, wants_newer
from harness2_core.plugins.discovery import Found, Scan
from harness2_core.plugins.off_switches import OffSwitch

VAULT = Found("store", "vault", "", "a", "acme", "1.0")
RIVAL = Found("store", "vault", "", "b", "Other_Vaults", "2.0")
SPIRAL = Found("mode", "spiral", "spi", "c", "acme", "1.0")


def test_a_name_that_is_not_there_lists_near_ones_and_all() -> None:
    catalog = Catalog(Scan((VAULT, Found("store", "drawer", "", "a", "acme", "1.0"))))

    with pytest.raises(PluginError, match="no store is named 'vualt'") as caught:
        catalog.find("store", "vualt")

    assert "'vault'" in caught.value.remedy
    assert "drawer, vault" in caught.value.remedy


def test_a_kind_that_does_not_exist_lists_the_kinds() -> None:
    with pytest.raises(PluginError, match="'stoer'") as caught:
        Catalog(Scan()).find("stoer", "x")
    assert "'store'" in caught.value.remedy


def test_nothing_of_a_kind_says_what_to_install() -> None:
    with pytest.raises(PluginError) as caught:
        Catalog(Scan()).find("store", "vault")
    assert "pip install" in caught.value.remedy


def test_a_token_finds_what_it_stands_for() -> None:
    assert Catalog(Scan((SPIRAL,))).find("mode", "spi") == SPIRAL


def test_a_name_twice_is_an_error_on_use_that_lists_both_and_the_way_out() -> None:
    catalog = Catalog(Scan((VAULT, RIVAL)))
    assert catalog.names("store") == ("vault",)

    with pytest.raises(PluginError) as caught:
        catalog.find("store", "vault")

    assert "acme 1.0" in caught.value.what
    assert "Other_Vaults 2.0" in caught.value.what
    assert "'acme:vault'" in caught.value.remedy
    assert "'Other_Vaults:vault'" in caught.value.remedy


def test_a_name_that_is_another_ones_token_is_a_clash_too() -> None:
    other = Found("mode", "spi", "", "d", "other", "1.0")
    with pytest.raises(PluginError, match="more than once"):
        Catalog(Scan((SPIRAL, other))).find("mode", "spi")


@pytest.mark.parametrize("written", ["other-vaults", "Other_Vaults", "OTHER.vaults"])
def test_the_distribution_decides_a_clash_however_it_is_spelt(written: str) -> None:
    assert Catalog(Scan((VAULT, RIVAL))).find("store", f"{written}:vault") == RIVAL


@pytest.mark.parametrize("name", ["other-vaults:vault", "Other_Vaults:store.vault"])
def test_a_plugin_of_any_kind_is_named_by_its_distribution_too(name: str) -> None:
    judge = Found("judge", "strict", "", "a", "Other_Vaults", "2.0")
    assert Catalog(Scan((VAULT, RIVAL, judge))).named(name) == (RIVAL,)


def test_switching_one_off_decides_a_clash() -> None:
    assert Catalog(Scan((VAULT, RIVAL)), (OffSwitch("acme", "--disable-plugin"),)).find("store", "vault") == RIVAL


@pytest.mark.parametrize("name", ["vault", "store.vault", "acme", "ACME"])
def test_a_switch_names_a_plugin_its_kind_and_name_or_a_distribution(name: str) -> None:
    catalog = Catalog(Scan((VAULT,)), (OffSwitch(name, "the variable X"),))
    assert catalog.names("store") == ()

    with pytest.raises(PluginError, match="disabled by the variable X") as caught:
        catalog.find("store", "vault")

    assert "the variable X" in caught.value.remedy


def test_a_switch_of_one_kind_leaves_the_other_kind_alone() -> None:
    judge = Found("judge", "vault", "", "a", "acme", "1.0")
    catalog = Catalog(Scan((judge, VAULT)), (OffSwitch("store.vault", "x"),))
    assert catalog.find("judge", "vault") == judge


@pytest.mark.parametrize(
    ("requirement", "remedy"),
    [
        ("harness2-core>=99", "pip install -U 'harness2-core>=99'"),
        (
            "harness2-core<0.0.1",
            "pip install -U acme, or keep it with the core it was written for: pip install 'harness2-core<0.0.1'",
        ),
    ],
)
def test_a_plugin_for_another_core_is_skipped_and_named_on_use(requirement: str, remedy: str) -> None:
    misfit = Found("store", "vault", "", "a", "acme", "1.0", core=(requirement,))
    catalog = Catalog(Scan((misfit, RIVAL)))
    assert catalog.find("store", "vault") == RIVAL

    with pytest.raises(PluginError, match=f"requires {requirement}") as caught:
        Catalog(Scan((misfit,))).find("store", "vault")

    assert caught.value.remedy == remedy


@pytest.mark.parametrize(
    ("requirement", "version", "met"),
    [
        ("harness2-core", "0.1.0", True),
        ("harness2-core>=0.1,<0.2", "0.1.0", True),
        ("harness2-core>=0.1,<0.2", "0.2.0", False),
        ("harness2-core~=0.1.2", "0.1.1", False),
        ("harness2-core>=0.2.dev0", "0.2.dev3", True),
        ("harness2-core>=0.10", "0.9.0", False),
        ("harness2-core>=9; extra == 'later'", "0.1.0", True),
        ("harness2-core>=9; python_version < '3'", "0.1.0", True),
        ("harness2-core[testing]>=9", "0.1.0", False),
        ("harness2-core not a requirement", "0.1.0", True),
    ],
)
def test_versions_compare_as_installers_compare_them(requirement: str, version: str, met: bool) -> None:
    assert unmet((requirement,), version) == ("" if met else requirement)


_releases = st.lists(st.integers(0, 12), min_size=1, max_size=4).map(lambda parts: ".".join(map(str, parts)))
_bounds = st.lists(st.tuples(st.sampled_from([">=", "<", ">= ", " <"]), _releases).map("".join), max_size=3)


@given(_bounds, _releases, st.sampled_from(["harness2-core{}", "harness2-core ({})", "Harness2_Core {}"]))
def test_bounds_of_releases_mean_what_they_mean_to_installers(bounds: list[str], version: str, form: str) -> None:
    requirement = form.format(",".join(bounds)).replace(" ()", "")
    assert unmet((requirement,), version) == core_version._unmet((requirement,), version)


def test_an_exact_version_asks_for_a_newer_core_only_if_it_is_newer() -> None:
    assert wants_newer("harness2-core==0.3.*", "0.2")
    assert not wants_newer("harness2-core==0.1", "0.2")


@given(st.text(), st.text())
def test_any_text_may_be_asked_for(kind: str, name: str) -> None:
    catalog = Catalog(Scan((VAULT, RIVAL, SPIRAL)), (OffSwitch("x", "y"),))
    for asked in (kind, "store", "mode"):
        answers = [found for found in (VAULT, RIVAL, SPIRAL) if found in catalog.named(name) and found.kind == asked]
        if len(answers) == 1:
            assert catalog.find(asked, name) == answers[0]
        else:
            with pytest.raises(PluginError) as caught:
                catalog.find(asked, name)
            assert caught.value.remedy
