from __future__ import annotations

from collections.abc import Mapping, Sequence

import pytest
from attrs import evolve
from hypothesis import given
from hypothesis import strategies as st

from harness2_core.model.acceptance import Accepted, Rejected, accept, is_dropping, tree_of
from harness2_core.model.errors import InvalidValue
from harness2_core.model.surface import Allowed, Surface
from harness2_core.model.tree import HarnessTree

SURFACE = Surface(
    name="demo",
    always_on=("AGENTS.md",),
    cap_chars=200,
    allowed=(Allowed("skill", "skills/<name>/SKILL.md"), Allowed("script", "scripts/<script>.py")),
    required=("AGENTS.md",),
    trigger_file="AGENTS.md",
    plain_always_on=True,
)
SKILL = b"---\ndescription: How to check totals.\n---\nAdd them up.\n"
GOOD = {"AGENTS.md": b"Use totals.\n", "skills/totals/SKILL.md": SKILL}


def taken(files: Mapping[str, bytes], surface: Surface = SURFACE) -> Accepted:
    answer = accept(surface, files)
    assert isinstance(answer, Accepted), answer
    return answer


def refused(files: Mapping[str, bytes], surface: Surface = SURFACE) -> Rejected:
    answer = accept(surface, files)
    assert isinstance(answer, Rejected), answer
    return answer


def test_a_good_harness_is_taken_as_it_is() -> None:
    answer = taken(GOOD)
    assert answer.tree.files == {path: data.decode() for path, data in GOOD.items()}
    assert answer.notes == ()


@pytest.mark.parametrize(
    "path",
    [
        ".DS_Store",
        "skills/totals/.DS_Store",
        "Thumbs.db",
        "AGENTS.md~",
        ".#AGENTS.md",
        "#AGENTS.md#",
        ".AGENTS.md.swp",
        "scripts/__pycache__/x.cpython-311.pyc",
        ".git",
        ".git/config",
        ".hg/store",
        ".idea/x.xml",
        "AGENTS.md.orig",
        "AGENTS.md.save.1",
        "node_modules/a/b.js",
        "4913",
        ".AGENTS.md.swx",
        ".AGENTS.md.un~",
        ".AGENTS.md.kate-swp",
        "._AGENTS.md",
        "__MACOSX/._x",
        "THUMBS.DB",
        "~$notes.docx",
        ".~lock.notes.odt#",
        "AGENTS.md___jb_tmp___",
        ".nfs00000000a1",
        ".pytest_cache/v/x",
        ".ipynb_checkpoints/x.ipynb",
        ".viminfo",
        "scripts/x.pyo",
    ],
)
def test_what_a_tool_left_behind_is_noted_and_ignored(path: str) -> None:
    answer = taken({**GOOD, path: b"\xff\x00"})
    assert set(answer.tree.files) == set(GOOD)
    assert answer.notes == (f"ignored {path!r}: left behind by a tool",)


@pytest.mark.parametrize(
    "path",
    [
        *("notes.txt", "gitconfig", ".gitignore", ".github/x", "scripts/tmp.py", "my.git/x", "DS_Store"),
        *("a.sql", "a.svg", ".a.svg", "a.sty", "old", "a.oldest", "save.md", "git", "cache/x", "a#b", "scripts/_x.py"),
    ],
)
def test_a_real_edit_is_no_dropping(path: str) -> None:
    assert not is_dropping(path)


def test_what_the_harness_had_before_is_no_dropping_whatever_it_is_called() -> None:
    surface = evolve(SURFACE, allowed=(*SURFACE.allowed, Allowed("skill-file", "skills/<name>/scripts/<file>")))
    path = "skills/totals/scripts/rows.tmp"
    files = {**GOOD, path: b"a template\n"}
    assert path not in taken(files, surface).tree.files
    answer = accept(surface, files, given=files)
    assert isinstance(answer, Accepted)
    assert (answer.tree.files[path], answer.notes) == ("a template\n", ())


def test_a_real_edit_off_the_surface_is_refused_by_name() -> None:
    (problem,) = refused({**GOOD, "opencode.json": b"{}"}).problems
    assert problem.startswith("'opencode.json': not on the editable surface")


def test_a_file_that_is_no_text_is_refused_with_the_place() -> None:
    answer = refused({**GOOD, "scripts/x.py": b"print()\n\xff"})
    assert "'scripts/x.py': not UTF-8 text (byte 8); a harness is text" in answer.problems


def test_unreadable_files_bad_paths_and_breaches_of_the_surface_are_told_at_once() -> None:
    answer = refused(
        {
            "AGENTS.md": b"{{ x }}",
            "scripts/a.py": b"\xff",
            "scripts/b.py": b"def (",
            "../escape": b"",
            "SKILLS/x": b"",
            "skills/y/SKILL.md": b"no front matter",
            "con": b"",
        }
    )
    said = "\n".join(answer.problems)
    expected = ("not UTF-8", "climbs", "case", "device", "'{{'", "scripts/b.py: does not compile", "does not begin")
    assert [word for word in expected if word not in said] == []
    assert len(answer.problems) == len(set(answer.problems))


def test_nothing_back_is_refused() -> None:
    assert any("the tree is empty" in problem for problem in refused({}).problems)


def test_a_missing_trigger_line_is_added_and_noted() -> None:
    answer = taken({**GOOD, "AGENTS.md": b"Work."})
    assert answer.tree.files["AGENTS.md"] == "Work.\n- Load the skill `totals` when: How to check totals.\n"
    assert answer.notes == ("added the missing trigger line of skill 'totals' to AGENTS.md",)


def test_a_trigger_line_that_does_not_fit_under_the_cap_is_asked_for() -> None:
    (problem,) = refused({**GOOD, "AGENTS.md": b"x" * 190}).problems
    assert "skill 'totals' is not named" in problem


def test_as_many_trigger_lines_are_added_as_fit() -> None:
    files = {"AGENTS.md": b"Work.\n"} | {f"skills/s{n}/SKILL.md": SKILL for n in range(9)}
    answer = refused(files)
    assert len(answer.problems) == 6
    assert "skill 's3'" in answer.problems[0]


def test_a_trigger_line_carries_no_template_tag_into_always_on_text() -> None:
    skill = b"---\ndescription: 'Fill {{ x }} and {% y %}.'\n---\n"
    answer = taken({"AGENTS.md": b"Work.\n", "skills/fill/SKILL.md": skill})
    assert "Fill { { x }} and { % y %}." in answer.tree.files["AGENTS.md"]


@pytest.mark.parametrize(
    "skill", [b"No front matter.\n", b"---\nx: [\n---\n", b"---\nname: fill\n---\n", b"---\n- a\n---\n"]
)
def test_a_skill_that_does_not_describe_itself_costs_no_second_problem_for_its_trigger_line(skill: bytes) -> None:
    """The line is added all the same: what is asked for is the description."""
    (problem,) = refused({"AGENTS.md": b"Work.\n", "skills/fill/SKILL.md": skill}).problems
    assert problem.startswith("skills/fill/SKILL.md: ")


def test_a_description_that_refers_to_itself_without_end_is_answered_in_a_moment() -> None:
    lines = ["a0: &a0 [x, x, x, x, x, x, x, x, x, x]"]
    lines += [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 10)}]" for n in range(1, 12)]
    skill = "\n".join(["---", *lines, "description: *a11", "---", ""]).encode()
    (problem,) = refused({"AGENTS.md": b"Work.\n", "skills/fill/SKILL.md": skill}).problems
    assert "needs a 'description'" in problem


@pytest.mark.parametrize("left", [{}, {"AGENTS.md": b" \n"}])
def test_a_trigger_line_does_not_hide_that_a_required_text_was_taken_away(left: Mapping[str, bytes]) -> None:
    answer = refused({**left, "skills/totals/SKILL.md": SKILL})
    assert "AGENTS.md: must exist and not be blank" in answer.problems


def test_what_is_repaired_of_itself_is_not_asked_for_beside_a_file_that_is_no_text() -> None:
    answer = refused({**GOOD, "AGENTS.md": b"Work.\n", "scripts/x.py": b"\xff"})
    assert not [problem for problem in answer.problems if "is not named" in problem]


def test_a_description_of_many_lines_makes_one_trigger_line() -> None:
    skill = b"---\ndescription: |\n  One.\n\n  # Two\n---\n"
    answer = taken({"AGENTS.md": b"Work.\n", "skills/fill/SKILL.md": skill})
    assert answer.tree.files["AGENTS.md"].splitlines() == ["Work.", "- Load the skill `fill` when: One. # Two"]


def test_the_checks_of_adapter_and_substrate_are_asked_and_told_with_the_rest() -> None:
    seen: list[HarnessTree] = []

    def check(tree: HarnessTree) -> Sequence[str]:
        seen.append(tree)
        return ["no weekends", "no weekends"]

    answer = accept(SURFACE, {**GOOD, "scripts/x.py": b"("}, [check, check])
    assert isinstance(answer, Rejected)
    assert [problem.split(":")[0] for problem in answer.problems] == ["scripts/x.py", "no weekends"]
    assert set(seen[0].files) == {*GOOD, "scripts/x.py"}


def test_without_a_cap_a_trigger_line_always_fits() -> None:
    answer = taken({**GOOD, "AGENTS.md": b"x" * 5_000}, evolve(SURFACE, cap_chars=0))
    assert "totals" in answer.tree.files["AGENTS.md"]


def test_a_stored_tree_that_is_no_text_is_an_error() -> None:
    assert tree_of({"a": "é".encode()}).files == {"a": "é"}
    with pytest.raises(InvalidValue, match="not UTF-8"):
        tree_of({"a": b"\xff"})


LEFT = st.dictionaries(
    st.sampled_from([*GOOD, "skills/Totals/SKILL.md", "scripts/add.py", "notes.txt", "a/../b", "AGENTS.md/x"]),
    st.sampled_from([*GOOD.values(), b"Use totals, and add.py.\n", b"", b"\xff", b"print(1)\n", b"if\n", b"{{ x }}"]),
    max_size=5,
)
DROPPED = st.dictionaries(
    st.sampled_from([".DS_Store", "AGENTS.md~", ".git/HEAD", "scripts/x.pyc"]), st.binary(max_size=3)
)


@given(LEFT | LEFT.map(lambda files: {**GOOD, **files}), DROPPED)
def test_whatever_files_are_left_they_are_a_tree_of_the_surface_or_refused_in_words(
    files: dict[str, bytes], dropped: dict[str, bytes]
) -> None:
    answer = accept(SURFACE, files)
    beside = accept(SURFACE, dict(reversed({**files, **dropped}.items())))
    if isinstance(answer, Rejected):
        assert isinstance(beside, Rejected)
        assert beside.problems == answer.problems
        assert answer.problems
        assert all(problem.strip() for problem in answer.problems)
        return
    assert isinstance(beside, Accepted)
    assert beside.tree == answer.tree
    assert all(SURFACE.component(path) for path in answer.tree.files)
    kept = {path: text.encode() for path, text in answer.tree.files.items()}
    assert accept(SURFACE, kept) == Accepted(answer.tree)  # nothing is repaired twice
