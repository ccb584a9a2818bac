"""Writes `docs/hooks.md` from the hooks' specifications and the protocols of the API.

    python tools/hooks_page.py            writes the page
    python tools/hooks_page.py --check    says whether it is up to date; exit code 1 if it is not

Needs core and the plugins of this checkout installed: `make demo` does that.
"""

from __future__ import annotations

import inspect
import re
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Final

from configuration_page import cell
from written_page import write

from harness2_core import api
from harness2_core.api import hookspecs
from harness2_core.model.kinds import KINDS, plural

ROOT: Final = Path(__file__).resolve().parent.parent
PAGE: Final = ROOT / "docs" / "hooks.md"
LONGEST: Final = 120
"""Characters of a signature on one line, as everywhere here."""

HEAD: Final = """\
# Hooks and protocols

<!-- Written by `python tools/hooks_page.py` from the hooks and protocols. Change those, and run it again. -->

The whole plugin contract. A plugin's module implements a hook, marked with `@hookimpl`; what the hook's providers make
has the methods of a protocol. No base class is needed, and an optional protocol is found by its methods: implement what
the plugin needs, and nothing else. Everything named here is imported from `harness2_core.api`.

Examples of each kind: [kinds and examples](plugins.md). What a version of this contract covers:
[API versions](plugin-api.md).
"""

NOTE: Final = """
Each hook but the last three returns a sequence of `Provider(name, summary, factory, settings)`: `factory` and
`settings` are references `package.module:name`, imported when they are used.
"""

PLACES: Final = {
    "adapters": ("adapter",),
    "substrates": ("substrate",),
    "sessions": ("proposer",),
    "strategies": ("mode", "selector", "reflector"),
    "judges": ("judge",),
    "runtime": ("store", "engine", "sandbox", "access"),
}
"""Module of the API -> the kinds of provider whose protocols it has."""
GIVEN: Final = "Context"
"""The protocol that core implements, and plugins are given."""


def page() -> str:
    """The whole page."""
    parts = [HEAD, *_hooks(), "## Protocols\n"]
    for module, kinds in PLACES.items():
        inside = [cls for cls in protocols() if cls.__module__.endswith(f".{module}")]
        parts.append(f"### For {_listed([f'`{kind}`' for kind in kinds])}\n")
        parts += [text for cls in inside for text in _protocol(cls)]
    others = [cls for cls in protocols() if cls.__module__.rpartition(".")[2] not in PLACES and cls.__name__ != GIVEN]
    if others:
        parts.append("### For any part\n")
        parts += [text for cls in others for text in _protocol(cls)]
    parts.append("### What a plugin is given\n")
    parts += [text for cls in protocols() if cls.__name__ == GIVEN for text in _protocol(cls)]
    return "\n".join(parts)


def protocols() -> list[Any]:
    """Every protocol of the API, in the order of the modules that have them."""
    found = [getattr(api, name) for name in api.__all__]
    mine = [cls for cls in found if inspect.isclass(cls) and getattr(cls, "_is_protocol", False)]
    return sorted(mine, key=lambda cls: (cls.__module__, inspect.getsourcelines(cls)[1]))


def _hooks() -> Iterator[str]:
    yield "## Hooks\n"
    yield "| hook | arguments | for | |\n| --- | --- | --- | --- |"
    registering = {f"harness2_{plural(kind)}": kind for kind in KINDS}
    for name, hook in vars(hookspecs).items():
        if name.startswith("harness2_"):
            kind = registering.get(name, "listener")
            arguments = ", ".join(f"`{argument}`" for argument in inspect.signature(hook).parameters) or "none"
            yield f"| `{name}` | {arguments} | `{kind}` | {cell(_said(hook))} |"
    yield NOTE


def _protocol(cls: Any) -> Iterator[str]:
    methods = [(name, member) for name, member in vars(cls).items() if not name.startswith("_")]
    lines = [f"#### `{cls.__name__}`", "", cell(_said(cls)), "", "```python"]
    for name, member in methods:
        lines.append(_signature(name, member))
    lines += ["```", ""]
    for name, member in methods:
        function = member.fget if isinstance(member, property) else member
        if function is not None and inspect.getdoc(function):
            lines.append(f"- `{name}`: {cell(_said(function))}")
    yield "\n".join(lines) + ("\n" if lines[-1] else "")


def _signature(name: str, member: Any) -> str:
    if isinstance(member, property):
        return f"@property\ndef {name}(self) -> {_type(member.fget.__annotations__['return'])}: ..."
    signature = inspect.signature(member)
    given = [_parameter(parameter) for parameter in signature.parameters.values()]
    named_only = [number for number, item in enumerate(signature.parameters.values()) if item.kind == item.KEYWORD_ONLY]
    if named_only:
        given.insert(named_only[0], "*")
    returned = f" -> {_type(signature.return_annotation)}: ..."
    line = f"def {name}({', '.join(given)}){returned}"
    if len(line) <= LONGEST:
        return line
    return f"def {name}(\n    {', '.join(given)}\n){returned}"


def _parameter(parameter: inspect.Parameter) -> str:
    said = parameter.name
    if parameter.annotation is not inspect.Parameter.empty:
        said += f": {_type(parameter.annotation)}"
    if parameter.default is not inspect.Parameter.empty:
        said += f" = {parameter.default!r}"
    return said


def _type(annotation: object) -> str:
    return annotation if isinstance(annotation, str) else getattr(annotation, "__name__", str(annotation))


def _said(of: Callable[..., object] | type) -> str:
    return re.sub(r"\s+", " ", inspect.getdoc(of) or "")


def _listed(words: list[str]) -> str:
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} and {words[-1]}"


FILES: Final = {PAGE: page}

if __name__ == "__main__":
    sys.exit(write(FILES, sys.argv[1:]))
