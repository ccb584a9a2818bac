"""From a provider's table to its settings class."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from harness2_core.model.errors import ConfigError
from harness2_core.plugins.config import Config
from harness2_core.plugins.off_switches import OffSwitch
from harness2_core.plugins.provider_settings import check_tables, settings_of
from harness2_core.plugins.registry import Registry

SETTINGS = "from attrs import frozen\n@frozen\nclass Settings:\n    size: int = 3\n"


@pytest.fixture
def registry(distributions: Any, source: Callable[..., str]) -> Registry:
    modules = {"zz_p.py": source("mode", "spiral", "zz_s:x", "zz_s:Settings"), "zz_s.py": SETTINGS}
    distributions.add("acme", {"mode.spiral.spi": "zz_p"}, modules)
    distributions.add("bare", {"store.bare": "zz_b"}, {"zz_b.py": source("store", "bare", "zz_s:x")})
    return Registry.installed(path=distributions.path)


def _load(tmp_path: Path, text: str) -> Config:
    (tmp_path / "harness2.toml").write_text(text)
    return Config.load(tmp_path / "harness2.toml", {}, cwd=tmp_path)


@pytest.mark.parametrize("name", ["spiral", "spi", "acme:spiral"])
def test_a_table_bears_the_name_of_its_provider_however_it_is_asked_for(
    registry: Registry, tmp_path: Path, name: str
) -> None:
    settings: Any = settings_of(registry, _load(tmp_path, "[modes.spiral]\nsize = 4\n"), "mode", name)
    assert settings.size == 4


def test_settings_that_do_not_validate_name_file_line_and_plugin_table(registry: Registry, tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"harness2\.toml:2: `modes\.spiral\.size` is \"x\"") as caught:
        settings_of(registry, _load(tmp_path, "[modes.spiral]\nsize = 'x'\n"), "mode", "spiral")
    assert caught.value.remedy == "give an integer"


def test_a_provider_without_settings_has_no_table(registry: Registry, tmp_path: Path) -> None:
    assert settings_of(registry, _load(tmp_path, ""), "store", "bare") is None
    with pytest.raises(ConfigError, match=r"harness2\.toml:2"):
        settings_of(registry, _load(tmp_path, "[stores.bare]\nsize = 1\n"), "store", "bare")


def test_a_table_that_belongs_to_nothing_installed_is_an_error(registry: Registry, tmp_path: Path) -> None:
    check_tables(registry, _load(tmp_path, "[modes.spiral]\nsize = 4\n[stores.bare]\n"))
    with pytest.raises(ConfigError) as caught:
        check_tables(registry, _load(tmp_path, "[modes.sprial]\nsize = 4\n"))
    assert "'spiral'" in caught.value.remedy


def test_the_table_of_a_disabled_plugin_may_stay(registry: Registry, distributions: Any, tmp_path: Path) -> None:
    off = Registry.installed([OffSwitch("spiral", "--disable-plugin")], path=distributions.path)
    check_tables(off, _load(tmp_path, "[modes.spiral]\nsize = 4\n"))
