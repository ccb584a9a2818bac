"""What plugins see of core is on a list, and a change of it has its line in the changelog.

`public_names.txt` is what `harness2_core.api`, its hooks and `harness2_core.testing` were at the last release; before
the first, what they are. Write it anew, at a release, with `python tests/api/test_public_names.py`.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterator
from enum import Enum
from pathlib import Path

import attrs

from harness2_core import api, testing
from harness2_core.api import hookspecs
from harness2_core.plugins.discovery import API_VERSION

ROOT = Path(__file__).resolve().parent.parent.parent
LIST = Path(__file__).with_name("public_names.txt")
CHANGELOG = ROOT / "CHANGELOG.md"
PAGE = ROOT / "docs" / "plugin-api.md"


def described() -> list[str]:
    """One line for each public name and each public member of it: what a plugin could stumble over."""
    lines: set[str] = set()
    for module in (api, testing):
        for name in module.__all__:
            lines.update(lines_of(f"{module.__name__}.{name}", getattr(module, name)))
    hooks = [name for name in vars(hookspecs) if name.startswith("harness2_")]
    lines.update(f"hook {name}{signature(getattr(hookspecs, name))}" for name in hooks)
    return sorted(lines)


def lines_of(name: str, value: object) -> Iterator[str]:
    if inspect.isclass(value) and value.__module__.startswith("harness2_core"):
        makes = "" if issubclass(value, Enum) or is_protocol(value) or is_contract(value) else signature(value)
        yield f"class {name}{makes}"
        for part, member in members(value).items():
            if is_contract(value):  # what a subclass must hold, and what it fills: never called by anyone's code
                yield f"rule {name}.{part}" if part.startswith("test_") else f"fills {name}.{part}"
            elif isinstance(member, property) or is_cached(value, part, member):
                yield f"value {name}.{part}"
            elif inspect.isfunction(member):
                yield f"method {name}.{part}{signature(member)}"
            elif isinstance(member, Enum):
                yield f"value {name}.{part} = {member.value!r}"
    elif inspect.isfunction(value):
        yield f"function {name}{signature(value)}"
    else:
        yield f"value {name}"


def members(cls: type) -> dict[str, object]:
    """Public ones, inherited from our own classes too."""
    found: dict[str, object] = {}
    for owner in reversed(cls.__mro__):
        if owner.__module__.startswith("harness2_core"):
            found |= {name: member for name, member in vars(owner).items() if not name.startswith("_")}
    return found


def signature(value: object) -> str:
    """Names, order, which may be left out, and the types as written; the same on every Python."""
    shown = []
    keyword_only = False
    read = inspect.signature(value)  # type: ignore[arg-type]
    for parameter in read.parameters.values():
        variable = parameter.kind in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD)
        mark = ("**" if parameter.kind is parameter.VAR_KEYWORD else "*") if variable else ""
        if parameter.kind is parameter.KEYWORD_ONLY and not keyword_only:
            shown.append("*")
        keyword_only = keyword_only or parameter.kind in (parameter.KEYWORD_ONLY, parameter.VAR_POSITIONAL)
        typed = f": {parameter.annotation}" if isinstance(parameter.annotation, str) else ""
        given = "" if parameter.default is parameter.empty else " = " + default(parameter.default)
        shown.append(f"{mark}{parameter.name}{typed}{given}")
    returned = f" -> {read.return_annotation}" if isinstance(read.return_annotation, str) else ""
    return f"({', '.join(shown)})" + ("" if inspect.isclass(value) else returned)


def default(value: object) -> str:
    return repr(value) if value is None or isinstance(value, str | int | float | tuple) else "..."


def is_contract(cls: type) -> bool:
    return cls.__name__.endswith("Contract")


def is_protocol(cls: type) -> bool:
    return bool(getattr(cls, "_is_protocol", False))


def is_cached(cls: type, part: str, member: object) -> bool:
    """Whether it is a property that is computed once: attrs turns it into a slot, as it does a field."""
    return inspect.ismemberdescriptor(member) and attrs.has(cls) and part not in attrs.fields_dict(cls)


def name_in(line: str) -> str:
    """`class harness2_core.api.Ask(...)` -> `Ask`; `method harness2_core.api.Plan.roll(...)` -> `Plan.roll`."""
    word = re.split(r"[(=]", line.split(" ", 1)[1])[0].strip()
    return re.sub(r"^harness2_core\.(api|testing)\.", "", word)


def unannounced(before: list[str], after: list[str], news: str) -> list[str]:
    """Lines that came, went or changed, whose name is nowhere in `news` as code: `` `Ask` ``, `` `Plan.roll` ``."""
    changed = sorted(set(before) ^ set(after))
    return [line for line in changed if not re.search(rf"`(\w+\.)*{re.escape(name_in(line))}(\(.*?\))?`", news)]


def unreleased(changelog: str) -> str:
    """The changelog's part on what is not released."""
    return changelog.partition("## [Unreleased]")[2].partition("\n## [")[0]


def test_a_change_of_what_plugins_see_has_its_line_in_the_changelog() -> None:
    before = LIST.read_text(encoding="utf-8").splitlines()
    silent = unannounced(before, described(), unreleased(CHANGELOG.read_text(encoding="utf-8")))
    assert silent == [], "name them in CHANGELOG.md; before the first release, write the list anew instead"


def test_a_name_that_goes_comes_or_changes_is_silent_until_the_changelog_names_it() -> None:
    before = ["class harness2_core.api.Ask(tag: str)", "method harness2_core.api.Plan.roll(self, label: str)"]
    after = ["class harness2_core.api.Ask(tag: str, more: str = '')", "function harness2_core.testing.drive(x)"]

    assert unannounced(before, before, "") == []
    assert len(unannounced(before, after, "Ask, Plan and roll changed; so did `Asked`.")) == 4
    assert unannounced(before, after, "- `Ask` has `more`.\n- `Plan.roll` went, `testing.drive(x)` came.") == []


def test_a_rule_that_a_contract_adds_is_a_change() -> None:
    assert "rule harness2_core.testing.StoreContract.test_the_first_value_of_a_key_stays" in described()
    assert "fills harness2_core.testing.StoreContract.store_factory" in described()


def test_the_list_shows_what_a_plugin_could_stumble_over() -> None:
    shown = described()
    assert any(line.startswith("class harness2_core.api.Ask(tag: str") for line in shown)
    assert "method harness2_core.api.Judge.items(self, task: str, grader: Path) -> Sequence[Item] | None" in shown
    assert "value harness2_core.api.Outcome.TIMED_OUT = 'timed-out'" in shown
    assert "value harness2_core.api.HarnessTree.fingerprint" in shown
    assert "value harness2_core.api.Plan.rolls" in shown  # computed once
    assert "value harness2_core.api.Plan.steps" not in shown  # a field stands in the signature
    assert "hook harness2_event(event: Happened) -> None" in shown
    assert not [line for line in shown if " at 0x" in line]


def test_the_page_tells_every_version_of_the_api() -> None:
    told = re.findall(r"^\| `harness2\.v(\d+)` \|", PAGE.read_text(encoding="utf-8"), re.MULTILINE)
    assert told == [str(version) for version in range(1, API_VERSION + 1)]


if __name__ == "__main__":
    LIST.write_text("\n".join(described()) + "\n", encoding="utf-8")
