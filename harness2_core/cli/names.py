"""Names for the shell to complete: experiments, tasks, labels, modes, plugins.

A shell waits while this runs, so names come from the files of the runs directory and from metadata: no plugin, no
store and no settings class is loaded. Whatever is in the way, a wrong configuration included, is no name and no error.
"""

from __future__ import annotations

import json
import os
import tomllib
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

import typer


def namespaces(ctx: typer.Context, incomplete: str) -> list[str]:
    """Experiments of the runs directory."""
    return _starting(incomplete, (home.name for home in _homes(ctx)))


def tasks(ctx: typer.Context, incomplete: str) -> list[str]:
    """Tasks of the experiment that is meant, or of all of them."""
    return _starting(incomplete, (task for home in _meant(ctx) for task in _listed(home, "tasks")))


def domains(ctx: typer.Context, incomplete: str) -> list[str]:
    return _starting(incomplete, (name for home in _meant(ctx) for name in _listed(home, "stream")))


def tasks_and_domains(ctx: typer.Context, incomplete: str) -> list[str]:
    return [*tasks(ctx, incomplete), *domains(ctx, incomplete)]


def labels(ctx: typer.Context, incomplete: str) -> list[str]:
    """Labels of rollouts and stages of the task that is named before; of its bases and modes."""
    return _starting(incomplete, (label for summary in _summaries(ctx) for label in _labels(summary)))


def spans(ctx: typer.Context, incomplete: str) -> list[str]:
    """`A..B` of labels, with `base` and `adopted`."""
    first, dots, last = incomplete.partition("..")
    known = ["base", "adopted", *labels(ctx, "")]
    if not dots:
        return _starting(first, known)
    return [f"{first}..{label}" for label in _starting(last, known)]


def modes(ctx: typer.Context, incomplete: str) -> list[str]:
    """Mode tokens of the experiment."""
    return _starting(incomplete, (token for home in _meant(ctx) for token in _listed(home, "plans")))


def plugins(ctx: typer.Context, incomplete: str) -> list[str]:
    """Names of what is installed; those that several kinds bear, with their kind."""
    from collections import Counter

    from harness2_core.plugins.quick_scan import quick_scan

    found = quick_scan().found
    often = Counter(item.name for item in found)
    names = [item.name if often[item.name] == 1 else f"{item.kind}.{item.name}" for item in found]
    return _starting(incomplete, names)


def settings(ctx: typer.Context, incomplete: str) -> list[str]:
    """Keys of core's tables; those of plugins would need the plugins."""
    from harness2_core.plugins.fields import fields_of
    from harness2_core.plugins.known_settings import CORE

    return _starting(incomplete, (f"{table}.{field.name}" for table, cls in CORE.items() for field in fields_of(cls)))


def substrates(ctx: typer.Context, incomplete: str) -> list[str]:
    return _of_kind("substrate", incomplete)


def reflectors(ctx: typer.Context, incomplete: str) -> list[str]:
    return _of_kind("reflector", incomplete)


def mode_plugins(ctx: typer.Context, incomplete: str) -> list[str]:
    return _of_kind("mode", incomplete)


def in_a_list(names: Callable[[typer.Context, str], list[str]]) -> Callable[[typer.Context, str], list[str]]:
    """Completes the last item of a comma list."""

    def listed(ctx: typer.Context, incomplete: str) -> list[str]:
        before, comma, last = incomplete.rpartition(",")
        return [f"{before}{comma}{name}" for name in names(ctx, last)]

    return listed


def selectors(ctx: typer.Context, incomplete: str) -> list[str]:
    return _of_kind("selector", incomplete)


def adapters(ctx: typer.Context, incomplete: str) -> list[str]:
    return _of_kind("adapter", incomplete)


def _of_kind(kind: str, incomplete: str) -> list[str]:
    from harness2_core.plugins.quick_scan import quick_scan

    return _starting(incomplete, (item.name for item in quick_scan().found if item.kind == kind))


def _starting(incomplete: str, names: Iterable[str]) -> list[str]:
    return sorted({name for name in names if name.startswith(incomplete)})


def _meant(ctx: typer.Context) -> Iterator[Path]:
    wanted = ctx.params.get("ns") or ""
    for home in _homes(ctx):
        if wanted in ("", home.name):
            yield home


def _homes(ctx: typer.Context) -> list[Path]:
    """Directories of experiments: those with a `config.json`."""
    try:
        return sorted(path.parent for path in (_runs(ctx) / "adapt").glob("*/config.json"))
    except OSError:
        return []


def _runs(ctx: typer.Context) -> Path:
    """The runs directory, from the option, the variable or the file, read as plainly as can be."""
    option = ctx.params.get("flag_runs") or os.environ.get("HARNESS2_RUN__RUNS")
    if option:
        return Path(option)
    named = ctx.find_root().params.get("config") or os.environ.get("HARNESS2_CONFIG")
    here = Path.cwd()
    files = [Path(named)] if named else [folder / "harness2.toml" for folder in (here, *here.parents)]
    for file in files:
        if file.is_file():
            try:
                run = tomllib.loads(file.read_text(encoding="utf-8-sig")).get("run", {})
                return file.parent / str(run.get("runs", "runs"))
            except (OSError, ValueError, AttributeError):
                break
    return here / "runs"


def _listed(home: Path, key: str) -> list[str]:
    """The names under a key of an experiment's `config.json`."""
    found = _json(home / "config.json").get(key)
    return [name for name in found if isinstance(name, str)] if isinstance(found, dict | list) else []


def _labels(summary: object) -> Iterator[str]:
    """Every `label` in a summary, however deep: those of rollouts and stages."""
    if isinstance(summary, dict):
        for key, value in summary.items():
            if key == "label" and isinstance(value, str):
                yield value
            yield from _labels(value)
    elif isinstance(summary, list):
        for item in summary:
            yield from _labels(item)


def _summaries(ctx: typer.Context) -> Iterator[dict[str, object]]:
    from harness2_core.model.names import file_name

    # While an option still waits for its value, arguments have not been given their names.
    task = ctx.params.get("task") or next(iter(ctx.args), "")
    if isinstance(task, str) and task:
        for home in _meant(ctx):
            yield _json(home / file_name(task) / "summary.json")


def _json(path: Path) -> dict[str, object]:
    try:
        found = json.loads(path.read_bytes())
    except (OSError, ValueError):
        return {}
    return found if isinstance(found, dict) else {}
