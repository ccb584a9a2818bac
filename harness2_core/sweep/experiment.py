"""`config.json` of the home namespace: what the experiment is, kept from its first run on.

A later run must be the same experiment, grown at most: more tasks, domains, modes. Anything else is declined, naming
the field and offering a new tag; what is only recorded warns, or is refused by `--strict`.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Collection, Mapping
from contextlib import nullcontext
from pathlib import Path

from attrs import evolve

from harness2_core.api.runtime import Store
from harness2_core.model.canonical import Digest
from harness2_core.model.errors import ConfigError, StoreError
from harness2_core.model.identity import Experiment, differences, joined, recorded_differences
from harness2_core.model.namespace import LONGEST_TAG, Namespace
from harness2_core.model.serial import dump, load
from harness2_core.model.stream import grown

from .files import write_whole
from .locking import locked


def config_path(runs: Path, home: Namespace) -> Path:
    return runs / "adapt" / str(home) / "config.json"


def read_experiment(path: Path) -> Experiment | None:
    """The experiment begun earlier, or `None`; `Damaged` names a file that cannot be read."""
    try:
        data = path.read_bytes()
    except FileNotFoundError:
        return None
    except OSError as error:
        raise StoreError(f"cannot read {path}: {error.strerror}", "mend its permissions") from error
    return load(data, Experiment, str(path))


def begin(
    store: Store,
    path: Path,
    home: Namespace,
    now: Experiment,
    *,
    strict: bool,
    wanted: Mapping[str, set[str]],
    digests: Callable[[Collection[str]], Mapping[str, Digest]],
    write: bool = True,
    reading: bool = False,
) -> tuple[Experiment, tuple[str, ...]]:
    """The experiment as it stands after this run joined it, and notes for the user. Writes `config.json` (`write`).

    `wanted` maps each domain to the tasks this run brings; `now.tasks` holds their digests. `digests` gives those of
    other tasks, as far as they still exist. Who is `reading` gets what was recorded, whatever has changed since: the
    changes are notes.
    """
    # Who writes nothing needs no lock, which a directory that may only be read does not give: files are written whole.
    with locked(store, f"config {home}") if write and not reading else nullcontext():
        before = read_experiment(path)
        if before is not None and reading:
            now = evolve(now, tasks={**digests(set(before.tasks) - set(now.tasks)), **now.tasks})
            return before, tuple(f"since {home} ran, {change}" for change in differences(before, now))
        if before is None:
            begun = evolve(now, stream=grown({}, wanted, now.seed))
            if write:
                write_whole(path, dump(begun))
            return begun, ()
        now = evolve(now, tasks={**digests(set(before.tasks) - set(now.tasks)), **now.tasks})
        declined = differences(before, now)
        if declined:
            raise ConfigError(
                f"{path} belongs to another experiment: " + "; ".join(declined),
                f"go back to what it was, or start a new one beside it: --new-tag {_free_tag(path, home)}",
            )
        notes = recorded_differences(before, now)
        if notes and strict:
            raise ConfigError(
                f"--strict: since {path} was written, " + "; ".join(notes), "restore these versions, or drop --strict"
            )
        after = evolve(joined(before, now), stream=grown(before.stream, wanted, now.seed))
        if after != before and write:
            write_whole(path, dump(after))
        return after, tuple(f"since the last run, {note}" for note in notes)


def _free_tag(path: Path, home: Namespace) -> str:
    """One that no experiment beside `path` has yet."""
    runs = path.parents[2]
    numbered = (f"{(home.tag or 'second')[: LONGEST_TAG - 5]}-{number}" for number in itertools.count(2))
    tags = itertools.chain([] if home.tag else ["second"], numbered)
    return next(tag for tag in tags if not config_path(runs, evolve(home, tag=tag)).exists())
