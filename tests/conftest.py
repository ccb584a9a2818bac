"""Distributions made by code: real metadata and modules, laid out as an installer leaves them, or as wheels."""

from __future__ import annotations

import base64
import hashlib
import sys
import textwrap
import zipfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path

import pytest

Files = dict[str, str]

collect_ignore = ["downstream"]  # tried where they are installed: see tools/wheels.py


def distribution_files(
    name: str,
    entries: Mapping[str, str],
    modules: Mapping[str, str],
    *,
    version: str = "1.0",
    requires: Sequence[str] = (),
    group: str = "harness2.v1",
    entry_points: str | None = None,
) -> Files:
    """The files of an installed distribution, relative to its site directory. `modules` are path -> source."""
    info = f"{name.replace('-', '_')}-{version}.dist-info"
    lines = "".join(f"{key} = {value}\n" for key, value in entries.items())
    needs = "".join(f"Requires-Dist: {text}\n" for text in requires)
    return {
        **{path: textwrap.dedent(source) for path, source in modules.items()},
        f"{info}/METADATA": f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n{needs}",
        f"{info}/entry_points.txt": f"[{group}]\n{lines}" if entry_points is None else entry_points,
    }


def plugin_source(kind: str, name: str, factory: str, settings: str = "", extra: str = "") -> str:
    """A plugin module with one provider; `extra` comes first in the module."""
    hook = {"access": "harness2_access", "sandbox": "harness2_sandboxes"}.get(kind, f"harness2_{kind}s")
    return textwrap.dedent(extra) + textwrap.dedent(
        f"""
        from harness2_core.api import Provider, hookimpl

        @hookimpl
        def {hook}():
            return [Provider(name={name!r}, summary="made for a test", factory={factory!r}, settings={settings!r})]
        """
    )


class Distributions:
    """A directory of installed distributions."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    @property
    def path(self) -> list[str]:
        return [str(self.folder)]

    def add(self, name: str, entries: Mapping[str, str], modules: Mapping[str, str], **options: object) -> None:
        for path, text in distribution_files(name, entries, modules, **options).items():  # type: ignore[arg-type]
            target = self.folder / path
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_text(text, encoding="utf-8")


@pytest.fixture
def distributions(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Distributions]:
    """A directory on `sys.path`; what is imported from it is forgotten afterwards."""
    made = Distributions(tmp_path / "site")
    made.folder.mkdir()
    monkeypatch.syspath_prepend(str(made.folder))
    before = set(sys.modules)
    yield made
    for name in set(sys.modules) - before:
        module = sys.modules[name]
        places = [getattr(module, "__file__", None) or "", *getattr(module, "__path__", ())]
        if any(place.startswith(str(made.folder)) for place in places):
            del sys.modules[name]


@pytest.fixture
def source() -> Callable[..., str]:
    return plugin_source


@pytest.fixture
def wheel(tmp_path: Path) -> Callable[..., Path]:
    """Makes a wheel that pip installs, without a build."""

    def make(name: str, entries: Mapping[str, str], modules: Mapping[str, str], **options: object) -> Path:
        files = distribution_files(name, entries, modules, **options)  # type: ignore[arg-type]
        info = next(path for path in files if path.endswith("METADATA")).removesuffix("/METADATA")
        files[f"{info}/WHEEL"] = "Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
        record = "".join(f"{path},sha256={_sha(text)},{len(text.encode())}\n" for path, text in files.items())
        files[f"{info}/RECORD"] = f"{record}{info}/RECORD,,\n"
        target = tmp_path / f"{info.removesuffix('.dist-info')}-py3-none-any.whl"
        with zipfile.ZipFile(target, "w") as archive:
            for path, text in files.items():
                archive.writestr(path, text)
        return target

    return make


def _sha(text: str) -> str:
    return base64.urlsafe_b64encode(hashlib.sha256(text.encode()).digest()).rstrip(b"=").decode()
