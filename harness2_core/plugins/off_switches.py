"""Off switches: plugins that are never imported, by `--disable-plugin`, by environment, or by the user's own list.

The list is `plugins.toml` in the user's configuration directory. Nothing here imports a plugin, so that a broken one
can always be switched off.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass  # not attrs: read before every command, and must stay cheap
from pathlib import Path
from typing import TYPE_CHECKING, Final

from harness2_core.model.errors import ConfigError, PluginError
from harness2_core.model.nearest import near

from .discovery import Found, Scan, normal

if TYPE_CHECKING:
    import tomlkit

VARIABLE: Final = "HARNESS2_DISABLE_PLUGINS"
OPTION: Final = "--disable-plugin"
_KEY: Final = "disabled"
_MEND: Final = f'mend it (it reads `{_KEY} = ["name"]`) or delete it'


@dataclass(frozen=True, slots=True)
class OffSwitch:
    """`name` is a plugin's name, `kind.name`, or a distribution's; `origin` says who switched it off."""

    name: str
    origin: str

    def covers(self, found: Found) -> bool:
        return self.name in (found.name, f"{found.kind}.{found.name}") or normal(self.name) == normal(
            found.distribution
        )


def user_list() -> Path:
    """Where `harness2 plugins disable` keeps its list."""
    from platformdirs import user_config_path  # here: only commands that use plugins need it

    return user_config_path("harness2", appauthor=False) / "plugins.toml"


def switches(options: Iterable[str], environ: Mapping[str, str], kept: Path | None = None) -> tuple[OffSwitch, ...]:
    """All off switches in force; `kept` is the user's list, by default `user_list()`."""
    path = user_list() if kept is None else kept
    named = [part.strip() for part in environ.get(VARIABLE, "").split(",")]
    return (
        *(OffSwitch(name, OPTION) for name in options),
        *(OffSwitch(name, f"the variable {VARIABLE}") for name in named if name),
        *(OffSwitch(name, str(path)) for name in read_list(path)),
    )


def check_names(given: Sequence[OffSwitch], scan: Scan, kept: Path | None = None) -> None:
    """A switch that covers nothing is an error with near names, except in the user's list: it outlives plugins."""
    path = str(user_list() if kept is None else kept)
    for switch in given:
        if switch.origin != path:
            known_name(switch.name, scan, f" (named by {switch.origin})")


def known_name(name: str, scan: Scan, where: str = "") -> tuple[Found, ...]:
    """The installed plugins that `name` covers, those of other API versions too; `PluginError` when there are none."""
    installed = (*scan.found, *(flaw.found for flaw in scan.flaws if flaw.found is not None))
    covered = tuple(found for found in installed if OffSwitch(name, "").covers(found))
    distributions = {*(found.distribution for found in installed), *(flaw.distribution for flaw in scan.flaws)}
    if not covered and normal(name) not in {normal(distribution) for distribution in distributions}:
        names = {form for found in installed for form in (found.name, f"{found.kind}.{found.name}")} | distributions
        raise PluginError(
            f"no installed plugin is named {name!r}{where}",
            f"{near(name, names)}`harness2 plugins list` shows the names",
        )
    return covered


def read_list(path: Path) -> tuple[str, ...]:
    """The names in the user's list; a missing file is an empty list."""
    try:
        text = path.read_text(encoding="utf-8")
    except FileNotFoundError:
        return ()
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError(f"{path}: cannot be read: {error}", _MEND) from error
    import tomllib  # here: most users have no such list

    try:
        names = tomllib.loads(text).get(_KEY, [])
    except tomllib.TOMLDecodeError as error:
        raise ConfigError(f"{path}: {error}", _MEND) from error
    if not isinstance(names, list) or not all(isinstance(name, str) for name in names):
        raise ConfigError(f"{path}: `{_KEY}` is {names!r}", _MEND)
    return tuple(names)


def disable(name: str, scan: Scan, path: Path) -> bool:
    """Puts `name` on the list at `path`; False when it was there already."""
    known_name(name, scan)
    return _change(path, lambda names: names if name in names else (*names, name))


def enable(name: str, path: Path) -> None:
    """Takes `name` off the list at `path`."""
    names = read_list(path)
    if name not in names:
        listed = f"it lists {', '.join(names)}" if names else "it lists nothing"
        raise PluginError(f"{name!r} is not disabled in {path}", f"{near(name, names)}{listed}")
    _change(path, lambda names: tuple(item for item in names if item != name))


def _change(path: Path, edit: Callable[[tuple[str, ...]], tuple[str, ...]]) -> bool:
    """Rewrites the list, comments kept, in one step that a crash cannot tear and a second process cannot interleave."""
    import tomlkit
    from filelock import FileLock

    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with FileLock(path.with_name(f"{path.name}.lock")):
            before = read_list(path)
            after = edit(before)
            if after == before:
                return False
            document = tomlkit.parse(path.read_text(encoding="utf-8")) if path.exists() else _new_document()
            document[_KEY] = list(after)
            written = path.with_name(f"{path.name}.{os.getpid()}.tmp")
            written.write_text(tomlkit.dumps(document), encoding="utf-8")
            written.replace(path)
    except OSError as error:
        raise ConfigError(f"{path}: cannot be written: {error}", f"use {OPTION} or the variable {VARIABLE}") from error
    return True


def _new_document() -> tomlkit.TOMLDocument:
    import tomlkit

    document = tomlkit.document()
    document.add(tomlkit.comment("Plugins that Harness2 never imports; kept by `harness2 plugins disable|enable`."))
    return document
