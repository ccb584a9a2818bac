"""The child process of `harness2 plugins doctor`: imports one plugin module and tries what its entries promise.

A process of its own, because a plugin may exit, crash or hang. It ends itself at the time limit, from a thread that no
Python code can hold up, so nobody has to kill it. Started as `python -P -m harness2_core.plugins.examine JOB RESULT`.
"""

from __future__ import annotations

import contextlib
import faulthandler
import json
import sys
import time
from collections.abc import Sequence
from pathlib import Path

from harness2_core.model.errors import PluginError
from harness2_core.model.kinds import DEFAULTS

from .catalog import Catalog
from .discovery import Found, Scan
from .fields import fields_of
from .loading import Loader, broken
from .registry import Registry, defaults_table

LISTENING = ("harness2_event", "harness2_check_tree", "harness2_preflight")


def main(job: Path, result: Path) -> None:
    """`job` holds entries of one module as JSON; what is wrong with each goes to `result`."""
    given = json.loads(job.read_text(encoding="utf-8"))
    faulthandler.dump_traceback_later(given["limit_seconds"], exit=True)
    sys.path[:] = given["path"]
    entries = [Found(**{**entry, "core": tuple(entry["core"])}) for entry in given["entries"]]
    started = time.perf_counter()
    with contextlib.suppress(PluginError):  # met again, and told, below
        Loader().imported(entries[0], entries[0].module)
    milliseconds = int((time.perf_counter() - started) * 1000)
    errors = [_wrong(entry, entries) for entry in entries]
    faulthandler.cancel_dump_traceback_later()
    said = [None if error is None else {"what": error.what, "remedy": error.remedy} for error in errors]
    result.write_text(json.dumps({"milliseconds": milliseconds, "errors": said}), encoding="utf-8")


def _wrong(entry: Found, entries: Sequence[Found]) -> PluginError | None:
    registry = Registry(Catalog(Scan(tuple(entries))))
    try:
        if entry.kind == DEFAULTS:
            defaults_table(Loader(), entry)
        elif entry.kind == "listener":
            _, module = registry.listening(entry.name)
            if not any(registry.loader.implements(module, hook) for hook in LISTENING):
                raise broken(entry, f"its module implements none of the hooks {', '.join(LISTENING)}")
        else:
            cls = registry.settings_class(entry.kind, entry.qualified)
            if cls is not None:
                fields_of(cls)
            registry.factory(entry.kind, entry.qualified)
    except PluginError as error:
        return error
    return None


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
