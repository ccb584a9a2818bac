"""The configuration in layers: `harness2.toml`, then `HARNESS2_<TABLE>__<KEY>`, then options `-o table.key=value`.

A later layer overrides an earlier one key by key. Tables are `[run]`, `[roles.<role>]`, `[library]`, `[prices]` and one
for each provider, under the plural of its kind: `[adapters.tasks]`. Whatever belongs to no known table or field is an
error that names where it stands and the nearest name that exists: a misspelt limit must never be no limit.
"""

from __future__ import annotations

import os
import tomllib
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Final, TypeVar

from attrs import evolve, field, frozen

from harness2_core.model.errors import ConfigError
from harness2_core.model.kinds import KINDS, plural
from harness2_core.model.nearest import near

from .given import Given, Number, Origin
from .settings import build
from .toml_lines import Keys, lines_of

T = TypeVar("T")

FILE: Final = "harness2.toml"
FILE_VARIABLE: Final = "HARNESS2_CONFIG"
PREFIX: Final = "HARNESS2_"

FLAT: Final = ("run", "library")
"""Tables that hold keys."""

NAMED: Final = ("roles", "prices", *(plural(kind) for kind in KINDS if kind != "listener"))
"""Tables that hold one table a name."""


@frozen
class Config:
    """Layers as read. `file` is the file in use, if there is one; `base` is where relative defaults start from."""

    file: Path | None
    base: Path
    _layers: tuple[tuple[Keys, Given], ...] = field(repr=False)  # secrets may be in it
    """Key path and value, lower layers first."""

    @classmethod
    def load(
        cls,
        path: Path | None = None,
        environ: Mapping[str, str] | None = None,
        options: Mapping[str, str] | None = None,
        cwd: Path | None = None,
    ) -> Config:
        """Reads the layers. Without `path`, `HARNESS2_CONFIG` names the file, else the nearest `harness2.toml` above.

        `environ` defaults to the process's, `options` (`table.key` -> text) to none. `ConfigError` for a file that is
        named and missing or that does not parse, and for tables that do not exist.
        """
        environ = os.environ if environ is None else environ
        here = Path.cwd() if cwd is None else cwd
        file = _chosen(path, environ, here)
        layers = (
            *(() if file is None else _from_file(file)),
            *_from_environment(environ, here),
            *_from_options(options or {}, here),
        )
        for keys, given in layers:
            _check_table(keys, given)
        return cls(file, here if file is None else file.parent, layers)

    def over(self, where: str, values: Mapping[Keys, str]) -> Config:
        """This configuration under one more layer: `values` as texts, which say that they come from `where`."""
        origin = Origin(where, self.base, is_text=True)
        more = tuple((keys, Given(value, origin)) for keys, value in values.items())
        return evolve(self, layers=(*self._layers, *more))

    def value(self, table: str, key: str) -> Given | None:
        """The value of one key as given, with its origin; `None` when no layer has it."""
        return self.given(table).get((key,))

    def given(self, table: str) -> dict[Keys, Given]:
        """Everything given for a table such as `run` or `adapters.tasks`, later layers in place of earlier ones."""
        wanted = _table_keys(table)
        found: dict[Keys, Given] = {}
        for keys, given in self._layers:
            if len(keys) > len(wanted) and _same(keys[: len(wanted)], wanted):
                found[keys[len(wanted) :]] = given
        return found

    def names(self, table: str) -> tuple[str, ...]:
        """The names under a table such as `roles` or `adapters`, sorted; a file's spelling wins over a variable's."""
        names: dict[str, str] = {}
        for keys, _ in self._layers:
            if keys[0] == table and len(keys) > 1:
                names.setdefault(_plain(keys[1]), keys[1])
        return tuple(sorted(names.values()))

    def structure(self, table: str, cls: type[T]) -> T:
        """The table as an instance of a settings class; `ConfigError` names what is unknown, missing or wrong."""
        where = f"a {FILE} (there is none here or above)" if self.file is None else self.file.name
        return build(cls, self.given(table), table, where)

    def check_names(self, table: str, known: Iterable[str]) -> None:
        """Every name under `table` must be one of `known`: `ConfigError` with near names."""
        known = tuple(known)
        plain = {_plain(name) for name in known}
        for keys, given in self._layers:
            if keys[0] == table and len(keys) > 1 and _plain(keys[1]) not in plain:
                raise ConfigError(
                    f"{given.origin.where}: [{table}.{keys[1]}] configures nothing that is installed",
                    f"{near(keys[1], known)}known here: {', '.join(known) or 'none'}",
                )


def parse_options(texts: Iterable[str]) -> dict[str, str]:
    """`-o table.key=value` texts as a mapping; the last of two equal keys wins."""
    options: dict[str, str] = {}
    for text in texts:
        key, equals, value = text.partition("=")
        if not equals or not key.strip():
            raise ConfigError(f"the option -o {text!r} gives no value", "write -o table.key=value, as -o run.k=2")
        options[key.strip()] = value
    return options


def option_keys(name: str) -> Keys:
    """A dotted key as TOML has it, so that a part with a dot can be quoted: `prices."model-1.5".input`."""
    try:
        data: object = tomllib.loads(f"{name} = 0") if "\n" not in name else 0
    except tomllib.TOMLDecodeError:
        data = 0
    keys: list[str] = []
    while isinstance(data, dict) and len(data) == 1:
        [(key, data)] = data.items()
        keys.append(key)
    if len(keys) < 2:
        raise ConfigError(f"the option -o {name!r} names no key of a table", "write -o table.key=value, as -o run.k=2")
    return tuple(keys)


def _chosen(path: Path | None, environ: Mapping[str, str], here: Path) -> Path | None:
    named = environ.get(FILE_VARIABLE, "")
    if path is None and not named:
        return next((folder / FILE for folder in (here, *here.parents) if (folder / FILE).is_file()), None)
    chosen = here / os.path.expanduser(named if path is None else path)  # noqa: PTH111 - `~nobody` is told below
    if not chosen.is_file():
        by = f"the variable {FILE_VARIABLE}" if path is None else "--config"
        raise ConfigError(f"{chosen}: no such file (named by {by})", f"name a {FILE} that exists")
    return chosen


def _from_file(path: Path) -> Iterator[tuple[Keys, Given]]:
    try:
        text = path.read_text(encoding="utf-8-sig")
        data = tomllib.loads(text, parse_float=Number)
    except OSError as error:
        raise ConfigError(f"{path}: cannot be read: {error}", "check the file's permissions") from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise ConfigError(f"{path}: {error}", "mend the TOML: `table` in [brackets], texts in quotes") from error
    lines = lines_of(text)

    def walk(value: object, keys: Keys) -> Iterator[tuple[Keys, Given]]:
        if isinstance(value, dict) and value:
            for key, item in value.items():
                yield from walk(item, (*keys, key))
        elif keys:
            where = f"{path}:{lines.get(keys, 1)}"
            yield keys, Given(value, Origin(where, path.parent, is_text=False))

    yield from walk(data, ())


def _from_environment(environ: Mapping[str, str], here: Path) -> Iterator[tuple[Keys, Given]]:
    for name, value in sorted(environ.items()):
        if name.startswith(PREFIX) and "__" in name:
            keys = tuple(part.lower() for part in name.removeprefix(PREFIX).split("__"))
            yield keys, Given(value, Origin(f"variable {name}", here, is_text=True))


def _from_options(options: Mapping[str, str], here: Path) -> Iterator[tuple[Keys, Given]]:
    for name, value in options.items():
        yield option_keys(name), Given(value, Origin(f"option -o {name}", here, is_text=True))


def _check_table(keys: Keys, given: Given) -> None:
    """That the first parts of a key name a table that can exist."""
    table, where, known = keys[0], given.origin.where, (*FLAT, *NAMED)
    if table not in known:
        if len(keys) == 1 and not isinstance(given.value, dict | list):
            raise ConfigError(
                f"{where}: `{table}` stands in no table", "put it under [run], or under the table it is of"
            )
        raise ConfigError(f"{where}: there is no table [{table}]", f"{near(table, known)}known are {', '.join(known)}")
    empty = given.value == {}
    if len(keys) == 1 and not empty:
        raise ConfigError(f"{where}: `{table}` is a table", f"write [{table}]" + (".<name>" if table in NAMED else ""))
    if table in NAMED and len(keys) == 2 and not empty:
        raise ConfigError(
            f"{where}: `{keys[1]}` stands directly under [{table}]",
            f"name which one: put it under [{table}.<name>]",
        )


def _table_keys(table: str) -> Keys:
    first, dot, rest = table.partition(".")
    return (first, rest) if dot else (first,)


def _same(keys: Keys, wanted: Keys) -> bool:
    return keys[0] == wanted[0] and all(_plain(a) == _plain(b) for a, b in zip(keys[1:], wanted[1:], strict=True))


def _plain(name: str) -> str:
    """As variables spell names: `-` cannot stand in one."""
    return name.lower().replace("-", "_")
