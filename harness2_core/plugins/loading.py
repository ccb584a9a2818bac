"""Importing what is used: each module once, registered with pluggy once, every failure one error that names the plugin.

A plugin's module is anyone's code: it may raise, exit, print, or implement a hook with the wrong arguments. None of
that may end the command or reach its standard output. A failure is remembered, so that it is met once.
"""

from __future__ import annotations

import contextlib
import importlib
import sys
import threading
from collections.abc import Callable, Collection, Iterator
from types import ModuleType

import pluggy

from harness2_core.api import hookspecs
from harness2_core.model.errors import Harness2Error, PluginError
from harness2_core.model.nearest import near

from .discovery import Found


def broken(found: Found, what: str, cause: BaseException | None = None) -> PluginError:
    """The error for a plugin that fails; its remedy names the distribution and the off switch."""
    if found.distribution == "harness2-core":
        remedy = "pip install --force-reinstall harness2-core"
    else:
        remedy = (
            f"try `pip install -U {found.distribution}`; "
            f"`harness2 plugins disable {found.kind}.{found.name}` goes on without it"
        )
    error = PluginError(f"{found}: {what}", remedy)
    error.__cause__ = cause
    return error


@contextlib.contextmanager
def blaming(found: Found, doing: str) -> Iterator[None]:
    """Turns whatever plugin code raises into an error that blames `found`; an interrupt passes through."""
    try:
        yield
    except Harness2Error as error:  # says what is wrong and how to mend it better than anything added here
        raise PluginError(f"{found}: {error.what}", error.remedy) from error
    except SystemExit as error:
        raise broken(found, f"{doing} tried to end the program (SystemExit: {error})", error) from error
    except Exception as error:
        raise broken(found, f"{doing} raised {type(error).__name__}: {error}", error) from error


class Loader:
    """Modules of plugins, and the pluggy manager that knows them. Safe for threads."""

    def __init__(self) -> None:
        self._manager = pluggy.PluginManager(hookspecs.PROJECT)
        self._manager.add_hookspecs(hookspecs)
        self._known: dict[str, ModuleType | PluginError] = {}
        self._lock = threading.RLock()

    def module(self, found: Found) -> ModuleType:
        """The module of an entry, imported and registered."""
        with self._lock:
            known = self._known.get(found.module)
            if known is None:
                try:
                    known = self._register(found, self.imported(found, found.module))
                except PluginError as error:
                    known = error
                self._known[found.module] = known
        if isinstance(known, PluginError):
            raise known
        return known

    def imported(self, found: Found, name: str) -> ModuleType:
        """A module that belongs to an entry, not registered. What it prints goes to standard error."""
        with self._lock, blaming(found, f"importing {name!r}"), contextlib.redirect_stdout(sys.stderr):
            return importlib.import_module(name)

    def reference(self, found: Found, reference: str, what: str) -> object:
        """What `package.module:name` refers to."""
        module, _, path = reference.partition(":")
        value: object = self.imported(found, module)
        for part in path.split("."):
            try:
                value = getattr(value, part)
            except AttributeError as error:
                names = [name for name in vars(value) if not name.startswith("_")] if hasattr(value, "__dict__") else []
                hint = near(part, names)
                raise broken(
                    found, f"its {what} {reference!r} does not exist{': ' + hint.strip() if hint else ''}", error
                ) from error
        return value

    def hook(self, name: str, modules: Collection[ModuleType]) -> Callable[..., object]:
        """The caller of hook `name` in these modules and no others, first registered first."""
        others = [plugin for plugin in self._manager.get_plugins() if plugin not in modules]
        return self._manager.subset_hook_caller(name, others)

    def implements(self, module: ModuleType, hook: str) -> bool:
        """Whether a registered module implements `hook`."""
        return any(caller.name == hook for caller in self._manager.get_hookcallers(module) or ())

    def _register(self, found: Found, module: ModuleType) -> ModuleType:
        try:
            self._manager.register(module, found.module)
            self._manager.check_pending()
        except pluggy.PluginValidationError as error:
            with contextlib.suppress(ValueError, AssertionError):
                self._manager.unregister(module)
            raise broken(found, f"a hook does not fit: {' '.join(str(error).split())}", error) from error
        return module
