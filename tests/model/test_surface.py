from __future__ import annotations

import pickle

import pytest

from harness2_core.model.errors import InvalidValue
from harness2_core.model.surface import Allowed, Surface

SURFACE = Surface(
    name="demo",
    always_on=("AGENTS.md", "notes/memory.md"),
    cap_chars=100,
    allowed=(
        Allowed("skill", "skills/<name>/SKILL.md"),
        Allowed("skill-file", "skills/<name>/scripts/<file>"),
        Allowed("script", "scripts/<script>.py"),
        Allowed("hooks", ".demo/hooks.json"),
        Allowed("program", "src/<path>"),
    ),
)


@pytest.mark.parametrize(
    ("path", "component"),
    [
        ("AGENTS.md", "always-on"),
        ("notes/memory.md", "always-on"),
        ("skills/read-pdf_2/SKILL.md", "skill"),
        ("skills/0/SKILL.md", "skill"),
        ("skills/a/scripts/Tool v2.py", "skill-file"),
        ("scripts/check_totals.py", "script"),
        (".demo/hooks.json", "hooks"),
        ("src/deep/er/x.txt", "program"),
        ("agents.md", None),
        ("AGENTSxmd", None),
        ("x/AGENTS.md", None),
        ("AGENTS.md\n", None),
        ("skills/-a/SKILL.md", None),
        ("skills/A/SKILL.md", None),
        ("skills/a/b/SKILL.md", None),
        ("skills//SKILL.md", None),
        ("skills/a/scripts/sub/x.py", None),
        ("scripts/check-totals.py", None),
        ("scripts/Check.py", None),
        ("scripts/.py", None),
        ("xdemo/hooks.json", None),
        ("src/", None),
    ],
)
def test_a_path_is_the_component_whose_pattern_it_matches_whole(path: str, component: str | None) -> None:
    assert SURFACE.component(path) == component


def test_the_first_names_of_its_directories_are_known() -> None:
    assert SURFACE.directories == {"notes", "skills", "scripts", ".demo", "src"}


def test_a_benchmark_extends_reserved_scripts_and_can_only_take_sub_agents_away() -> None:
    extended = SURFACE.extended(reserved_scripts=("read_doc.py", "read_doc.py"), sub_agents=False)
    assert extended.reserved_scripts == ("read_doc.py",)
    assert extended.sub_agents is False
    assert extended.extended(reserved_scripts=(), sub_agents=True).sub_agents is False
    assert extended.digest != SURFACE.digest


def test_a_surface_is_a_value_that_can_be_sent_elsewhere() -> None:
    SURFACE.component("AGENTS.md")
    copied = pickle.loads(pickle.dumps(SURFACE))
    assert copied == SURFACE
    assert hash(copied) == hash(SURFACE)
    assert copied.digest == SURFACE.digest


@pytest.mark.parametrize("pattern", ["skills/<nmae>/SKILL.md", "", "/abs", "<script>/<dir>"])
def test_a_pattern_that_could_never_match_is_refused(pattern: str) -> None:
    with pytest.raises(InvalidValue, match="path pattern"):
        Allowed("skill", pattern)


def test_a_component_is_one_of_the_known_ones() -> None:
    with pytest.raises(InvalidValue, match=r"Allowed\.component"):
        Allowed("skil", "a")


def test_a_trigger_file_that_nobody_reads_is_refused() -> None:
    with pytest.raises(InvalidValue, match="not always on"):
        Surface("x", ("AGENTS.md",), 0, (), trigger_file="other.md")


def test_a_required_file_must_be_editable() -> None:
    with pytest.raises(InvalidValue, match="off the surface"):
        Surface("x", ("AGENTS.md",), 0, (), required=("main.py",))
