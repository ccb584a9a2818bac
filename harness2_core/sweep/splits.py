"""Which tasks a split means: the benchmark's own, or those of a split file; and making such a file."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from harness2_core.api.adapters import Adapter
from harness2_core.model.errors import ConfigError
from harness2_core.model.split import ALL, Split, check_split, made_split, parsed_split


def tasks_of(adapter: Adapter, split: str, file: Path | None) -> Sequence[str]:
    """Task ids of `split`, sorted. With a file, `all` is what the file names, train and test together."""
    if file is None:
        return adapter.tasks(split)
    try:
        data = file.read_bytes()
    except OSError as error:
        raise ConfigError(
            f"{file} cannot be read as a split file: {error.strerror}", "make one with `harness2 split --output FILE`"
        ) from error
    found = parsed_split(data, str(file))
    check_split(found, adapter.spec.name, adapter.tasks(ALL), str(file))
    return found.tasks(split)


def split_of(adapter: Adapter, fraction: str, seed: int) -> Split:
    """A split of all tasks of the benchmark, domain by domain."""
    domains: dict[str, list[str]] = {}
    for task in adapter.tasks(ALL):
        domains.setdefault(adapter.task(task).domain, []).append(task)
    return made_split(adapter.spec.name, domains, fraction, seed)


def write_split(split: Split, path: Path, fraction: str, seed: int) -> None:
    """Writes a new file; `ConfigError` when there is one: splits that results rest on are never overwritten."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("xb") as stream:
            stream.write(split.encode(fraction=fraction, seed=seed))
    except FileExistsError as error:
        raise ConfigError(
            f"{path} exists, and a split is never overwritten", "name another file, or remove it first"
        ) from error
    except OSError as error:
        raise ConfigError(f"cannot write {path}: {error.strerror}", "name a place that can be written") from error
