"""The pure layers run where POSIX is not: values, method, interfaces, discovery and configuration."""

from __future__ import annotations

import subprocess
import sys

import pytest

WITHOUT_POSIX = """
import importlib, os, pkgutil, sys

class Absent:
    NAMES = {"fcntl", "grp", "pwd", "resource", "termios"}

    def find_spec(self, name, path=None, target=None):
        if name in self.NAMES:
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)

sys.meta_path.insert(0, Absent())
for name in Absent.NAMES:
    sys.modules.pop(name, None)
for name in ("O_NOFOLLOW", "O_DIRECTORY", "O_CLOEXEC", "setsid", "fork", "killpg", "getuid"):
    if hasattr(os, name):
        delattr(os, name)
names = []
for layer in ("model", "api", "method", "plugins"):
    package = importlib.import_module(f"harness2_core.{layer}")
    names += [found.name for found in pkgutil.walk_packages(package.__path__, f"harness2_core.{layer}.")]
for name in names:
    importlib.import_module(name)
assert len(names) > 50, names
print("all", len(names))
"""


@pytest.mark.process
def test_the_pure_layers_import_nothing_that_only_posix_has() -> None:
    done = subprocess.run([sys.executable, "-P", "-c", WITHOUT_POSIX], capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("all ")
