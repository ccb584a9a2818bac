"""An adopted harness in the layout of its agent: taken out of the experiment, ready to be used."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from attrs import frozen

from harness2_core.api.substrates import RemoteAgent, Substrate
from harness2_core.method.library import Shelved
from harness2_core.model.canonical import Digest
from harness2_core.model.channel import Channel
from harness2_core.model.errors import ConfigError, StoreError
from harness2_core.model.nearest import near
from harness2_core.model.process import Endpoint, Place
from harness2_core.model.tree import HarnessTree
from harness2_core.work.materialise import write_files

from .shelves import entries, entry_of
from .study import Study


@frozen
class Exported:
    """What was written. `argv` and `env` start the agent with it; empty for an agent behind a service."""

    task: str
    mode: str
    label: str
    tree: Digest
    files: tuple[str, ...]
    home: str = ""
    """Directory, below the exported one, that is to be the agent's home; empty when it needs none."""
    argv: tuple[str, ...] = ()
    env: Mapping[str, str] = {}
    key_variable: str = ""
    """Variable that holds the model's key. No key is written: where one belongs, `env` has `$` and this name."""


def adopted_of(study: Study, name: str, mode: str) -> Shelved:
    """The entry of the task `name`, or the newest one of the domain `name`."""
    shelf = entries(study)
    if any(entry.adoption.task == name for entry in shelf) or name in study.cards:
        return entry_of(study, name, mode)
    found = [entry for entry in shelf if entry.adoption.domain == name and mode in ("", entry.adoption.mode)]
    modes = dict.fromkeys(entry.adoption.mode for entry in found)
    if len(modes) > 1:
        raise ConfigError(
            f"several modes have adopted something in {name!r}: {', '.join(modes)}", "say which, with --mode"
        )
    if not found:
        known = dict.fromkeys(word for entry in shelf for word in (entry.adoption.task, entry.adoption.domain))
        raise ConfigError(
            f"nothing was adopted of a task or domain {name!r}" + (f" in mode {mode!r}" if mode else ""),
            f"{near(name, known)}see `harness2 library list`",
        )
    return found[-1]


def export(study: Study, agent: Substrate | RemoteAgent, entry: Shelved, directory: Path) -> Exported:
    """Writes the files that the agent would find in its workspace and home into a new or empty directory."""
    adoption = entry.adoption
    _must_be_empty(directory)
    tree = study.archive.tree(adoption.tree)
    about = (adoption.task, adoption.mode, adoption.label, adoption.tree)
    if not isinstance(agent, Substrate):
        files = _encoded(tree)
        _write(files, directory)
        return Exported(*about, tuple(files))
    whole = directory.absolute()
    channel = study.roles["executor"].channel if "executor" in study.roles else Channel()
    # As without any access in between: a relay's address and keys end with their request.
    variable = channel.options.get("key_variable", "")
    endpoint = Endpoint(channel.options.get("url", ""), f"${variable}" if variable else "")
    # The home stands beside the workspace's own files, under a name that none of them has.
    home = "home"
    while True:
        place = Place(str(whole), str(whole / home), str(whole / "output"))
        install = agent.install(tree, "", channel, place, endpoint)
        if not any(path.split("/")[0] == home for path in install.files):
            break
        home += "_"
    files = {**install.files, **{f"{home}/{path}": data for path, data in install.home.items()}}
    _write(files, directory)
    (directory / "output").mkdir(exist_ok=True)  # as a rollout finds it
    return Exported(*about, tuple(sorted(files)), home if install.home else "", install.argv, install.env, variable)


def _must_be_empty(directory: Path) -> None:
    if directory.exists() and (not directory.is_dir() or any(directory.iterdir())):
        raise ConfigError(f"{directory} exists and is not empty", "name a directory that does not exist")


def _encoded(tree: HarnessTree) -> dict[str, bytes]:
    return {path: text.encode() for path, text in tree.files.items()}


def _write(files: Mapping[str, bytes], directory: Path) -> None:
    try:
        directory.mkdir(parents=True, exist_ok=True)
        write_files(files, directory)
    except OSError as error:
        raise StoreError(
            f"cannot write into {directory}: {error.strerror}", "name a place that can be written"
        ) from error
