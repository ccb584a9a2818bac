"""Plugins of other versions of the API: older ones run while their version is supported, others are told what fits."""

from __future__ import annotations

import importlib
import inspect
import types
from collections.abc import Callable
from typing import Any

import pluggy
import pytest

from harness2_core.api import Happened, hookspecs
from harness2_core.model.errors import PluginError
from harness2_core.plugins import discovery, facade
from harness2_core.plugins.discovery import scan
from harness2_core.plugins.quick_scan import installed_commands
from harness2_core.plugins.registry import Registry

SPEC = pluggy.HookspecMarker(hookspecs.PROJECT)


@pytest.fixture
def spoken(monkeypatch: pytest.MonkeyPatch) -> Callable[[int, int], None]:
    """Makes this core one that speaks the versions from the one to the other."""

    def speak(oldest: int, newest: int) -> None:
        monkeypatch.setattr(discovery, "OLDEST_API", oldest)
        monkeypatch.setattr(discovery, "API_VERSION", newest)

    return speak


Spoken = Callable[[int, int], None]


def test_an_older_plugin_runs_as_long_as_its_version_is_supported(
    distributions: Any, source: Callable[..., str], spoken: Spoken
) -> None:
    spoken(1, 3)
    for version in (1, 2, 3):
        modules = {f"zz_v{version}.py": source("store", f"v{version}", f"zz_v{version}:make") + "\nmake = list\n"}
        entries = {f"store.v{version}": f"zz_v{version}"}
        distributions.add(f"zz-v{version}", entries, modules, group=f"harness2.v{version}")

    registry = Registry.installed(path=distributions.path)

    assert [registry.make("store", f"v{version}") for version in (1, 2, 3)] == [[], [], []]
    assert registry.catalog.scan.flaws == ()


@pytest.mark.parametrize(
    ("group", "requires", "remedy"),
    [
        (
            "harness2.v1",
            ["harness2-core>=0.1,<0.2", "attrs"],
            "pip install -U acme, or keep it with the core it was written for: pip install 'harness2-core>=0.1,<0.2'",
        ),
        ("harness2.v1", [], "pip install -U acme"),
        ("harness2.v4", ["harness2-core>=2,<3; python_version > '3'"], "pip install -U 'harness2-core>=2,<3'"),
        ("harness2.v4", [], "pip install -U harness2-core"),
    ],
)
def test_one_that_is_no_longer_or_not_yet_spoken_is_named_with_the_release_that_fits(
    distributions: Any, spoken: Spoken, group: str, requires: list[str], remedy: str
) -> None:
    spoken(2, 3)
    distributions.add("acme", {"store.vault": "zz_acme"}, {}, group=group, requires=requires, version="1.4")

    with pytest.raises(PluginError, match=r"'store.vault = zz_acme' of acme 1.4: .*this core speaks 2 to 3") as raised:
        Registry.installed(path=distributions.path).find("store", "vault")

    assert raised.value.remedy == remedy


def test_of_several_versions_in_one_distribution_the_newest_that_is_spoken_counts(
    distributions: Any, spoken: Spoken
) -> None:
    text = "".join(f"[harness2.v{n}]\nstore.vault = zz_v{n}\ncommand.zz-do = zz_v{n}\n" for n in (3, 1, 2))
    distributions.add("acme", {}, {}, entry_points=text)

    for oldest, newest, module in ((1, 1, "zz_v1"), (1, 2, "zz_v2"), (2, 3, "zz_v3"), (2, 9, "zz_v3")):
        spoken(oldest, newest)
        found = scan(distributions.path)
        assert [item.module for item in found.found] == [module, module]
        assert found.flaws == ()
        assert [item.module for item in installed_commands(distributions.path)] == [module]


def test_what_one_distribution_offers_twice_in_one_version_is_a_clash(distributions: Any, spoken: Spoken) -> None:
    spoken(1, 2)
    text = "[harness2.v1]\nstore.vault = old\n[harness2.v2]\nstore.vault = one\n[harness2.v2]\nstore.vault = two\n"
    distributions.add("acme", {}, {}, entry_points=text)

    with pytest.raises(PluginError, match="offered more than once"):
        Registry.installed(path=distributions.path).find("store", "vault")


LISTENER = """
    from harness2_core.api import hookimpl
    SEEN = []

    @hookimpl
    def harness2_event({names}):
        SEEN.append([{names}])
"""
EVENT = Happened("step-started", "2020-01-01T00:00:00Z")


@pytest.mark.parametrize(("names", "seen"), [("", []), ("event", [EVENT]), ("event, of_a_later_core", [EVENT, "new"])])
def test_a_hook_may_be_given_more_arguments_than_an_implementation_names(
    distributions: Any, monkeypatch: pytest.MonkeyPatch, names: str, seen: list[object]
) -> None:
    @SPEC
    def harness2_event(event: Happened, of_a_later_core: str) -> None: ...

    monkeypatch.setattr(hookspecs, "harness2_event", harness2_event)
    distributions.add("acme", {"listener.zz": "zz_listens"}, {"zz_listens.py": LISTENER.format(names=names)})
    registry = Registry.installed(path=distributions.path)
    _, module = registry.listening("zz")

    registry.loader.hook("harness2_event", (module,))(event=EVENT, of_a_later_core="new")

    assert [seen] == importlib.import_module("zz_listens").SEEN


def test_a_listener_that_names_no_argument_hears_what_core_tells_today(distributions: Any) -> None:
    distributions.add("acme", {"listener.zz": "zz_listens"}, {"zz_listens.py": LISTENER.format(names="")})
    (listener,) = facade.extras(Registry.installed(path=distributions.path), ["zz"])

    listener.event(EVENT)

    assert importlib.import_module("zz_listens").SEEN == [[]]


@pytest.mark.parametrize("hook", [name for name in vars(hookspecs) if name.startswith("harness2_")])
def test_every_hook_may_get_another_argument(hook: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever the hook: an implementation as plugins have it now is called as before."""
    names = [*inspect.signature(getattr(hookspecs, hook)).parameters]
    space: dict[str, Any] = {"marked": SPEC, "done": hookspecs.hookimpl}
    for text in (
        f"@marked\ndef spec({', '.join([*names, 'more'])}): ...",
        f"@done\ndef got({', '.join(names)}): return [1]",
    ):
        exec(text, space)
    monkeypatch.setattr(hookspecs, hook, space["spec"])
    manager = pluggy.PluginManager(hookspecs.PROJECT)
    manager.add_hookspecs(hookspecs)
    plugin = types.ModuleType("zz_plugin")
    setattr(plugin, hook, space["got"])

    manager.register(plugin)
    manager.check_pending()

    assert getattr(manager.hook, hook)(**dict.fromkeys(names), more=None) == [[1]]
