"""Writes `docs/testing-kit.md` from `harness2_core.testing`: what a contract asks for, what it promises, and the fakes.

    python tools/testing_page.py            writes the page
    python tools/testing_page.py --check    says whether it is up to date; exit code 1 if it is not

Needs core and the plugins of this checkout installed: `make demo` does that.
"""

from __future__ import annotations

import ast
import inspect
import itertools
import re
import sys
import textwrap
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

from configuration_page import cell
from written_page import write

from harness2_core import testing
from harness2_core.testing import pytest_plugin

ROOT: Final = Path(__file__).resolve().parent.parent
PAGE: Final = ROOT / "docs" / "testing-kit.md"
FIXTURES: Final = ("run_harness2", "harness2_home", "model_server")
SUFFIX: Final = "Contract"

HEAD: Final = """\
# The testing kit

<!-- Written by `python tools/testing_page.py` from `harness2_core.testing`. Change that, and run it again. -->

`pip install "harness2-core[testing]"`, and `from harness2_core.testing import ...`. A contract is a class of tests:
subclass it in yours as `Test...`, fill what must be given, and pytest runs its rules against your plugin. The plugins
that come along are held to the same ones. Examples: [kinds and examples](plugins.md).

A contract may become stricter with a release: the [changelog](../CHANGELOG.md) says so, and what a plugin's tests say
then was promised all along. What else a version covers: [API versions](plugin-api.md).
"""


def page() -> str:
    """The whole page."""
    names = [name for name in testing.__all__ if name.endswith(SUFFIX)]
    parts = [HEAD, *_fixtures(), "## Contracts\n"]
    parts += [text for name in names for text in _contract(name, getattr(testing, name))]
    parts += _fakes([name for name in testing.__all__ if name not in names])
    return "\n".join(parts)


def _fixtures() -> Iterator[str]:
    yield "## Fixtures of pytest\n"
    yield "They come with the kit, and cost nothing until a test asks for one.\n"
    yield "| fixture | |\n| --- | --- |"
    functions = [item for item in ast.parse(inspect.getsource(pytest_plugin)).body if isinstance(item, ast.FunctionDef)]
    for name in FIXTURES:
        (said,) = [ast.get_docstring(item) for item in functions if item.name == name]
        yield f"| `{name}` | {cell(said or '')} |"
    yield ""


def _contract(name: str, cls: Any) -> Iterator[str]:
    yield f"### `{name}`\n"
    if said := _of_class(cls):
        yield f"{cell(said)}\n"
    given, rules = list(_given(cls)), list(_rules(cls))
    if given:
        yield "| to give | | |\n| --- | --- | --- |"
        yield from (f"| `{what}` | {'must' if must else 'may'} | {cell(meaning)} |" for what, must, meaning in given)
        yield ""
    yield from (f"- {rule}" for rule in rules)
    yield ""


def _of_class(cls: Any) -> str:
    """What the class says, or else its module, without the example in that."""
    own = cls.__dict__.get("__doc__") or re.sub(
        r"^( {4}|class ).*$", "", sys.modules[cls.__module__].__doc__ or "", flags=re.M
    )
    return re.sub(r"\s+", " ", own).strip()


def _given(cls: Any) -> Iterator[tuple[str, bool, str]]:
    """(name, whether it must be given, what it is) of everything that a subclass fills in."""
    seen: set[str] = set()
    for base in cls.__mro__[:-1]:
        (node,) = ast.parse(textwrap.dedent(inspect.getsource(base))).body
        assert isinstance(node, ast.ClassDef)
        for item, after in zip(node.body, [*node.body[1:], None], strict=True):
            found = _fixture(item) or _variable(item, after)
            if found and found[0] not in seen and not found[0].startswith("_"):
                seen.add(found[0])
                yield found


def _fixture(item: ast.stmt) -> tuple[str, bool, str] | None:
    if not isinstance(item, ast.FunctionDef) or not any("fixture" in ast.unparse(d) for d in item.decorator_list):
        return None
    raised = [part for part in ast.walk(item) if isinstance(part, ast.Raise) and "NotImplemented" in ast.unparse(part)]
    texts = [part.value for found in raised for part in ast.walk(found) if isinstance(part, ast.Constant)]
    said = ast.get_docstring(item) or next((str(text) for text in texts), "")
    return item.name, bool(raised), re.sub(r"\s+", " ", said)


def _variable(item: ast.stmt, after: ast.stmt | None) -> tuple[str, bool, str] | None:
    if not isinstance(item, ast.AnnAssign) or not isinstance(item.target, ast.Name):
        return None
    said = ""
    if isinstance(after, ast.Expr) and isinstance(after.value, ast.Constant) and isinstance(after.value.value, str):
        said = re.sub(r"\s+", " ", after.value.value).strip()
    return item.target.id, item.value is None, said


def _rules(cls: Any) -> Iterator[str]:
    """Every test, as the sentence that its name is."""
    found = inspect.getmembers(cls, inspect.isfunction)
    for name, member in sorted(found, key=lambda item: (item[1].__module__, item[1].__code__.co_firstlineno)):
        if name.startswith("test_"):
            sentence = name.removeprefix("test_").replace("_", " ")
            said = re.sub(r"\s+", " ", inspect.getdoc(member) or "").strip()
            yield sentence + (f" ({_as_aside(cell(said))})" if said else "")


def _as_aside(said: str) -> str:
    return said[:1].lower() + said[1:].rstrip(".")


def _fakes(names: list[str]) -> Iterator[str]:
    yield "## Fakes, toys and what compares them\n"
    yield "| name | |\n| --- | --- |"
    for name in names:
        yield f"| `{name}` | {_said(getattr(testing, name), name)} |"
    yield ""


def _said(item: Any, name: str) -> str:
    """The docstring of a class or function, or the one under a constant."""
    own = inspect.getdoc(item) if inspect.isclass(item) or inspect.isfunction(item) else _below(name)
    return cell(re.sub(r"\s+", " ", own or "").strip())


def _below(name: str) -> str:
    """The docstring under a constant, where its module has one."""
    module = sys.modules[f"{testing.__name__}.{testing._HOMES[name]}"]
    body = ast.parse(inspect.getsource(module)).body
    for item, after in itertools.pairwise(body):
        named = item.target.id if isinstance(item, ast.AnnAssign) and isinstance(item.target, ast.Name) else ""
        if named == name and isinstance(after, ast.Expr) and isinstance(after.value, ast.Constant):
            return str(after.value.value)
    return ""


FILES: Final = {PAGE: page}

if __name__ == "__main__":
    sys.exit(write(FILES, sys.argv[1:]))
