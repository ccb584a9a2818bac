"""The configuration that `harness2 demo` runs, left in its folder so that other commands find the same experiment.

It is the examples' own `harness2.toml` with the choices of the command line in it, and with places that do not depend
on where it lies. It is written anew each time.
"""

from __future__ import annotations

import json
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from harness2_core.api import ConfigError

from .example_files import EXAMPLES

FILE: Final = "harness2.toml"
MARK: Final = "# Written by `harness2 demo`, and written anew each time that it runs here."

_HELP: Final = f"""{MARK}
# Other commands find the same experiment with it: harness2 --config FILE show
"""


def write_config(folder: Path, k: int, modes: Sequence[str], domains: Sequence[str], sandbox: str = "auto") -> Path:
    """Writes `folder/harness2.toml`, whose runs directory is `folder`. No domains means all of them.

    `ConfigError` when the folder holds anything that is not of an earlier demo.
    """
    path = folder / FILE
    if not _ours(folder):
        raise ConfigError(f"{folder} exists already and is not of an earlier demo", "name another folder with --to")
    folder.mkdir(parents=True, exist_ok=True)
    path.write_text(
        _HELP + "".join(f"{line}\n" for line in _lines(_tables(k, modes, domains, sandbox))), encoding="utf-8"
    )
    return path


def _ours(folder: Path) -> bool:
    if not folder.exists():
        return not folder.is_symlink()
    if not folder.is_dir():
        return False
    path = folder / FILE
    if not path.is_file():
        return not any(folder.iterdir())
    return path.read_text(encoding="utf-8", errors="replace").startswith(MARK)


def _tables(k: int, modes: Sequence[str], domains: Sequence[str], sandbox: str) -> dict[str, Any]:
    tables = tomllib.loads((EXAMPLES / FILE).read_text(encoding="utf-8"))
    tables["run"] |= {"k": k, "modes": list(modes), "only_domains": list(domains), "runs": "."}
    if sandbox != "auto":
        tables["run"]["sandbox"] = sandbox
    adapter, playbooks = tables["adapters"]["tasks"], tables["proposers"]["scripted"]["playbooks"]
    adapter["path"] = str(EXAMPLES / adapter["path"])
    for domain, playbook in playbooks.items():
        playbooks[domain] = str(EXAMPLES / playbook)
    return tables


def _lines(table: Mapping[str, Any], name: str = "") -> Iterator[str]:
    """TOML of texts, whole numbers and lists of them, and of tables with such. A JSON text is a TOML text."""
    plain = {key: value for key, value in table.items() if not isinstance(value, Mapping)}
    if plain:
        yield from ("", f"[{name}]")
        yield from (f"{key} = {json.dumps(value, ensure_ascii=False)}" for key, value in plain.items())
    for key, value in table.items():
        if isinstance(value, Mapping):
            yield from _lines(value, f"{name}.{key}" if name else key)
