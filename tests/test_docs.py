"""Pages say what is: every hook, setting, command, file and link in them exists, and none of ours is left out."""

from __future__ import annotations

import ast
import importlib
import re
import shlex
import shutil
import subprocess
import tomllib
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import attrs
import pytest

import harness2_core
from harness2_core import api, testing
from harness2_core.api import hookspecs
from harness2_core.cli import main
from harness2_core.method.missions import core_templates
from harness2_core.model import records
from harness2_core.model.channel import Usage
from harness2_core.model.events import Happened
from harness2_core.model.kinds import KINDS, plural
from harness2_core.plugins.config import FLAT, NAMED, Config
from harness2_core.plugins.discovery import API_VERSION, OLDEST_API
from harness2_core.plugins.provider_settings import check_tables, settings_of
from harness2_core.plugins.registry import Registry
from harness2_core.plugins.run_settings import (
    LibrarySettings,
    RoleSettings,
    RunSettings,
    library_settings,
    role_settings,
    run_settings,
)
from harness2_core.work.policy import LOSSES

ROOT = Path(__file__).resolve().parent.parent
DOCS = sorted((ROOT / "docs").glob("*.md"))
PAGES = [
    ROOT / "README.md",
    ROOT / "CONTRIBUTING.md",
    ROOT / "CHANGELOG.md",
    ROOT / "examples" / "README.md",
    ROOT / "benchmarks" / "README.md",
    *DOCS,
    *sorted(ROOT.glob("plugins/*/README.md")),
]
HOOKS = sorted(name for name in vars(hookspecs) if name.startswith("harness2_"))
TREES = ("docs", "examples", "harness2_core", "plugins", "tests", "tools", "benchmarks")
"""Folders whose files a page may name by their path from the top."""
ELSEWHERE = {
    "docs/faults.md": "its own test looks at the tests that it names",
    "docs/writing-a-plugin.md": "it shows a folder that its reader makes",
}
OTHER_TABLES = {"tool": "pyproject.toml", "words": "bench.toml", "domains": "bench.toml", "splits": "bench.toml"}
"""Tables of other files that pages speak of."""

by_page = pytest.mark.parametrize("page", PAGES, ids=lambda path: path.relative_to(ROOT).as_posix())


class Block(NamedTuple):
    """A fenced block: its language, its text, and the line it begins at."""

    language: str
    text: str
    line: int


def blocks(page: Path) -> Iterator[Block]:
    text = page.read_text(encoding="utf-8")
    for found in re.finditer(r"^```(\w*)\n(.*?)^```$", text, re.MULTILINE | re.DOTALL):
        yield Block(found[1], found[2], text.count("\n", 0, found.start()) + 1)


def prose(page: Path) -> str:
    """The page without its fenced and indented blocks."""
    text = re.sub(r"^```.*?^```$", "", page.read_text(encoding="utf-8"), flags=re.MULTILINE | re.DOTALL)
    return re.sub(r"^ {4}.*$", "", text, flags=re.MULTILINE)


def anchors(page: Path) -> set[str]:
    """What the headings of a page can be linked by."""
    heads = re.findall(r"^#+ (.*)$", prose(page), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", head.lower()).replace(" ", "-") for head in heads}


def command_lines(page: Path) -> Iterator[str]:
    """Every `harness2 ...` of a page: in fenced or indented blocks, and in code within sentences."""
    text = page.read_text(encoding="utf-8")
    yield from re.findall(r"^(?: {4}|\$ |)harness2 (.+?)(?: +#.*)?$", text, re.MULTILINE)
    yield from re.findall(r"`harness2 ([^`]+)`", prose(page))


# -- links and files


@by_page
def test_every_relative_link_leads_somewhere(page: Path) -> None:
    dead = []
    for target in re.findall(r"\]\(([^)]+)\)", prose(page)):
        if re.match(r"https?://", target):
            continue
        path, _, anchor = target.partition("#")
        there = (page.parent / path).resolve() if path else page
        if not there.is_file() or (anchor and anchor not in anchors(there)):
            dead.append(target)
    assert dead == []


@by_page
def test_every_file_that_is_named_exists(page: Path) -> None:
    if page.relative_to(ROOT).as_posix() in ELSEWHERE:
        pytest.skip(ELSEWHERE[page.relative_to(ROOT).as_posix()])
    named = re.findall(rf"`((?:{'|'.join(TREES)})/[\w./\-]*\w/?)`", prose(page))
    roots = (ROOT, page.parent)
    assert [name for name in named if not any((root / name).exists() for root in roots)] == []


def test_the_index_leads_to_every_page() -> None:
    index = (ROOT / "docs" / "index.md").read_text(encoding="utf-8")
    assert [page.name for page in DOCS if page.name != "index.md" and f"({page.name})" not in index] == []


# -- blocks of code


@by_page
def test_blocks_of_code_parse(page: Path) -> None:
    for block in blocks(page):
        where = f"{page.relative_to(ROOT)}:{block.line}"
        try:
            if block.language == "toml":
                tomllib.loads(block.text)
            elif block.language == "python":
                ast.parse(block.text)
        except (tomllib.TOMLDecodeError, SyntaxError) as error:
            pytest.fail(f"{where}: {error}")


CONFIGURATIONS = [
    (page, block)
    for page in PAGES
    for block in blocks(page)
    if block.language == "toml" and re.search(r"^\[run\]", block.text, re.MULTILINE)
]


@pytest.mark.together
@pytest.mark.parametrize(("page", "block"), CONFIGURATIONS, ids=lambda item: getattr(item, "stem", ""))
def test_a_configuration_on_a_page_has_settings_that_there_are(page: Path, block: Block, tmp_path: Path) -> None:
    (tmp_path / "harness2.toml").write_text(block.text, encoding="utf-8")
    config, registry = Config.load(tmp_path / "harness2.toml", {}), Registry.installed()
    for read in (run_settings, role_settings, library_settings):
        read(config)
    check_tables(registry, config)
    for kind in KINDS:
        for name in config.names(plural(kind)) if plural(kind) in NAMED else ():
            settings_of(registry, config, kind, name)


@pytest.mark.together
def test_every_agent_that_comes_along_is_on_the_page_of_agents() -> None:
    page = (ROOT / "docs" / "agents.md").read_text(encoding="utf-8")
    agents = [
        (entry.split(".")[1:], project.parent.name)
        for project in ROOT.glob("plugins/*/pyproject.toml")
        for entry in tomllib.loads(project.read_text())["project"].get("entry-points", {}).get("harness2.v1", {})
        if entry.startswith("substrate.") and project.parent.name != "local"
    ]
    assert agents
    for (name, token), folder in agents:
        assert re.search(
            rf"^\| \[.+\]\(\.\./plugins/{folder}/README\.md\) \| `{name}`, `{token}` \|", page, re.MULTILINE
        )


RUN_BY = {
    "README.md": "tests/test_docs_examples.py: installed, run, and compared with the example",
    "docs/plugins.md": "tests/test_docs_examples.py: installed, made and held to their contracts",
    "docs/missions.md": "tests/test_docs_examples.py: its templates are rendered",
    "docs/python.md": "tests/test_docs_examples.py: run from top to bottom",
    "docs/hooks.md": "written from the protocols by tools/hooks_page.py",
    "docs/writing-a-plugin.md": "written from templates whose results tests/cli/test_scaffolds.py installs and tries",
}
"""Page with Python -> who runs it."""


def test_every_name_of_the_testing_kit_is_explained() -> None:
    page = (ROOT / "docs" / "testing-kit.md").read_text(encoding="utf-8")
    contracts = [name for name in testing.__all__ if name.endswith("Contract")]
    assert [name for name in contracts if f"\n### `{name}`\n" not in page] == []
    others = set(testing.__all__) - set(contracts)
    assert [name for name in others if not re.search(rf"^\| `{name}` \| \S.* \|$", page, re.MULTILINE)] == []


def test_python_on_a_page_is_run_by_somebody() -> None:
    shown = {page.relative_to(ROOT).as_posix() for page in PAGES if any(b.language == "python" for b in blocks(page))}
    assert shown == set(RUN_BY)
    named = {word for said in RUN_BY.values() for word in re.findall(r"\w+/[\w/]+\.py", said)}
    assert [name for name in named if not (ROOT / name).is_file()] == []


# -- commands


@by_page
def test_every_command_line_can_be_typed(page: Path) -> None:
    wrong = [f"{line!r}: {why}" for line in command_lines(page) if (why := problem_of(line))]
    assert wrong == []


def problem_of(line: str) -> str:
    """Why `harness2 <line>` could not be typed; empty when it can."""
    words = [word for word in shlex.split(line) if not re.fullmatch(r"[.…]+", word)]
    command: Any = main._root()
    while words:
        word = words.pop(0)
        if re.match(r"--?[a-z]", word):
            flag = word.partition("=")[0]
            option = next((item for item in command.params if flag in (*item.opts, *item.secondary_opts)), None)
            if flag != "--help" and option is None:
                return f"{command.name} has no option {flag}"
            if option is not None and not option.is_flag and "=" not in word:
                words = words[1:]
        elif hasattr(command, "get_command") and not re.fullmatch(r"[A-Z|<>a-z]*[A-Z|<>]+[a-z>]*", word):
            command = command.get_command(None, word) if word in names_of(command) else None
            if command is None:
                return f"there is no command {word!r}"
        elif hasattr(command, "get_command"):
            return ""  # a name that stands for commands: `harness2 COMMAND --help`
    return ""


def names_of(command: Any) -> Sequence[str]:
    context = type("Context", (), {"params": {}, "resilient_parsing": False})()
    listed: Sequence[str] = command.list_commands(context)
    return listed


@pytest.mark.parametrize("line", ["run --mode parallel", "runn", "plugins lsit", "run --modes a --slot 4"])
def test_a_command_line_that_is_wrong_is_found(line: str) -> None:
    assert problem_of(line)


@pytest.mark.parametrize(
    "line", ["run --modes a,b -o run.k=2", "plugins new KIND NAME", "--config FILE show --diff agg1"]
)
def test_a_command_line_that_is_right_passes(line: str) -> None:
    assert problem_of(line) == ""


@pytest.mark.together
@pytest.mark.parametrize(
    "name",
    [
        "commands_page",
        "configuration_page",
        "hooks_page",
        "man_page",
        "plan_drawing",
        "records_page",
        "scaffold_page",
        "shipped_page",
        "testing_page",
        "timeline_drawing",
    ],
)
def test_what_a_program_writes_is_up_to_date(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(ROOT / "tools"))
    assert name in importlib.import_module("written_page").PROGRAMS
    for path, made in importlib.import_module(name).FILES.items():
        assert path.read_text(encoding="utf-8") == made(), "run python tools/written_page.py"


def test_the_manual_page_is_well_formed() -> None:
    groff = shutil.which("groff")
    if groff is None:
        pytest.skip("there is no groff")
    page = ROOT / "docs" / "harness2.1"
    shown = subprocess.run([groff, "-man", "-ww", "-Tascii", str(page)], capture_output=True, text=True)
    assert (shown.returncode, shown.stderr) == (0, "")
    assert [name for name in main.COMMANDS if f'.SS "harness2 {name}"' not in page.read_text(encoding="utf-8")] == []


def test_every_program_that_writes_pages_is_looked_at() -> None:
    """What says that it writes a page is in the list that `make docs` goes through."""
    writers = {path.stem for path in (ROOT / "tools").glob("*.py") if "\nFILES: Final = " in path.read_text()}
    text = (ROOT / "tools" / "written_page.py").read_text(encoding="utf-8")
    assert sorted(name for name in writers if f'"{name}",' not in text) == []
    assert sorted(writers) == [
        "commands_page",
        "configuration_page",
        "hooks_page",
        "man_page",
        "plan_drawing",
        "records_page",
        "scaffold_page",
        "shipped_page",
        "testing_page",
        "timeline_drawing",
    ]


@pytest.mark.parametrize("name", main.COMMANDS)
def test_every_command_is_documented(name: str) -> None:
    commands = (ROOT / "docs" / "commands.md").read_text(encoding="utf-8")
    assert f"## `harness2 {name}`" in commands


# -- hooks


@pytest.mark.parametrize("hook", HOOKS)
def test_every_hook_is_documented(hook: str) -> None:
    table = (ROOT / "docs" / "plugins.md").read_text(encoding="utf-8")
    assert re.search(rf"^\| `{hook}` \| `\w+` \| .+ \|$", table, re.MULTILINE)


@pytest.mark.parametrize("hook", HOOKS)
def test_every_hook_has_an_implementation(hook: str) -> None:
    """Shipped, or an example of the page that `test_docs_examples.py` installs and runs."""
    shipped = [path.read_text(encoding="utf-8") for path in ROOT.glob("plugins/*/harness2_*/plugin.py")]
    examples = [block.text for block in blocks(ROOT / "docs" / "plugins.md") if block.language == "python"]
    assert any(re.search(rf"^@hookimpl\ndef {hook}\(", text, re.MULTILINE) for text in (*shipped, *examples))


def test_there_are_hooks() -> None:
    assert len(HOOKS) == 15


@pytest.mark.parametrize("name", [name for name in api.__all__ if getattr(getattr(api, name), "_is_protocol", False)])
def test_every_protocol_and_each_of_its_methods_is_documented(name: str) -> None:
    page = (ROOT / "docs" / "hooks.md").read_text(encoding="utf-8")
    (section,) = re.findall(rf"^#### `{name}`\n(.*?)(?=^###|\Z)", page, re.MULTILINE | re.DOTALL)
    methods = [method for method in vars(getattr(api, name)) if not method.startswith("_")]
    assert methods
    assert [method for method in methods if f"def {method}(" not in section] == []


# -- what a run leaves


def record_classes() -> list[Any]:
    found = [item for item in vars(records).values() if isinstance(item, type) and attrs.has(item)]
    return [*(cls for cls in found if cls.__module__ == records.__name__), Happened, Usage]


@pytest.mark.parametrize("cls", record_classes(), ids=lambda cls: cls.__name__)
def test_every_field_of_a_record_is_explained(cls: Any) -> None:
    page = (ROOT / "docs" / "records.md").read_text(encoding="utf-8")
    (section,) = re.findall(rf"^### `{cls.__name__}`\n(.*?)(?=^##|\Z)", page, re.MULTILINE | re.DOTALL)
    explained = set(re.findall(r"^\| `(\w+)` \| `.+` \| .* \| \S.* \|$", section, re.MULTILINE))
    assert explained == {field.name for field in attrs.fields(cls)}


def test_every_word_that_an_event_may_have_is_documented() -> None:
    page = (ROOT / "docs" / "records.md").read_text(encoding="utf-8")
    sources = [path.read_text(encoding="utf-8") for path in (ROOT / "harness2_core" / "sweep").glob("*.py")]
    told = {word for text in sources for word in re.findall(r'(?:\.tell|_notify)\(\s*"([a-z-]+)"', text)}
    assert len(told) > 10
    assert sorted(word for word in told if f"`{word}`" not in page) == []


def test_every_kind_of_record_is_documented() -> None:
    page = (ROOT / "docs" / "on-disk.md").read_text(encoding="utf-8")
    folders = [ROOT / "harness2_core" / name for name in ("sweep", "work")]
    text = "\n".join(path.read_text(encoding="utf-8") for folder in folders for path in folder.glob("*.py"))
    kinds = set(re.findall(r'(?:_required|_optional|store\.put)\(\s*"(\w+)"', text))
    kinds |= set(re.findall(r'^_?(?:KIND|SIGHTED): Final = "(\w+)"', text, re.MULTILINE))
    assert len(kinds) > 10
    assert sorted(kind for kind in kinds if f"`{kind}`" not in page) == []


def test_the_page_of_versions_says_what_this_core_speaks() -> None:
    page = (ROOT / "docs" / "plugin-api.md").read_text(encoding="utf-8")
    minor = ".".join(harness2_core.__version__.split(".")[:2])
    groups = [f"`harness2.v{number}`" for number in range(OLDEST_API, API_VERSION + 1)]
    assert f"\n| {minor} | {', '.join(groups)} |\n" in page
    assert [group for group in groups if not re.search(rf"^\| {group} \| [\d.]+ \| .+ \|$", page, re.MULTILINE)] == []


# -- settings, templates, policies


@by_page
def test_every_table_of_settings_that_is_named_can_be_written(page: Path) -> None:
    tables = re.findall(r"`\[([a-z]+)(?:\.[^`\]]+)?\]`", page.read_text(encoding="utf-8"))
    assert sorted(set(tables) - {*FLAT, *NAMED, *OTHER_TABLES}) == []


@pytest.mark.parametrize("cls", [RunSettings, RoleSettings, LibrarySettings], ids=lambda cls: cls.__name__)
def test_every_setting_of_core_is_documented(cls: Any) -> None:
    page = (ROOT / "docs" / "configuration.md").read_text(encoding="utf-8")
    for field in cls.__attrs_attrs__:
        assert re.search(rf"^\| `{field.name}` \| .+ \| .+ \|$", page, re.MULTILINE), field.name


def test_every_mission_text_is_documented() -> None:
    page = (ROOT / "docs" / "missions.md").read_text(encoding="utf-8")
    assert [name for name in core_templates().texts if f"`{name}`" not in page] == []


@pytest.mark.parametrize("cause", LOSSES)
def test_how_often_a_loss_is_repeated_is_documented(cause: str) -> None:
    page = (ROOT / "docs" / "resume-and-budgets.md").read_text(encoding="utf-8")
    row = re.search(rf"^\| `{cause}`[^|]* \| (\d+) \|\s*(?:(\d+) s)?", page, re.MULTILINE)
    assert row is not None
    assert int(row[1]) == LOSSES[cause].repeats
    assert int(row[2] or 0) == LOSSES[cause].wait
