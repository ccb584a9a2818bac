"""Typed calls: what a plugin made has the members of its protocol, and listeners answer as their hooks say."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from harness2_core.api import Happened, HarnessTree
from harness2_core.model.errors import ConfigError, PluginError
from harness2_core.plugins import facade
from harness2_core.plugins.registry import Registry

THINGS = """
    class Adapter:
        spec = None
        def tasks(self, split): return []
        def task(self, id): ...
        def base_tree(self, surface): ...

    class Half:
        spec = None
        tasks = ["not a method"]
        def task(self, id): ...

    class Agent:
        surface = None
        def install(self, tree, prompt, channel, place, endpoint): ...
        def parse(self, stdout, stderr, exit): ...

    class Remote:
        surface = None
        def run(self, tree, prompt, channel, workspace, ctx): ...

    class Store:
        def __init__(self, runs): self.runs = runs
        def put_blob(self, source): ...
        def has_blob(self, digest): ...
        def open_blob(self, digest): ...
        def put(self, kind, key, value): ...
        def get(self, kind, key): ...
        def scan(self, kind): ...
        def delete(self, kind, key): ...
        def claim(self, key): ...

    class Cage:
        def wrap(self, argv, policy, place): return argv
        def works(self): return ""

    class BrokenCage(Cage):
        def works(self): return "no user namespaces"

    class Explodes:
        @property
        def spec(self): raise RuntimeError("not yet")
        tasks = task = base_tree = lambda self: None

    def nothing(): return None
"""


@pytest.fixture
def made(distributions: Any, source: Callable[..., str]) -> Callable[[str, str], Registry]:
    """A registry with one provider of a kind, called `it`."""

    def make(kind: str, factory: str) -> Registry:
        token = ".it" if kind in ("mode", "substrate") else ""
        text = source(kind, "it", f"zz_things:{factory}")
        distributions.add("acme", {f"{kind}.it{token}": "zz_plugin"}, {"zz_plugin.py": text, "zz_things.py": THINGS})
        return Registry.installed(path=distributions.path)

    return make


def test_an_adapter_has_its_members(made: Any) -> None:
    assert facade.adapter(made("adapter", "Adapter"), "it").tasks("all") == []


@pytest.mark.parametrize(
    ("kind", "factory", "lacks"),
    [
        ("adapter", "Half", "is no Adapter: it lacks `tasks`, `base_tree`"),
        ("adapter", "nothing", "returned NoneType"),
        ("judge", "Half", "is no Judge: it lacks `items`, `grade`"),
        ("mode", "Half", "is no Mode: it lacks `plan`"),
        ("engine", "Half", "is no Engine: it lacks `submit`, `wait`, `now`, `cancel`, `close`"),
        ("selector", "Half", "is no Selector: it lacks `select`"),
        ("reflector", "Half", "is no Reflector: it lacks `reflect`"),
        ("proposer", "Half", "is no Proposer: it lacks `run`"),
        ("sandbox", "Half", "is no Sandbox: it lacks `wrap`, `works`"),
        ("access", "Half", "is no ModelAccess: it lacks `open`, `usage`"),
        ("substrate", "Half", "it lacks `surface`, `run`"),
        ("adapter", "Explodes", "raised RuntimeError: not yet"),
    ],
)
def test_what_lacks_a_member_is_an_error_that_names_it(made: Any, kind: str, factory: str, lacks: str) -> None:
    registry = made(kind, factory)
    with pytest.raises(PluginError) as caught:
        getattr(facade, kind)(registry, "it")
    assert lacks.replace("is no", "which is no") in caught.value.what or lacks in caught.value.what
    assert "acme 1.0" in caught.value.what
    assert "pip install -U acme" in caught.value.remedy


@pytest.mark.parametrize("factory", ["Agent", "Remote"])
def test_a_substrate_runs_here_or_behind_a_service(made: Any, factory: str) -> None:
    assert type(facade.substrate(made("substrate", factory), "it")).__name__ == factory


def test_a_store_is_given_the_runs_directory(made: Any) -> None:
    store: Any = facade.store(made("store", "Store"), "it", None, Path("/runs"))
    assert store.runs == Path("/runs")


@pytest.mark.parametrize("name", ["", "none"])
def test_no_sandbox_is_a_choice(made: Any, name: str) -> None:
    registry = made("sandbox", "Cage")
    assert facade.sandbox(registry, name) is None
    assert facade.choose_sandbox(registry, name, lambda name: None)[:2] == ("", None)


def test_auto_takes_the_sandbox_that_works(made: Any) -> None:
    name, sandbox, reason = facade.choose_sandbox(made("sandbox", "Cage"), "auto", lambda name: None)
    assert (name, type(sandbox).__name__, reason) == ("it", "Cage", "")


@pytest.mark.parametrize("asked", ["auto", "it"])
def test_a_sandbox_that_does_not_work_is_never_left_out_silently(made: Any, asked: str) -> None:
    with pytest.raises(ConfigError, match="no user namespaces") as raised:
        facade.choose_sandbox(made("sandbox", "BrokenCage"), asked, lambda name: None)
    assert "--sandbox none" in raised.value.remedy


def test_auto_without_any_sandbox_is_an_error_with_the_way_out(made: Any) -> None:
    with pytest.raises(ConfigError, match="no sandbox is installed") as raised:
        facade.choose_sandbox(made("store", "Store"), "auto", lambda name: None)
    assert "--sandbox none" in raised.value.remedy


LISTENER = """
    from harness2_core.api import hookimpl
    SEEN = []

    @hookimpl
    def harness2_event(event):
        SEEN.append(event.what)

    @hookimpl
    def harness2_check_tree(tree):
        return [f"{len(tree.files)} is too few"]

    @hookimpl
    def harness2_preflight():
        return []
"""
EVENT = Happened("step-started", "2020-01-01T00:00:00Z")


def test_only_the_plugins_named_are_called_each_by_itself(distributions: Any) -> None:
    import importlib

    for name in ("one", "two"):
        distributions.add(f"acme-{name}", {f"listener.{name}": f"zz_{name}"}, {f"zz_{name}.py": LISTENER})
    (one,) = facade.extras(Registry.installed(path=distributions.path), ["one", "one"])

    one.event(EVENT)

    assert importlib.import_module("zz_one").SEEN == ["step-started"]
    assert one.check_tree(HarnessTree({})) == ("0 is too few",)
    assert one.preflight() == ()
    assert importlib.import_module("zz_two").SEEN == []


def test_a_plugin_in_use_that_is_not_named_hears_nothing(distributions: Any, source: Callable[..., str]) -> None:
    import importlib

    text = LISTENER.replace("\n    ", "\n") + source("store", "vault", "zz_x:y")
    distributions.add("acme", {"store.vault": "zz_vault"}, {"zz_vault.py": text})
    distributions.add("other", {"listener.one": "zz_one"}, {"zz_one.py": LISTENER})
    registry = Registry.installed(path=distributions.path)
    registry.provider("store", "vault")
    (one,) = facade.extras(registry, ["one"])

    one.event(EVENT)

    assert importlib.import_module("zz_one").SEEN == ["step-started"]
    assert importlib.import_module("zz_vault").SEEN == []


def test_a_hook_that_a_listener_leaves_out_says_nothing(distributions: Any) -> None:
    distributions.add("acme", {"listener.quiet": "zz_quiet"}, {"zz_quiet.py": ""})
    (quiet,) = facade.extras(Registry.installed(path=distributions.path), ["quiet"])
    quiet.event(EVENT)
    assert quiet.check_tree(HarnessTree({})) == ()


def test_a_plugin_of_another_kind_is_named_with_its_kind(distributions: Any, source: Callable[..., str]) -> None:
    text = source("store", "vault", "zz_x:y") + "\n@hookimpl\ndef harness2_preflight():\n    return ['no room']\n"
    distributions.add("acme", {"store.vault": "zz_vault"}, {"zz_vault.py": text})
    (extra,) = facade.extras(Registry.installed(path=distributions.path), ["store.vault"])
    assert extra.preflight() == ("no room",)


@pytest.mark.parametrize(
    ("body", "says"),
    [("raise KeyError('x')", "KeyError"), ("return 'text'", "'text'"), ("return [1]", "a list of texts")],
)
def test_a_listener_that_fails_is_blamed_by_name(distributions: Any, body: str, says: str) -> None:
    text = f"from harness2_core.api import hookimpl\n@hookimpl\ndef harness2_preflight():\n    {body}\n"
    distributions.add("acme", {"listener.loud": "zz_loud"}, {"zz_loud.py": text})
    (loud,) = facade.extras(Registry.installed(path=distributions.path), ["loud"])
    with pytest.raises(PluginError, match="listener 'loud' of acme") as caught:
        loud.preflight()
    assert says in caught.value.what


def test_an_extra_that_is_not_there_is_an_error_with_near_names(distributions: Any) -> None:
    distributions.add("acme", {"listener.loud": "zz_loud"}, {"zz_loud.py": ""})
    with pytest.raises(PluginError) as caught:
        facade.extras(Registry.installed(path=distributions.path), ["luod"])
    assert "'loud'" in caught.value.remedy
