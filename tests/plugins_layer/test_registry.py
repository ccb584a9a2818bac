"""From a name to the thing itself, and every way in which a plugin can fail on the way."""

from __future__ import annotations

import json
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from harness2_core.model.errors import PluginError
from harness2_core.plugins.off_switches import OffSwitch
from harness2_core.plugins.registry import Registry

WORK = """
    from attrs import frozen

    @frozen
    class Settings:
        size: int = 3

    class Box:
        def __init__(self, settings, *args):
            self.settings, self.args = settings, args

    def raises(settings):
        raise RuntimeError("no room")

    def exits(settings):
        raise SystemExit(4)

    def explains(settings):
        from harness2_core.api import ConfigError
        raise ConfigError("the folder x is missing", "create it")

    NOT_CALLABLE = 3
    class Plain:
        pass
"""


@pytest.fixture
def installed(distributions: Any, source: Callable[..., str]) -> Callable[..., Registry]:
    """A registry of one distribution `acme` with the store `vault`; its module is what the test needs."""

    def make(
        plugin: str | None = None, factory: str = "zz_acme.work:Box", settings: str = "zz_acme.work:Settings"
    ) -> Registry:
        text = source("store", "vault", factory, settings) if plugin is None else plugin
        modules = {"zz_acme/__init__.py": "", "zz_acme/plugin.py": text, "zz_acme/work.py": WORK}
        distributions.add("acme", {"store.vault": "zz_acme.plugin"}, modules)
        return Registry.installed(path=distributions.path)

    return make


def _failure(call: Callable[[], object]) -> PluginError:
    with pytest.raises(PluginError) as caught:
        call()
    error = caught.value
    assert "'vault' of acme 1.0" in error.what
    return error


def test_the_factory_is_called_with_its_settings_and_what_the_caller_adds(installed: Any) -> None:
    registry = installed()
    settings = registry.settings_class("store", "vault")(size=5)

    made = registry.make("store", "vault", settings, "runs")

    assert (made.settings.size, made.args) == (5, ("runs",))


def test_without_settings_the_defaults_apply(installed: Any) -> None:
    assert installed().make("store", "vault").settings.size == 3


def test_a_provider_without_settings_is_called_without(installed: Any) -> None:
    registry = installed(settings="", factory="zz_acme.work:Plain")
    assert registry.settings_class("store", "vault") is None
    assert type(registry.make("store", "vault")).__name__ == "Plain"


def test_looking_up_imports_nothing_and_providing_does_not_import_the_factory(installed: Any) -> None:
    registry = installed()
    (
        registry.find("store", "vault"),
        registry.names("store"),
        registry.default("store"),
        registry.version_of("store", "vault"),
    )
    assert "zz_acme.plugin" not in sys.modules

    registry.provider("store", "vault")

    assert "zz_acme.plugin" in sys.modules
    assert "zz_acme.work" not in sys.modules


def test_only_the_module_used_is_imported(distributions: Any, source: Callable[..., str]) -> None:
    text = source("store", "vault", "zz_one:x")
    distributions.add("acme", {"store.vault": "zz_one"}, {"zz_one.py": text})
    distributions.add("other", {"store.chest": "zz_two"}, {"zz_two.py": "raise AssertionError('imported')"})

    Registry.installed(path=distributions.path).provider("store", "vault")

    assert "zz_two" not in sys.modules


def test_a_module_of_several_entries_is_imported_and_registered_once(distributions: Any) -> None:
    text = """
    import builtins
    from harness2_core.api import Provider, hookimpl
    builtins.zz_imports = getattr(builtins, "zz_imports", 0) + 1

    @hookimpl
    def harness2_stores():
        return [Provider(name=name, summary="", factory="zz_both:x") for name in ("vault", "chest")]

    @hookimpl
    def harness2_judges():
        return [Provider(name="strict", summary="", factory="zz_both:x")]
    """
    entries = dict.fromkeys(("store.vault", "store.chest", "judge.strict"), "zz_both")
    distributions.add("acme", entries, {"zz_both.py": text})
    registry = Registry.installed(path=distributions.path)

    threads = [
        threading.Thread(target=registry.provider, args=pair)
        for pair in [("store", "vault"), ("store", "chest"), ("judge", "strict")] * 5
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    import builtins

    assert builtins.zz_imports == 1  # type: ignore[attr-defined]
    del builtins.zz_imports  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    ("plugin", "says"),
    [
        ("import zz_not_installed", "No module named 'zz_not_installed'"),
        ("raise ValueError('at import')", "ValueError: at import"),
        ("def broken(:", "SyntaxError"),
        ("import sys; sys.exit(3)", "tried to end the program"),
    ],
)
def test_a_module_that_does_not_import_is_one_error_with_the_remedy(installed: Any, plugin: str, says: str) -> None:
    registry = installed(plugin)

    error = _failure(lambda: registry.provider("store", "vault"))

    assert says in error.what
    assert "pip install -U acme" in error.remedy
    assert "harness2 plugins disable store.vault" in error.remedy


def test_a_failed_import_is_not_tried_again(installed: Any, tmp_path: Path) -> None:
    count = tmp_path / "count"
    registry = installed(f"open({str(count)!r}, 'a').write('x'); raise ValueError('once')")

    for _ in range(3):
        _failure(lambda: registry.provider("store", "vault"))

    assert count.read_text() == "x"


def test_what_a_plugin_prints_at_import_stays_off_standard_output(
    installed: Any, source: Callable[..., str], capsys: pytest.CaptureFixture[str]
) -> None:
    installed(source("store", "vault", "zz_acme.work:Box", extra="print('hello from a plugin')")).provider(
        "store", "vault"
    )
    captured = capsys.readouterr()
    assert captured.out == ""
    assert "hello from a plugin" in captured.err


HOOKED = "from harness2_core.api import Provider, hookimpl\n@hookimpl\ndef {signature}:\n    {body}\n"


@pytest.mark.parametrize(
    ("plugin", "says"),
    [
        ("", "implements no hook `harness2_stores`"),
        (HOOKED.format(signature="harness2_judges()", body="return []"), "implements no hook `harness2_stores`"),
        (HOOKED.format(signature="harness2_stores()", body="return []"), "returns no provider 'vault'"),
        (HOOKED.format(signature="harness2_stores()", body="return None"), "returned None where a list of Provider"),
        (HOOKED.format(signature="harness2_stores()", body="return 'vault'"), "returned str where a list of Provider"),
        (HOOKED.format(signature="harness2_stores()", body="return [1]"), "returned int where a list of Provider"),
        (HOOKED.format(signature="harness2_stores()", body="1 / 0"), "raised ZeroDivisionError"),
        (HOOKED.format(signature="harness2_stores()", body="exit(2)"), "tried to end the program"),
        (HOOKED.format(signature="harness2_stores(config)", body="return []"), "a hook does not fit"),
        (HOOKED.format(signature="harness2_storse()", body="return []"), "unknown hook 'harness2_storse'"),
        (
            HOOKED.format(signature="harness2_stores()", body="return [Provider('vualt', 's', 'a:b')]"),
            "did you mean 'vualt'?",
        ),
        (HOOKED.format(signature="harness2_stores()", body="return [Provider('vault', 's', 'no colon')]"), "no colon"),
    ],
)
def test_a_hook_that_does_not_fit_is_one_error_that_says_what_was_expected(
    installed: Any, plugin: str, says: str
) -> None:
    registry = installed(plugin)
    assert says in _failure(lambda: registry.provider("store", "vault")).what


def test_a_misfit_of_one_plugin_leaves_another_usable(distributions: Any, source: Callable[..., str]) -> None:
    bad = HOOKED.format(signature="harness2_storse()", body="return []")
    distributions.add("bad", {"store.bad": "zz_bad"}, {"zz_bad.py": bad})
    distributions.add("good", {"store.good": "zz_good"}, {"zz_good.py": source("store", "good", "zz_good:x")})
    registry = Registry.installed(path=distributions.path)
    with pytest.raises(PluginError):
        registry.provider("store", "bad")

    assert registry.provider("store", "good").name == "good"


@pytest.mark.parametrize(
    ("factory", "says"),
    [
        ("zz_acme.work:Bxo", "'zz_acme.work:Bxo' does not exist: did you mean 'Box'?"),
        ("zz_acme.nowhere:Box", "No module named 'zz_acme.nowhere'"),
        ("zz_acme.work:NOT_CALLABLE", "is not callable"),
        ("zz_acme.work:raises", "raised RuntimeError: no room"),
        ("zz_acme.work:exits", "tried to end the program"),
        ("zz_acme.work:Plain", "raised TypeError"),
    ],
)
def test_a_factory_that_is_missing_or_fails_is_one_error(installed: Any, factory: str, says: str) -> None:
    registry = installed(factory=factory)
    error = _failure(lambda: registry.make("store", "vault"))
    assert says in error.what
    assert "acme" in error.remedy


def test_what_a_factory_explains_is_kept_with_its_own_remedy(installed: Any) -> None:
    error = _failure(lambda: installed(factory="zz_acme.work:explains").make("store", "vault"))
    assert "the folder x is missing" in error.what
    assert error.remedy == "create it"


@pytest.mark.parametrize("settings", ["zz_acme.work:Plain", "zz_acme.work:NOT_CALLABLE", "zz_acme.work:Nothing"])
def test_a_settings_class_must_be_there_and_an_attrs_class(installed: Any, settings: str) -> None:
    registry = installed(settings=settings)
    error = _failure(lambda: registry.settings_class("store", "vault"))
    assert settings in error.what


def test_settings_of_another_class_are_refused(installed: Any) -> None:
    assert "it takes Settings" in _failure(lambda: installed().make("store", "vault", object())).what


@pytest.mark.parametrize("name", ["vault", "store.vault", "acme"])
def test_a_disabled_plugin_is_never_imported(installed: Any, distributions: Any, name: str) -> None:
    installed("raise AssertionError('imported')")
    registry = Registry.installed([OffSwitch(name, "--disable-plugin")], path=distributions.path)

    with pytest.raises(PluginError, match="disabled by --disable-plugin"):
        registry.make("store", "vault")

    assert "zz_acme.plugin" not in sys.modules
    assert registry.names("store") == ()


def test_a_switch_that_names_nothing_is_an_error_with_near_names(installed: Any, distributions: Any) -> None:
    installed()
    with pytest.raises(PluginError, match=r"'store\.vualt'") as caught:
        Registry.installed([OffSwitch("store.vualt", "--disable-plugin")], path=distributions.path)
    assert "'store.vault'" in caught.value.remedy


def _with_defaults(distributions: Any, source: Callable[..., str], *tables: str) -> Registry:
    for name in ("vault", "chest"):
        text = source("store", name, "zz_x:y")
        distributions.add(f"acme-{name}", {f"store.{name}": f"zz_{name}"}, {f"zz_{name}.py": text})
    for index, table in enumerate(tables):
        distributions.add(
            f"bundle{index}", {"defaults.bundle": f"zz_table{index}"}, {f"zz_table{index}.py": f"DEFAULTS = {table}"}
        )
    return Registry.installed(path=distributions.path)


def test_the_configured_name_wins(distributions: Any, source: Callable[..., str]) -> None:
    registry = _with_defaults(distributions, source, "{'store': 'vault'}")
    assert registry.default("store", "chest") == "chest"
    assert registry.default("store", "acme-chest:chest") == "acme-chest:chest"


def test_a_configured_name_that_is_not_there_is_an_error_at_once(
    distributions: Any, source: Callable[..., str]
) -> None:
    with pytest.raises(PluginError, match="chets"):
        _with_defaults(distributions, source).default("store", "chets")


def test_the_table_of_defaults_decides_among_several(distributions: Any, source: Callable[..., str]) -> None:
    assert _with_defaults(distributions, source, "{'store': 'vault'}").default("store") == "vault"


def test_without_a_table_several_are_an_error_that_lists_them(distributions: Any, source: Callable[..., str]) -> None:
    with pytest.raises(PluginError, match=r"chest \(acme-chest 1.0\), vault \(acme-vault 1.0\)") as caught:
        _with_defaults(distributions, source).default("store")
    assert "harness2.toml" in caught.value.remedy


def test_without_a_table_the_only_one_is_used(installed: Any) -> None:
    assert installed().default("store") == "vault"


def test_none_of_a_kind_says_what_to_install(distributions: Any) -> None:
    with pytest.raises(PluginError) as caught:
        Registry.installed(path=distributions.path).default("store")
    assert "pip install" in caught.value.remedy


def test_a_default_that_is_not_installed_names_the_table(distributions: Any, source: Callable[..., str]) -> None:
    with pytest.raises(PluginError, match=r"'safe'.*the default that bundle0 1.0 sets"):
        _with_defaults(distributions, source, "{'store': 'safe'}").default("store")


def test_two_tables_that_disagree_are_an_error(distributions: Any, source: Callable[..., str]) -> None:
    registry = _with_defaults(distributions, source, "{'store': 'vault', 'judge': 'a'}", "{'store': 'chest'}")
    with pytest.raises(PluginError, match=r"bundle0 1\.0 says 'vault'; bundle1 1\.0 says 'chest'"):
        registry.default("store")


def test_two_tables_that_agree_are_one(distributions: Any, source: Callable[..., str]) -> None:
    agreeing = _with_defaults(distributions, source, "{'store': 'vault'}", "{'store': 'vault'}")
    assert agreeing.default("store") == "vault"


@pytest.mark.parametrize("table", ["3", "{'store': 3}", "{1: 'vault'}"])
def test_a_table_of_defaults_that_is_none_is_an_error(
    distributions: Any, source: Callable[..., str], table: str
) -> None:
    with pytest.raises(PluginError, match="no table of kind to name"):
        _with_defaults(distributions, source, table).default("store")


def test_core_brings_plain_access_and_defaults_to_it(distributions: Any) -> None:
    from harness2_core.plugins import facade

    registry = Registry.installed(path=distributions.path)
    assert registry.default("access") == "plain"
    assert facade.access(registry, "plain").usage("0" * 64) is None


def test_an_interrupt_during_an_import_is_no_failure_of_the_plugin(installed: Any) -> None:
    registry = installed("raise KeyboardInterrupt")
    with pytest.raises(KeyboardInterrupt):
        registry.provider("store", "vault")


@pytest.mark.process
def test_a_plugin_that_ends_the_interpreter_is_survived_by_the_doctor(installed: Any, distributions: Any) -> None:
    from harness2_core.plugins.doctor import findings

    catalog = installed("import os; os._exit(7)").catalog

    (finding,) = findings(catalog, 60)

    assert (finding.subject, finding.level) == ("store.vault", "error")
    assert "exit code 7" in finding.what


@pytest.mark.process
def test_importing_the_plugins_layer_costs_no_heavy_library() -> None:
    code = (
        "import json, sys; from harness2_core.plugins import catalog, discovery, off_switches; discovery.scan();"
        "print(json.dumps(sorted({name.partition('.')[0] for name in sys.modules})))"
    )
    loaded = json.loads(subprocess.run([sys.executable, "-c", code], capture_output=True, check=True).stdout)
    assert not {"attr", "attrs", "cattrs", "pluggy", "jinja2", "tomlkit", "typer", "packaging"} & set(loaded)
