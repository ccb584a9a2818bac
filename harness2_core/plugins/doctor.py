"""What is wrong with the installed plugins: metadata first, then each module imported in a process of its own."""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict
from pathlib import Path
from typing import Final, Literal

from attrs import frozen

from harness2_core.model.kinds import DEFAULTS, KINDS

from .built_in import BUILT_IN
from .catalog import Catalog, clash, misfit
from .core_version import unmet
from .discovery import Found
from .off_switches import OffSwitch

Level = Literal["ok", "warning", "error"]

SLOW_MS: Final = 1000
"""Importing a plugin module longer than this is worth a word: it should import nothing heavy."""

AT_ONCE: Final = 2
_GRACE_SECONDS: Final = 20


@frozen
class Finding:
    """One thing to know about one plugin; `subject` is what `harness2 plugins list` calls it."""

    subject: str
    distribution: str
    level: Level
    what: str = ""
    remedy: str = ""


def findings(catalog: Catalog, limit_seconds: float) -> tuple[Finding, ...]:
    """Everything wrong, and an `ok` for each plugin with which nothing is. Modules may take `limit_seconds` each."""
    return (*_from_metadata(catalog), *_from_modules(catalog, limit_seconds))


def _from_metadata(catalog: Catalog) -> Iterable[Finding]:
    for flaw in catalog.scan.flaws:
        yield Finding(flaw.entry, f"{flaw.distribution} {flaw.version}", "error", flaw.what, flaw.remedy)
    for found in catalog.scan.found:
        if catalog.off(found):
            continue
        if unmet(found.core):
            error = misfit(found)
            yield _about(found, "error", error.what, error.remedy)
        rivals = catalog.rivals(found)
        if rivals and found.kind != DEFAULTS:
            error = clash(found.kind, found.name, (found, *rivals))
            yield _about(found, "error", error.what, error.remedy)
    installed = (*catalog.scan.found, *(flaw.found for flaw in catalog.scan.flaws if flaw.found is not None))
    for switch in catalog.switches:
        if not any(switch.covers(found) for found in installed):
            yield Finding(switch.name, "", "warning", _nothing(switch), f"harness2 plugins enable {switch.name}")


def _nothing(switch: OffSwitch) -> str:
    return f"{switch.origin} switches off {switch.name!r}, which is not installed"


def _from_modules(catalog: Catalog, limit_seconds: float) -> Iterable[Finding]:
    modules: dict[tuple[str, str], list[Found]] = {}
    for kind in (*KINDS, DEFAULTS):
        for found in catalog.all(kind):
            if found not in BUILT_IN:
                modules.setdefault((found.module, found.distribution), []).append(found)
    with ThreadPoolExecutor(AT_ONCE) as pool:
        for part in pool.map(lambda entries: _examined(entries, limit_seconds), modules.values()):
            yield from part


def _examined(entries: Sequence[Found], limit_seconds: float) -> Sequence[Finding]:
    """One child process for one module; its own time limit ends it."""
    with tempfile.TemporaryDirectory(prefix="harness2-doctor-") as folder:
        job, result, output = Path(folder, "job"), Path(folder, "result"), Path(folder, "output")
        described = {
            "path": sys.path,
            "limit_seconds": limit_seconds,
            "entries": [asdict(entry) for entry in entries],
        }
        job.write_text(json.dumps(described), encoding="utf-8")
        with output.open("wb") as sink:
            child = subprocess.Popen(
                [sys.executable, "-P", "-m", __name__.replace("doctor", "examine"), str(job), str(result)],
                stdin=subprocess.DEVNULL,
                stdout=sink,
                stderr=subprocess.STDOUT,
            )
            try:
                code = child.wait(limit_seconds + _GRACE_SECONDS)
            except subprocess.TimeoutExpired:
                return [_about(entry, "error", f"process {child.pid} does not end", "end it") for entry in entries]
        printed = output.read_text(encoding="utf-8", errors="replace").strip()
        if not result.exists():
            return [_ended(entry, code, printed, limit_seconds) for entry in entries]
        told = json.loads(result.read_text(encoding="utf-8"))
    found: list[Finding] = []
    author = "its author should import heavy things, and print, only when it is used"
    if printed:
        found.append(_about(entries[0], "warning", f"it prints when it is imported: {_brief(printed)}", author))
    if told["milliseconds"] > SLOW_MS:
        seconds = told["milliseconds"] / 1000
        found.append(_about(entries[0], "warning", f"importing {entries[0].module!r} takes {seconds:.1f} s", author))
    for entry, error in zip(entries, told["errors"], strict=True):
        found.append(_about(entry, "ok") if error is None else _about(entry, "error", error["what"], error["remedy"]))
    return found


def _ended(entry: Found, code: int, printed: str, limit_seconds: float) -> Finding:
    off = f"pip install -U {entry.distribution}, or harness2 plugins disable {entry.kind}.{entry.name}"
    if "Timeout (" in printed:
        what = f"importing {entry.module!r} takes longer than {limit_seconds:g} s; raise --limit-seconds to wait"
        return _about(entry, "error", what, off)
    what = f"importing {entry.module!r} ended the interpreter (exit code {code}): {_brief(printed) or 'no output'}"
    return _about(entry, "error", what, off)


def _about(found: Found, level: Level, what: str = "", remedy: str = "") -> Finding:
    return Finding(f"{found.kind}.{found.name}", found.source, level, what, remedy)


def _brief(text: str) -> str:
    joined = " ".join(text.split())
    return joined if len(joined) <= 200 else f"{joined[:200]}..."
