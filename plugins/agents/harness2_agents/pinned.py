"""The agents that are tested here, each at one version: the one place that names them.

`harness2 setup` installs these, `harness2 check` shows them beside what is found, and the tests run them.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from .programs import Package

OPENCODE: Final = Package(
    "opencode-ai",
    "1.18.33",
    "opencode",
    natives=(
        "opencode-ai/bin/opencode.exe",
        "opencode-{platform}/bin/opencode",
        "opencode-{platform}-baseline/bin/opencode",
        "opencode-{platform}-musl/bin/opencode",
        "opencode-{platform}-baseline-musl/bin/opencode",
    ),
    oldest="1.18.0",
    megabytes=600,
)
CODEX: Final = Package(
    "@openai/codex",
    "0.171.0",
    "codex",
    natives=("@openai/codex-{platform}/vendor/{target}/bin/codex",),
    oldest="0.160.0",
    megabytes=900,
)
CLAUDE: Final = Package(
    "@anthropic-ai/claude-code",
    "2.1.197",
    "claude",
    natives=(
        "@anthropic-ai/claude-code/bin/claude.exe",
        "@anthropic-ai/claude-code-{platform}/claude",
        "@anthropic-ai/claude-code-{platform}-musl/claude",
    ),
    oldest="2.1.0",
    megabytes=600,
)

PINNED: Final[Mapping[str, Package]] = {package.program: package for package in (OPENCODE, CODEX, CLAUDE)}
"""By the name of the program, which is the name of the substrate."""
