"""An isolated home for commands under test: directories of its own, and canaries in the place of keys."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Final
from uuid import uuid4

from attrs import field, frozen

KEY_VARIABLES: Final = ("ANTHROPIC_API_KEY", "GEMINI_API_KEY", "OPENAI_API_KEY")
"""They hold the canary: whoever takes a key from the environment takes this one."""


def _canary() -> str:
    return f"canary-{uuid4().hex}"


@frozen
class Harness2Home:
    """Everything below `root`. `canary` is a secret that nothing may write down; give it where a key is asked for."""

    root: Path
    canary: str = field(factory=_canary)

    @property
    def home(self) -> Path:
        """The user's home directory."""
        return self.root / "home"

    @property
    def work(self) -> Path:
        """The current directory: `harness2.toml` goes here."""
        return self.root / "work"

    @property
    def temp(self) -> Path:
        return self.root / "temp"

    @property
    def environment(self) -> Mapping[str, str]:
        """Variables that differ from the real environment; those of Harness2 itself are to be unset."""
        places = {"CACHE": ".cache", "CONFIG": ".config", "DATA": ".local/share", "STATE": ".local/state"}
        return {
            "HOME": str(self.home),
            "TMPDIR": str(self.temp),
            **{f"XDG_{name}_HOME": str(self.home / path) for name, path in places.items()},
            **dict.fromkeys(KEY_VARIABLES, self.canary),
        }

    def make(self) -> None:
        """Makes the directories."""
        for folder in (self.home, self.work, self.temp):
            folder.mkdir(parents=True)

    def tells(self, *said: str) -> list[str]:
        """Where the canary can be read: files below `root`, and `output` for what was printed."""
        found = ["output"] if any(self.canary in text for text in said) else []
        for path in sorted(self.root.rglob("*")):
            readable = path.is_file() and not path.is_symlink()
            if self.canary in path.name or (readable and self.canary.encode() in path.read_bytes()):
                found.append(str(path))
        return found
