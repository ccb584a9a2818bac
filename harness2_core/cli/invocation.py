"""What the options before the command say, and what every command starts from: the registry and the configuration."""

from __future__ import annotations

import os
from collections.abc import Iterable
from contextlib import AbstractContextManager
from dataclasses import dataclass  # not attrs: made before any command is known, and must stay cheap
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from harness2_core.plugins.catalog import Catalog
    from harness2_core.plugins.config import Config
    from harness2_core.plugins.off_switches import OffSwitch
    from harness2_core.plugins.registry import Registry
    from harness2_core.sweep.events import Listener

    from .live.watching import Watching


@dataclass(frozen=True, slots=True)
class Invocation:
    """The global options. Commands get it as `ctx.obj`."""

    config_file: Path | None = None
    disabled: tuple[str, ...] = ()
    debug: bool = False

    def switches(self) -> tuple[OffSwitch, ...]:
        """The off switches in force, by option, variable and the user's list."""
        from harness2_core.plugins.off_switches import switches

        return switches(self.disabled, os.environ)

    def registry(self) -> Registry:
        """What is installed and switched on. Reads metadata only; `PluginError` for a switch that names nothing."""
        from harness2_core.plugins.registry import Registry

        return Registry.installed(self.switches())

    def catalog(self) -> Catalog:
        """The same by name only: quicker, for whoever makes nothing of it."""
        from harness2_core.plugins.built_in import BUILT_IN
        from harness2_core.plugins.catalog import Catalog
        from harness2_core.plugins.off_switches import check_names
        from harness2_core.plugins.quick_scan import quick_scan

        found, switches = quick_scan(), self.switches()
        check_names(switches, found)
        return Catalog(found, switches, BUILT_IN)

    def config(self, options: Iterable[str] = ()) -> Config:
        """The configuration; `options` are the command's `-o table.key=value`."""
        from harness2_core.plugins.config import Config, parse_options

        return Config.load(self.config_file, os.environ, parse_options(options))

    def watching(self, no_live: bool = False, lines: Listener | None = None) -> AbstractContextManager[Watching]:
        """Progress of a sweep on standard error, for commands of plugins: see `live/watching.py`.

        `lines` is the listener where there is no live view, for a command that tells progress in its own words.
        """
        from .live.watching import watching

        return watching(no_live, lines)
