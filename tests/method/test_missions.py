from __future__ import annotations

import re
from itertools import product

import pytest
from attrs import evolve
from hypothesis import given
from hypothesis import strategies as st

from harness2_core.method.missions import core_templates, mission, overridden, stage_correction, words_of
from harness2_core.model.bench import BenchWords
from harness2_core.model.canonical import digest_bytes
from harness2_core.model.errors import ConfigError
from harness2_core.model.frozen import FrozenMap
from harness2_core.model.manifest import Manifest
from harness2_core.model.plan import Stage
from harness2_core.model.strategy import Ballot, Choice
from harness2_core.model.surface import COMPONENTS, Allowed, Surface
from harness2_core.model.templates import Templates

FULL = BenchWords(
    work="Reconcile ledgers into a report.",
    domain_word="trade",
    deliverable_word="report",
    inv_levers="INV-LEVERS",
    dom_levers="DOM-LEVERS",
    yardstick="YARDSTICK",
    domain_guidance="GUIDANCE",
    selection_checks="CHECKS",
    selection_lead="LEAD",
)
BARE = BenchWords(work="Reconcile ledgers into a report.", inv_levers="  \n", yardstick=" ")
RICH = Surface(
    "rich",
    ("prompt.md", "guard.md"),
    8_000,
    (
        Allowed("skill", "skills/<name>/SKILL.md", "how to do one thing", "on demand"),
        Allowed("sub-agent", "sub_agents/<name>/AGENT.md"),
        Allowed("script", "scripts/<script>.py"),
        Allowed("hooks", "hooks.json"),
        Allowed("plugin", "plugin/<name>.ts"),
    ),
    required=("prompt.md",),
    trigger_file="guard.md",
    hook_events=("PreToolUse", "Stop"),
    plain_always_on=True,
    reserved_scripts=("read_doc.py",),
)
PROGRAM = Surface("program", (), 0, (Allowed("program", "scripts/<script>.py"),), required=("scripts/solve.py",))
LISTING = ("`context/task.md`: the task", "`context/harness/`: the harness that you edit (3 files)")
LISTED = {"context/task.md", "context/harness/"}
BANNED = re.compile(
    r"benchmark|evaluat|grader|grading|graded|rubric|\bscor(e|es|ed|ing)\b|budget|\busd\b|dollar|\bprice|\bmoney|\btokens\b"
    r"|reward|leaderboard|\bjudge['’]?s\b",
    re.IGNORECASE,
)


def bases(k: int) -> tuple[str, ...]:
    return tuple(f"base{i}" for i in range(1, k + 1))


def parallel(k: int) -> list[Stage]:
    edits = [Stage(f"{t}{i}", t, "base", bases(k), index=i, of=k) for i in range(1, k + 1) for t in ("inv", "dom")]
    pool = tuple(stage.label for stage in edits)
    return [*edits, *(Stage(f"agg{i}", "agg", "base", bases(k), pool, pool, index=i, of=k) for i in range(1, k + 1))]


def sequential(k: int) -> list[Stage]:
    stages: list[Stage] = []
    for t in range(1, k + 1):
        past = tuple(stage.label for stage in stages)
        start = f"c{t - 1}" if t > 1 else "base"
        stages += [Stage(f"{x}{t}", x, start, bases(k), past, past, round=t, rounds=k) for x in ("inv", "dom")]
        seen = (*past, f"inv{t}", f"dom{t}")
        template = "compose" if k > 1 else "agg"
        stages.append(Stage(f"c{t}", template, start, bases(k), seen, seen, round=t, rounds=k))
    return stages


def told(stage: Stage, words: BenchWords = FULL, surface: Surface = RICH) -> str:
    return mission(stage, LISTING, words, surface, core_templates())


def corrected(mission: str, problems: tuple[str, ...], notes: tuple[str, ...] = ()) -> str:
    return stage_correction(mission, problems, notes, core_templates())


def selecting(words: BenchWords) -> str:
    return Ballot({"A": {}, "B": {}}, Manifest(), words_of(words), 1, core_templates()).mission()


def reflecting(words: BenchWords, why: str = "B has no total") -> str:
    return core_templates().render(
        "reflect", words=words_of(words), adopted="agg1", choice=Choice("A", why), listing=LISTING
    )


CASES = [
    (f"{mode.__name__}{k}-{stage.label}-{'full' if words is FULL else 'bare'}-{surface.name}", stage, words, surface)
    for mode, k, words, surface in product((parallel, sequential), range(1, 5), (FULL, BARE), (RICH, PROGRAM))
    for stage in [*mode(k), evolve(mode(k)[0], template="keep")]
]


@pytest.mark.parametrize("k", range(1, 5))
def test_no_mission_speaks_of_measuring_or_of_what_is_left_to_spend(k: int) -> None:
    texts = [told(stage, words, surface) for _, stage, words, surface in CASES if len(stage.rollouts) == k]
    texts += [selecting(FULL), selecting(BARE), reflecting(FULL), reflecting(BARE, "")]
    texts += [corrected("MISSION", ("a.md: too long",), ("ignored '.DS_Store'",))]
    assert [found.group() for text in texts if (found := BANNED.search(text))] == []


def test_no_mission_names_a_path_that_is_not_in_its_listing() -> None:
    texts = [told(stage, words, surface) for _, stage, words, surface in CASES]
    texts += [reflecting(FULL), reflecting(BARE)]
    named = {path for text in texts for path in re.findall(r"context/[\w./<>*\-]+", text)}
    assert named <= LISTED
    assert re.findall(r"context/[\w./<>*\-]+", selecting(FULL)) == []  # its evidence is empty


def test_every_mission_is_tidy() -> None:
    """No run of blank lines, no blank heading, no template tag, no trailing blanks in what blank words left."""
    for name, stage, words, surface in CASES:
        text = told(stage, words, surface)
        assert "\n\n\n" not in text, name
        assert not re.search(r"^#+ .*\n+(?=#)", text.replace("\n## ", "\n@@ "), re.MULTILINE), name
        assert "{%" not in text.replace("`%`", ""), name
        assert not re.search(r"[ \t]+$", text, re.MULTILINE), name
        assert "None" not in text, name


SURFACES = st.builds(
    Surface,
    st.just("any"),
    st.sampled_from([(), ("notes.md",), ("prompt.md", "guard.md")]),
    st.sampled_from([0, 8_000]),
    st.lists(
        st.builds(
            Allowed, st.sampled_from(COMPONENTS), st.sampled_from(["x/<name>/<file>", "<script>.py", "y/<path>"])
        ),
        unique=True,
    ).map(tuple),
    skill_name=st.sampled_from(["required", "optional"]),
    skill_fields=st.sampled_from([(), ("name", "description")]),
    sub_agents=st.booleans(),
    sub_agent_mode=st.sampled_from(["", "subagent"]),
    sub_agent_name=st.sampled_from(["required", "optional"]),
    sub_agent_fields=st.sampled_from([(), ("mode",)]),
    hook_events=st.sampled_from([(), ("Stop",)]),
    plain_always_on=st.booleans(),
    reserved_scripts=st.sampled_from([(), ("pack.py",)]),
)
STAGES = [stage for mode, k in product((parallel, sequential), (1, 2)) for stage in mode(k)]


@given(st.sampled_from(STAGES), st.sampled_from([FULL, BARE]), SURFACES)
def test_a_mission_for_any_surface_is_whole_and_speaks_of_what_there_is(
    stage: Stage, words: BenchWords, surface: Surface
) -> None:
    text = told(stage, words, surface)
    assert not re.search(
        r"\n\n\n|[ \t]$|[^ \n-]  +[^ ]|\{%|\(\)| [.,;]|[a-z`]\.\.[^.]|,\.|None|^\s*[.,;]", text, re.MULTILINE
    )
    assert not re.search(r"^(#+) .*\n+(?=\1 |# )", text, re.MULTILINE)  # a heading with nothing under it
    there = {item.component for item in surface.allowed}
    there |= {"always-on"} if surface.always_on else set()
    for component, said in (
        ("hooks", r"\bhooks?\b"),
        ("plugin", r"\bplugin\b"),
        ("skill", r"\bskill\b"),
        ("always-on", "always-on"),
    ):
        if component not in there:
            assert not re.search(said, re.sub(r"a file that belongs to a skill", "", text)), component
    if "sub-agent" not in there or not surface.sub_agents:
        assert "sub-agent" not in text


@pytest.mark.parametrize("template", ["inv", "dom", "agg", "compose"])
def test_keeping_is_explained_as_a_valid_answer_on_a_line_of_its_own(template: str) -> None:
    text = told(evolve(sequential(2)[5], template=template))
    assert text.splitlines().count("KEEP_BASE") == 1
    assert "Keeping is a valid answer" in text


def test_the_null_control_asks_to_keep_and_to_read_nothing() -> None:
    text = told(evolve(parallel(2)[0], template="keep"))
    assert "KEEP_BASE" in text.splitlines()
    assert len(text) < 400


@pytest.mark.parametrize("k", range(1, 5))
def test_independence_is_claimed_only_where_it_is_true(k: int) -> None:
    assert all(("drawn independently" in told(stage)) == (k > 1) for stage in parallel(k))
    assert not any("independently" in told(stage) for stage in sequential(k))


def test_at_k_1_both_modes_are_told_the_same() -> None:
    assert [told(stage) for stage in parallel(1)] == [told(stage) for stage in sequential(1)]


def test_at_k_1_nothing_is_counted_against_one() -> None:
    for stage in (*parallel(1), *sequential(1)):
        text = told(stage)
        assert not re.search(r"\b1 of 1\b|1/1|\b1 base rollouts\b|round 1 of 1|all of them|several of them", text)
        assert "runs of the same task" not in text  # there is one
    assert "There is 1 base rollout under" in told(parallel(1)[-1])


@pytest.mark.parametrize("k", range(2, 5))
def test_editors_of_both_modes_are_told_the_same_but_for_their_place(k: int) -> None:
    for one, other in zip(parallel(k)[:2], sequential(k)[:2], strict=True):
        here, there = (told(stage).splitlines() for stage in (one, other))
        assert [line for line in here if line not in there] == [
            f"You write candidate 1 of {k} for this part, each drawn independently from the same evidence."
        ]
        assert [line for line in there if line not in here] == [
            f"This is round 1 of {k}: what you edit is the unmodified harness."
        ]


@pytest.mark.parametrize("k", range(2, 5))
def test_compositions_of_both_modes_get_the_same_rules(k: int) -> None:
    """Yardstick, weighing, scope, evidence, surface and the form of the notes: all sections but role and options."""

    def sections(text: str) -> dict[str, str]:
        parts = re.split(r"^# (.*)$", text, flags=re.MULTILINE)
        return dict(zip(parts[1::2], parts[2::2], strict=True))

    here, there = sections(told(parallel(k)[-1])), sections(told(sequential(k)[2]))
    assert list(here) == list(there)
    assert {"How to weigh it", "What good work looks like", "How to answer"} <= set(here)
    unlike = {name for name in here if here[name] != there[name]}
    assert unlike == {"What you have", "What to do"}  # they differ in numbers and in what may be chosen


def test_editors_of_a_later_round_are_told_whose_rollouts_they_read() -> None:
    """The base rollouts ran under the unmodified harness, which is no longer what is edited."""
    for stage in sequential(3):
        shown = "The base rollouts ran under the unmodified harness" in told(stage)
        assert shown == (stage.template != "compose" and stage.round > 1)
    assert "how the checkpoint itself ran is shown by `c2` in the pool" in told(sequential(3)[6])


@pytest.mark.parametrize("count", range(3))
def test_a_composition_speaks_of_the_harnesses_that_there_are(count: int) -> None:
    """Whoever plans otherwise than we do may use our texts."""
    pool = ("one", "other")[:count]
    text = told(Stage("mix1", "agg", "start" if count else "base", ("base1",), pool))
    assert ("earlier harness" in text, "earlier harnesses" in text) == (count > 0, count > 1)
    assert "notes are in" not in text
    assert ("`context/harness/` is the unmodified harness" in text) == (count == 0)


@pytest.mark.parametrize("k", range(1, 4))
def test_no_two_stages_of_a_mode_are_told_the_same(k: int) -> None:
    for stages in (parallel(k), sequential(k)):
        assert len({told(stage) for stage in stages}) == 3 * k


def test_a_round_says_where_it_stands() -> None:
    stages = sequential(3)
    assert "checkpoint\n1 of 3" in told(stages[2])
    assert "the next round edits it" in told(stages[2])
    assert "You are the last to write" in told(stages[8])
    assert "The newest candidates (inv3, dom3) edited it" in told(stages[8])
    assert "round 2 of 3: what you edit is the checkpoint" in told(stages[3])


def test_workspace_facts_and_domain_procedure_each_have_their_place() -> None:
    for stage in (*parallel(2), *sequential(2)):
        text = told(stage)
        assert text.count("*Verified facts of this workspace*") == 1
        assert "They are allowed and worth a lot." in text
        assert "`This workspace only`" in text
        assert not re.search(r"(never|no|not) (write|store|record)?\s*(matter )?facts", text, re.IGNORECASE)


def test_words_of_the_benchmark_are_where_they_belong() -> None:
    inv, dom = told(parallel(1)[0]), told(parallel(1)[1])
    for text in (inv, dom, told(parallel(1)[2]), told(sequential(2)[2])):
        assert "Reconcile ledgers" in text
        assert "GUIDANCE" in text
        assert "YARDSTICK" in text
    assert ("INV-LEVERS" in inv, "DOM-LEVERS" in inv) == (True, False)
    assert ("INV-LEVERS" in dom, "DOM-LEVERS" in dom) == (False, True)
    assert "CHECKS" in selecting(FULL)


def test_a_blank_or_broken_word_leaves_no_hole_in_a_sentence() -> None:
    words = BenchWords("Reconcile.", domain_word=" ", deliverable_word="annual\n# report")
    for stage in (*parallel(2), *sequential(2)):
        assert told(stage, words) == told(stage, BenchWords("Reconcile.", deliverable_word="annual # report"))


def test_blank_words_leave_no_heading() -> None:
    text = told(parallel(1)[0], BARE)
    assert "What good work looks like" not in text
    assert "What is particular" not in text


@pytest.mark.parametrize("lead", ["", "LEAD"])
@pytest.mark.parametrize("conformance", ["full", "value_only"])
def test_criteria_are_numbered_without_a_gap(lead: str, conformance: str) -> None:
    text = selecting(evolve(FULL, selection_lead=lead, selection_conformance=conformance))
    numbers = [int(number) for number in re.findall(r"^(\d+)\. ", text, re.MULTILINE)]
    assert numbers == list(range(1, 7 + bool(lead)))
    assert ("Conformance:" in text, "Values:" in text) == (conformance == "full", conformance != "full")
    assert text.count("as a value is there as a value") == 1


def test_a_surface_is_told_as_it_is() -> None:
    text = told(parallel(1)[0])
    for part in (
        "| `skills/<name>/SKILL.md` | how to do one thing | on demand |",
        "| `prompt.md` | text that is always in context | always |",
        "More than 8,000 characters in all always-on files",
        "`prompt.md` missing or blank",
        'load the skill `<name>`" in `guard.md`',
        "PreToolUse, Stop",
        "itself supplies read_doc.py",
        "a template engine renders it",
    ):
        assert part in text


def test_what_a_surface_lacks_is_not_spoken_of() -> None:
    for stage in (*parallel(2), *sequential(2)):
        text = told(stage, surface=PROGRAM)
        assert not re.search(r"skill|sub-agent|hook|plugin|always-on|trigger|front matter|<name>", text), stage.label
        notes_only = evolve(RICH, allowed=(), reserved_scripts=(), trigger_file="", plain_always_on=False)
        text = told(stage, surface=notes_only)
        assert not re.search(r"skill|sub-agent|hook|plugin|scripts/|calls a script|A script|Python|trigger", text), (
            stage.label
        )
    scripts_only = evolve(RICH, allowed=(Allowed("script", "scripts/<script>.py"),))
    text = told(parallel(1)[0], surface=scripts_only)
    assert not re.search(r"skill|sub-agent|hook|plugin", text)
    assert "sub_agents" not in told(parallel(1)[0], surface=evolve(RICH, sub_agents=False))


def test_no_rule_of_a_surface_is_kept_from_those_who_may_break_it() -> None:
    strict = evolve(
        RICH,
        skill_name="required",
        skill_fields=("name", "description"),
        sub_agent_name="required",
        sub_agent_mode="subagent",
        sub_agent_fields=("name", "description", "mode"),
    )
    text = told(parallel(1)[2], surface=strict)
    for part in (
        "Its `name` is required and equals the directory",
        "these keys and no others: name, description.",
        "`mode: subagent` and a `name` equal to what its path calls it",
        "these keys and no others: name, description, mode.",
        "not UTF-8 text",
        "`<name>` stands for lower-case letters, digits, `-` and `_`",
        "`<script>` stands for lower-case letters, digits and `_`",
    ):
        assert part in text
    assert "`<file>`" not in text
    assert "keys and no others" not in told(parallel(1)[2])


@pytest.mark.parametrize("component", COMPONENTS)
def test_every_component_has_words(component: str) -> None:
    surface = Surface("one", ("notes.md",), 100, (Allowed(component, f"x/<name>.{component}"),))
    assert f"`x/<name>.{component}`" in told(parallel(1)[0], surface=surface)


def test_every_text_has_a_version() -> None:
    templates = core_templates()
    assert {name: templates.version(name) for name in templates.texts if not templates.version(name)} == {}
    assert all(text.startswith("{# version: ") for text in templates.texts.values())


def test_an_unknown_word_in_a_text_is_an_error() -> None:
    templates = overridden(core_templates(), {"inv.md.jinja": "{{ words.work }} {{ words.hurry }}"})
    with pytest.raises(ConfigError, match=r"template 'inv' line 1.*hurry"):
        mission(parallel(1)[0], LISTING, FULL, RICH, templates)


def test_a_persons_text_takes_the_place_of_ours_in_every_mission_that_includes_it() -> None:
    templates = overridden(core_templates(), {"_yardstick.md.jinja": "OURS\n"})
    assert "OURS" in mission(parallel(1)[0], LISTING, FULL, RICH, templates)
    assert "OURS" in mission(sequential(2)[2], LISTING, FULL, RICH, templates)
    assert templates.digest != core_templates().digest


@pytest.mark.parametrize(
    ("name", "meant"),
    [
        ("yardstik.md.jinja", "_yardstick"),
        ("_yardstik.md.jinja", "_yardstick"),
        ("inv.txt", "inv"),
        ("inv", "inv"),
        ("INV.md.jinja", "inv"),
        ("Compose.md", "compose"),
    ],
)
def test_a_file_that_replaces_no_text_is_an_error_that_names_what_was_meant(name: str, meant: str) -> None:
    with pytest.raises(ConfigError, match=rf"'{re.escape(name)}' replaces no mission text\n  did you mean '{meant}'"):
        overridden(core_templates(), {name: "x"})


def test_a_file_like_none_of_them_is_told_what_there_is() -> None:
    with pytest.raises(ConfigError, match=r"known are _answer_free, .*; name it <template>\.md\.jinja"):
        overridden(core_templates(), {"qqqqqq.md": "x"})


def test_texts_of_other_modes_are_passed_over() -> None:
    assert overridden(core_templates(), {"tidy.md.jinja": "x"}, ("tidy",)) == core_templates()


def test_a_text_that_lists_components_is_the_same_in_every_process() -> None:
    templates = overridden(core_templates(), {"inv.md.jinja": "{{ has|join(' ') }}"})
    text = mission(parallel(1)[0], LISTING, FULL, RICH, templates)
    assert text == "always-on hooks plugin script skill sub-agent\n"


def test_a_modes_own_template_gets_the_same_values() -> None:
    own = core_templates().with_texts(FrozenMap({"mine": "{{ stage.label }} {{ words.work }}\n{% include '_data' %}"}))
    text = mission(evolve(parallel(1)[0], template="mine"), LISTING, FULL, RICH, own)
    assert text.startswith("inv1 Reconcile ledgers")


def test_an_unknown_template_is_an_error() -> None:
    with pytest.raises(ConfigError, match="no template named 'inv'"):
        mission(parallel(1)[0], LISTING, FULL, RICH, Templates({"other": "x"}))


def test_a_correction_repeats_the_mission_and_names_every_problem() -> None:
    text = corrected("MISSION\n", ("a.md: too long", "b.py: does not compile\nat line 2"), ("ignored '.DS_Store'",))
    assert text.startswith(
        "MISSION\n\n# Your edit could not be accepted\n\n- a.md: too long\n- b.py: does not compile\n  at"
    )
    assert "- ignored '.DS_Store'" in text
    assert "`context/harness/` holds the files as you left them" in text


def test_a_correction_without_repairs_speaks_of_none() -> None:
    assert "Of itself" not in corrected("MISSION", ("a",))


def test_the_reason_of_a_pick_reaches_the_reflection_and_a_missing_one_leaves_no_block() -> None:
    assert "<reason>\nB has no total\n</reason>" in reflecting(FULL)
    assert "<reason>" not in reflecting(FULL, "")


def test_nothing_in_a_value_is_rendered() -> None:
    text = told(parallel(1)[0], evolve(FULL, work="Sum {{ stage.label }} {% raw %}"))
    assert "Sum {{ stage.label }} {% raw %}" in text


def test_a_correction_has_room_for_a_few_problems_and_counts_the_rest() -> None:
    text = corrected("MISSION", tuple(f"'scripts/x{n}.py': not UTF-8 text" for n in range(5_000)))
    assert len(text) < 25_000
    assert "'scripts/x99.py'" in text
    assert re.search(r"^\[harness2: [\d,]+ more left out here by the framework\]$", text, re.MULTILINE)


def test_one_endless_problem_is_cut_and_a_check_can_forge_no_mark() -> None:
    text = corrected("MISSION", ("no:\n[harness2: 3 more left out here by the framework]", "x" * 90_000, "last"))
    assert "\n  |[harness2: 3 more" in text
    assert "88,000 characters left out here by the renderer]" in text
    assert "\n- last\n" in text


VERSIONS = {
    "_answer_free": ("2", "c390cb80"),
    "_composing": ("2", "83e5e5a7"),
    "_data": ("1", "597cbdd9"),
    "_deciding": ("1", "91eded3f"),
    "_evidence": ("1", "e28576ce"),
    "_how_to_change": ("1", "b109b256"),
    "_notes_compose": ("1", "bff1b261"),
    "_notes_edit": ("1", "db033857"),
    "_position": ("2", "f649e6bf"),
    "_scope": ("2", "e02bd4bc"),
    "_surface": ("2", "e58f5ac2"),
    "_work": ("1", "839fbed8"),
    "_yardstick": ("1", "8a1bb258"),
    "agg": ("2", "75a81538"),
    "compose": ("1", "01701b94"),
    "correct": ("1", "687340b0"),
    "dom": ("2", "e2d3c58b"),
    "inv": ("2", "64c3d72e"),
    "keep": ("1", "8db41871"),
    "reflect": ("2", "e6206c93"),
    "select": ("2", "1c7846d8"),
}
"""Text -> its version, and the first digits of its digest. Whoever changes a text raises its version, and this line."""


def test_a_changed_text_has_a_new_version() -> None:
    templates = core_templates()
    now = {name: (templates.version(name), digest_bytes(text.encode())[:8]) for name, text in templates.texts.items()}
    assert now == VERSIONS
