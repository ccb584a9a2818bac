"""The TOML files of a folder of tasks: `bench.toml` at its top, `task.toml` in a task. Both may be left out.

    # bench.toml                               # task.toml
    network = "none"                           expects = ["summary.csv"]   # below output/
    [words]                                    limit_seconds = 600
    work = "Ledgers are added up."
    [domains.ledgers]                          # words that differ for one domain
    domain_guidance = "Each bank has its ways."
    [splits]
    train = ["ledgers/march"]

An unknown key is an error that says which known one is near.
"""

from __future__ import annotations

import difflib
import tomllib
from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Final

from attrs import evolve, field, fields, frozen

from harness2_core.api import BenchWords, ConfigError, FrozenMap, Harness2Error, unsafe

from .folders import text_of

WORK: Final = "Each task asks for files that are made from the files it brings along."
_WORDS: Final = tuple(part.name for part in fields(BenchWords))


@frozen
class BenchFile:
    words: BenchWords = field(factory=lambda: BenchWords(WORK))
    domains: FrozenMap[BenchWords] = field(factory=FrozenMap)
    """Words of the domains that have some of their own."""
    splits: FrozenMap[tuple[str, ...]] = field(factory=FrozenMap)
    """Name of a split -> ids of its tasks."""
    network: str = "none"


@frozen
class TaskFile:
    expects: tuple[str, ...] = ()
    limit_seconds: int = 0


def read_bench_file(path: Path) -> BenchFile:
    """`ConfigError` names file and key of what is wrong; a missing file says nothing."""
    if not path.is_symlink() and not path.exists():
        return BenchFile()
    table = _table(path, ("words", "domains", "splits", "network"))
    words = _words(BenchWords(WORK), table.get("words", {}), f"{path}: [words]")
    domains = _tables(table.get("domains", {}), f"{path}: [domains]")
    return BenchFile(
        words,
        FrozenMap({name: _words(words, own, f"{path}: [domains.{name}]") for name, own in domains.items()}),
        FrozenMap(
            {
                name: _strings(ids, f"{path}: [splits] {name}")
                for name, ids in _mapping(table.get("splits", {}), f"{path}: [splits]").items()
            }
        ),
        _string(table.get("network", "none"), f"{path}: network"),
    )


def read_task_file(path: Path) -> TaskFile:
    """As `read_bench_file`."""
    if not path.is_symlink() and not path.exists():
        return TaskFile()
    table = _table(path, ("expects", "limit_seconds"))
    expects = _strings(table.get("expects", []), f"{path}: expects")
    for name in expects:
        for problem in unsafe(name):
            raise ConfigError(f"{path}: expects: {problem}", "name files below output/, such as 'summary.csv'")
    limit = table.get("limit_seconds", 0)
    if not isinstance(limit, int) or isinstance(limit, bool) or limit < 0:
        raise ConfigError(f"{path}: limit_seconds is {limit!r}", "give whole seconds; leave it out for the usual limit")
    return TaskFile(expects, limit)


def near(name: str, known: Collection[str]) -> str:
    """A remedy for a name that is unknown: the nearest ones, else all."""
    close = difflib.get_close_matches(name, known, n=3, cutoff=0.5)
    return "did you mean " + " or ".join(close) + "?" if close else "known are " + ", ".join(sorted(known)[:12])


def _words(start: BenchWords, given: object, where: str) -> BenchWords:
    table = _mapping(given, where)
    _only(table, _WORDS, where)
    try:
        return evolve(start, **{key: _string(value, f"{where} {key}") for key, value in table.items()})
    except ConfigError:
        raise
    except Harness2Error as error:
        raise ConfigError(f"{where}: {error.what}", error.remedy) from error


def _table(path: Path, known: Collection[str]) -> Mapping[str, object]:
    try:
        table = tomllib.loads(text_of(path))
    except tomllib.TOMLDecodeError as error:
        raise ConfigError(f"{path} is not valid TOML: {error}", "mend it") from None
    _only(table, known, str(path))
    return table


def _only(table: Mapping[str, object], known: Collection[str], where: str) -> None:
    for key in table:
        if key not in known:
            raise ConfigError(f"{where}: unknown key {key!r}", near(key, known))


def _mapping(value: object, where: str) -> Mapping[str, object]:
    if not isinstance(value, dict):
        raise ConfigError(f"{where} is {value!r}", "make it a table of keys and values")
    return value


def _tables(value: object, where: str) -> Mapping[str, Mapping[str, object]]:
    return {key: _mapping(part, f"{where} {key}") for key, part in _mapping(value, where).items()}


def _strings(value: object, where: str) -> tuple[str, ...]:
    if not isinstance(value, list) or not all(isinstance(item, str) for item in value):
        raise ConfigError(f"{where} is {value!r}", 'give a list of texts: ["a", "b"]')
    return tuple(value)


def _string(value: object, where: str) -> str:
    if not isinstance(value, str):
        raise ConfigError(f"{where} is {value!r}", 'give a text: "..."')
    return value
