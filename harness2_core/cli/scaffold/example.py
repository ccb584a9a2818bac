"""An installed plugin as the beginning of another: the part of its package that one provider needs, under a new name.

Modules are followed from the provider's factory and settings, by import and by file name; folders of data go along
when their name is a text in one of those. Tests are in no wheel, so the new plugin's begin anew.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping
from importlib import metadata, util
from pathlib import Path

import attrs
from attrs import field, frozen

from harness2_core.model.errors import ConfigError
from harness2_core.model.frozen import FrozenMap, texts
from harness2_core.model.kinds import KINDS
from harness2_core.plugins.discovery import Found, is_core
from harness2_core.plugins.registry import Registry

from .kinds import SCAFFOLDS, Scaffold
from .naming import Names

_NO_PROVIDER = "listener"


@frozen
class Example:
    """`files` are paths below the package `package`; `factory` and `settings` are references into it."""

    found: Found
    package: str
    factory: str
    settings: str
    summary: str
    files: FrozenMap[str] = field(converter=texts)
    required: tuple[str, ...]
    """Settings without a default."""
    requires: tuple[str, ...]
    """What its distribution needs beside core."""
    license: str

    @property
    def scaffold(self) -> Scaffold:
        """What stands in the place of the kind's own."""
        kind = SCAFFOLDS[self.found.kind]
        summary = re.sub(r"\s+", " ", self.summary.replace('"', "'").replace("\\", "/"))
        return Scaffold(kind.protocol, summary, depends=self.requires)

    def renamed(self, text: str, names: Names) -> str:
        """`text` of the example, speaking of the new package."""
        return re.sub(rf"\b{re.escape(self.package)}\b", names.package, text)


def example_of(registry: Registry, kind: str, name: str) -> Example:
    """The installed plugin `name` of that kind; `ConfigError` when nothing can be begun from it."""
    assert kind in KINDS
    found = registry.find(kind, name)
    package = found.module.partition(".")[0]
    if kind == _NO_PROVIDER:
        raise ConfigError(f"{found} is its own module: there is nothing around it to begin from", "copy that module")
    if package == "harness2_core":
        raise ConfigError(f"{found} is a part of core", "begin without --from")
    provider = registry.provider(kind, found.qualified)
    root = _root(package, found)
    entries = [text.partition(":")[0] for text in (provider.factory, provider.settings) if text]
    if any(module.partition(".")[0] != package for module in entries):
        raise ConfigError(f"{found} is made of more than its package {package}", "copy its project instead")
    stated = metadata.distribution(found.distribution)
    return Example(
        found,
        package,
        provider.factory,
        provider.settings,
        provider.summary,
        dict(_needed(root, package, entries)),
        _required(registry.settings_class(kind, found.qualified)),
        tuple(text for text in stated.requires or () if not is_core(text) and ";" not in text),
        str(stated.metadata.json.get("license_expression", "its own terms")),
    )


def _required(settings: type | None) -> tuple[str, ...]:
    fields = () if settings is None else attrs.fields(settings)
    return tuple(item.name for item in fields if item.default is attrs.NOTHING)


def _root(package: str, found: Found) -> Path:
    spec = util.find_spec(package)
    places = list(spec.submodule_search_locations or ()) if spec else []
    if len(places) != 1:
        raise ConfigError(f"{found} is no package of its own", "copy its module instead")
    return Path(places[0])


def _needed(root: Path, package: str, entries: list[str]) -> Iterator[tuple[str, str]]:
    """Path -> text of what the entry modules need of their package, `__init__.py` and `py.typed` included."""
    modules = {path.relative_to(root).as_posix(): path for path in sorted(root.rglob("*.py"))}
    todo = ["__init__.py", *(_path(entry, package, modules) for entry in entries)]
    taken: set[str] = set()
    while todo:
        path = todo.pop()
        if path in taken or path not in modules:
            continue
        taken.add(path)
        tree = ast.parse(text := modules[path].read_text(encoding="utf-8"))
        yield path, text
        parts = path.removesuffix(".py").removesuffix("/__init__").split("/")
        for imported in _imports(
            tree, [package, *parts][:-1] if not path.endswith("__init__.py") else [package, *parts]
        ):
            todo += [_path(imported, package, modules), _path(imported.rpartition(".")[0], package, modules)]
        named = {
            node.value for node in ast.walk(tree) if isinstance(node, ast.Constant) and isinstance(node.value, str)
        }
        todo += [item for item in modules if item.rpartition("/")[2] in named]
        for folder in sorted(item for item in root.iterdir() if item.is_dir() and item.name in named):
            yield from _data(folder, root, modules)
            todo += [item for item in modules if item.startswith(f"{folder.name}/")]
    for file in sorted(item for item in root.iterdir() if item.is_file() and item.suffix != ".py"):
        yield file.name, file.read_text(encoding="utf-8")


def _data(folder: Path, root: Path, modules: Mapping[str, Path]) -> Iterator[tuple[str, str]]:
    for file in sorted(folder.rglob("*")):
        path = file.relative_to(root).as_posix()
        if file.is_file() and path not in modules and "__pycache__" not in file.parts:
            yield path, file.read_bytes().decode(errors="surrogateescape")  # any bytes: `write` gives them back


def _imports(tree: ast.AST, package: list[str]) -> Iterator[str]:
    """Whole names of what is imported, members included: one of them may be a module."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            above = package[: len(package) - node.level + 1] if node.level else []
            module = ".".join([*above, *([node.module] if node.module else [])])
            yield from (f"{module}.{alias.name}" for alias in node.names)


def _path(module: str, package: str, modules: Mapping[str, Path]) -> str:
    """A module's file below the package; empty for one of another package."""
    if module.partition(".")[0] != package:
        return ""
    path = module.removeprefix(package).lstrip(".").replace(".", "/")
    return next((item for item in (f"{path}.py", f"{path}/__init__.py".lstrip("/")) if item in modules), "")
