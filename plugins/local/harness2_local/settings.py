"""What each part can be told in `harness2.toml`."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from attrs import field, frozen

from harness2_core.api import FrozenMap, InvalidValue, content, place


@frozen
class TasksSettings:
    path: Path = place()  # noqa: RUF009 - an attrs field
    """The folder that holds `<domain>/<task>/instruction.md`."""
    name: str = ""
    """Name of the bench in namespaces, `[a-z][a-z0-9_]*`; by default made from the folder's name."""


@frozen
class PythonSettings:
    python: str = place(default="")
    """The interpreter that runs the harness; by default the one that Harness2 itself was built from."""
    packages: bool = False
    """Whether a harness may import what is installed beside the interpreter; else the standard library only."""


def _playbooks(given: Mapping[str, Path]) -> FrozenMap[Path]:
    return FrozenMap({key.strip("/"): Path(path) for key, path in given.items()})


@frozen
class ScriptedSettings:
    playbooks: Mapping[str, Path] = content(converter=_playbooks, factory=FrozenMap)
    """Domain (or any beginning of task ids, up to a `/`) -> its playbook, a TOML file outside the task folders."""


@frozen
class ChecksSettings:
    limit_seconds: int = field(default=300)
    """Time limit of one check program."""
    python: str = place(default="")
    """The interpreter that runs check programs; by default the one that Harness2 itself was built from."""
    packages: bool = True
    """Whether check programs may import what is installed beside the interpreter."""

    def __attrs_post_init__(self) -> None:
        if self.limit_seconds < 1:
            raise InvalidValue(f"limit_seconds is {self.limit_seconds}", "give the checks judge at least 1 second")
