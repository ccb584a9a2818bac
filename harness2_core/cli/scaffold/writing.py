"""Rendering the templates into a folder that was not there before.

Templates that do not end in `.jinja` are parts of others.
"""

from __future__ import annotations

import shutil
from collections.abc import Mapping
from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import Final

from jinja2 import Environment, FunctionLoader, StrictUndefined

from harness2_core import __version__
from harness2_core.model.errors import ConfigError
from harness2_core.model.kinds import plural
from harness2_core.plugins.discovery import GROUP

from .example import Example
from .kinds import SCAFFOLDS
from .naming import Names

TEMPLATES: Final = files(__package__) / "templates"
COMMON: Final = "common"
FROM: Final = "from"
SUFFIX: Final = ".jinja"


def rendered(names: Names, example: Example | None = None) -> Mapping[str, str]:
    """Path in the new folder -> text. With `example`, its code in the place of the small implementation."""
    scaffold = SCAFFOLDS[names.kind] if example is None else example.scaffold
    kind = names.kind
    factory = scaffold.factory.format(cls=names.cls)
    reference = f"{names.package}.{kind}:{factory}"
    settings = f"{names.package}.settings:Settings" if scaffold.settings else ""
    if example is not None:
        reference, settings = (example.renamed(text, names) for text in (example.factory, example.settings))
    shared = {
        "names": names,
        "kind": kind,
        "scaffold": scaffold,
        "example": example,
        "factory": factory,
        "reference": reference,
        "settings": settings,
        "hook": f"harness2_{plural(names.kind)}",
        "table": f"{plural(names.kind)}.{names.plain}",
        "group": GROUP,
        "core": core_bound(__version__),
    }
    environment = Environment(
        loader=FunctionLoader(_source),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        autoescape=False,  # Python, TOML and Markdown; every value was checked by `naming`
    )
    made = {}
    for path, template in (_templates(kind) if example is None else _templates_from(kind)).items():
        text = environment.get_template(template).render(shared)
        if text.strip() or path.endswith("py.typed"):  # settings of a kind that has none come out blank
            made[_placed(path, names)] = text
    if example is not None:
        for path, text in example.files.items():
            made[f"{names.package}/{path}"] = example.renamed(text, names)
    return made


def write(texts: Mapping[str, str], folder: Path) -> None:
    """All or nothing, into a new `folder`: `ConfigError` when there is anything at that path, be it a broken link."""
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        folder.mkdir()
    except FileExistsError:
        in_the_way = folder if folder.exists() or folder.is_symlink() else folder.parent
        raise ConfigError(
            f"{in_the_way} exists, and nothing is ever overwritten", "name another place with --to, or move it away"
        ) from None
    except OSError as error:
        raise ConfigError(f"{folder} cannot be made: {error.strerror}", "name another place with --to") from error
    try:
        for path, text in texts.items():
            target = folder / path
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(text.encode(errors="surrogateescape"))
    except OSError as error:
        shutil.rmtree(folder)
        raise ConfigError(f"{folder} cannot be written: {error.strerror}", "mend that and run it again") from error


def core_bound(version: str) -> str:
    """The versions of core that a plugin written against `version` works with: up to the next that may break it."""
    major, minor = version.split(".")[:2]
    return f">={major}.{minor},<{f'0.{int(minor) + 1}' if major == '0' else int(major) + 1}"


def _placed(path: str, names: Names) -> str:
    """`package/mode.py` and `test/test_package.py` in the templates are of no package of ours and no test of ours."""
    folder, _, rest = path.partition("/")
    placed = {"package": names.package, "test": "tests"}.get(folder, folder)
    return f"{placed}/{rest.replace('test_package', f'test_{names.snake}')}" if rest else path


def _templates(kind: str) -> dict[str, str]:
    """Path in the new folder -> template; a kind's own file takes the place of the common one."""
    found: dict[str, str] = {}
    for folder in (COMMON, kind):
        for path in _below(TEMPLATES / folder):
            found[path.removesuffix(SUFFIX)] = f"{folder}/{path}"
    return found


def _templates_from(kind: str) -> dict[str, str]:
    """The same for a plugin that is begun from another: all but its work."""
    hooks = f"{kind}/package/plugin.py{SUFFIX}"
    own = {"package/plugin.py": hooks} if TEMPLATES.joinpath(*hooks.split("/")).is_file() else {}
    shared = {path: f"{COMMON}/{path}{SUFFIX}" for path in ("pyproject.toml", "package/plugin.py")}
    return shared | own | {path.removesuffix(SUFFIX): f"{FROM}/{path}" for path in _below(TEMPLATES / FROM)}


def _below(folder: Traversable, prefix: str = "") -> list[str]:
    paths: list[str] = []
    for item in sorted(folder.iterdir(), key=lambda item: item.name):
        if item.is_dir():
            paths += _below(item, f"{prefix}{item.name}/")
        elif item.name.endswith(SUFFIX):
            paths.append(prefix + item.name)
    return paths


def _source(name: str) -> str | None:
    source = TEMPLATES.joinpath(*name.split("/"))
    return source.read_text(encoding="utf-8") if source.is_file() else None
