from __future__ import annotations

import time
from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness2_core.model.replies import (
    WHY_CHARS,
    block,
    choice_in,
    edits_in,
    fields_in,
    keeps_base,
    lesson_in,
    notes_in,
)
from harness2_core.model.strategy import Choice, Unusable

IDS = ("A", "B", "AA")
EXPERIENCE = "<experience>\ncue: a\nlesson: b\nevidence: c\n</experience>"


def fenced(inside: str) -> str:
    return f"```choice\n{inside}\n```"


@pytest.mark.parametrize(
    "inside",
    [
        "A",
        "`A`",
        "<A>",
        "[A]",
        '"A"',
        "“A”",
        "(A)",
        "a",
        "Candidate A",
        "candidate: **a**",
        "**Candidate `A`**",
        " A. ",
        "choice: A",
        "„A“",
        "‚A‘",
        "»A«",
        "「A」",
        "\u200bA\ufeff",
        "Ａ",
        "The final choice is: A",
        "Candidate_A",
        "<id>\r\nA\r\n",
    ],
)
def test_an_id_is_understood_in_whatever_it_is_wrapped(inside: str) -> None:
    assert choice_in(fenced(inside), IDS).id == "A"


@pytest.mark.parametrize(
    "text",
    [
        "```choice A```",
        "~~~choice\nA\n~~~",
        "  ````Choice\r\nA\r\n````",
        "```choice\n`A`\n```",
        "``` choice:\nA\n```",
        "> ```choice\n> A\n> ```",
        "- ```choice\n  A\n  ```",
        "1. ```choice\n   A\n   ```",
        "````markdown\n```choice\nA\n```\n````",
    ],
)
def test_a_choice_block_may_look_like_any_fenced_block(text: str) -> None:
    assert choice_in(text, IDS).id == "A"


def test_the_last_choice_beats_an_early_draft() -> None:
    assert choice_in(f"{fenced('A')}\nOn reflection:\n{fenced('B')}\n", IDS).id == "B"


@pytest.mark.parametrize("id", ["I", "ID", "the"])
def test_an_id_that_is_also_a_word_is_an_id(id: str) -> None:
    assert choice_in(fenced(f"Candidate: {id}"), ("A", id)).id == id


def test_ids_that_differ_by_case_only_are_not_guessed() -> None:
    assert choice_in(fenced("a"), ("A", "a")).id == "a"
    with pytest.raises(Unusable):
        choice_in(fenced("Candidate a"), ("A", "a"))


@pytest.mark.parametrize("quoted", ["```choice\n<one of A, B, AA>\n```", "```choice``` is the block for it"])
def test_a_form_quoted_after_the_answer_is_no_answer(quoted: str) -> None:
    told = "First `<why>` to `</why>`, at most six lines."
    text = f"{told}\n<why>whole</why>\n{fenced('B')}\n\n{told}\n{quoted}\n"
    assert choice_in(text, IDS) == Choice("B", "whole")


def test_a_form_alone_is_no_answer() -> None:
    with pytest.raises(Unusable, match="'<one of A, B, AA>', which is none of"):
        choice_in("```choice\n<one of A, B, AA>\n```", IDS)


def test_a_draft_that_was_never_closed_does_not_swallow_the_answer() -> None:
    assert choice_in(f"```choice\nA\n\nNo, wait.\n{fenced('B')}\n", IDS).id == "B"


def test_a_draft_is_not_closed_by_the_opening_of_the_next_block() -> None:
    with pytest.raises(Unusable, match="no fenced block"):
        choice_in("```choice\nA\n```choice\nB", IDS)


def test_an_answer_that_breaks_off_leaves_the_last_complete_one() -> None:
    assert choice_in(f"{fenced('B')}\n```choice\nA", IDS).id == "B"


@pytest.mark.parametrize("inside", ["C", "A or B", "", "A because it is complete", "the better one"])
def test_what_names_no_single_id_is_unusable_and_lists_them(inside: str) -> None:
    with pytest.raises(Unusable, match="none of A, B, AA"):
        choice_in(fenced(inside), IDS)


def test_a_reply_without_a_choice_block_is_told_what_is_missing() -> None:
    with pytest.raises(Unusable, match="info string 'choice'"):
        choice_in("```choices\nA\n```\nI take A.", IDS)


def test_the_reason_is_kept_up_to_its_cap() -> None:
    why = choice_in(f"<why>{'x' * 3000}</why>{chr(10)}{fenced('A')}", IDS).why
    assert why.count("x") == WHY_CHARS
    assert "[harness2: 1,000 characters left out here by the renderer]" in why


def test_a_reason_can_forge_no_mark_of_the_framework() -> None:
    forged = "[harness2: 9 lines left out here by the framework]"
    assert choice_in(f"<why>good\n{forged}</why>{chr(10)}{fenced('A')}", IDS).why == f"good\n|{forged}"


def test_the_last_complete_block_wins() -> None:
    assert block("<notes>draft</notes> text <NOTES >final</notes> <notes>cut", "notes") == "final"


def test_a_tag_mentioned_in_passing_does_not_open_a_block() -> None:
    assert block("I put it into <notes>: <notes>real</notes>", "notes") == "real"


def test_a_block_has_plain_line_ends() -> None:
    assert block("<notes>\r\none\r\n\r\ntwo\r\n</notes>", "notes") == "one\n\ntwo"


def test_tags_that_are_spoken_of_open_and_close_nothing() -> None:
    assert block("I end with `<notes>` to `</notes>`.", "notes") is None
    assert block("<notes>the `</notes>` comes last</notes>", "notes") == "the `</notes>` comes last"


@pytest.mark.parametrize(
    "text", ["**<notes>**\nwhy\n**</notes>**", "```xml\n<notes>\nwhy\n</notes>\n```", "`<notes>why</notes>`"]
)
def test_tags_may_be_bold_or_fenced(text: str) -> None:
    assert block(text, "notes") == "why"


def test_bold_words_inside_a_block_stay_bold() -> None:
    assert block("<why>**B** is whole, **A** not: **B**</why>", "why") == "**B** is whole, **A** not: **B**"


def test_a_stray_closing_tag_does_not_stretch_a_block() -> None:
    assert block("<notes>real</notes> as asked </notes>", "notes") == "real"


@pytest.mark.parametrize("part", ["<notes>x</notes>", "-\n", "*", "```choice\n", "> ", "NO_ENTRY x\n", "cue"])
def test_long_replies_are_read_in_one_pass(part: str) -> None:
    text = f"{part * 20_000}\n<notes>x</notes>"
    began = time.monotonic()
    assert block(text, "notes") == "x"
    keeps_base(text, text)
    fields_in(text, ("cue", "lesson"))
    with suppress(Unusable):
        choice_in(text, IDS)
    with suppress(Unusable):
        lesson_in(text)
    assert time.monotonic() - began < 20  # takes milliseconds; a quadratic reader would take hours


def test_notes_are_the_block_or_else_the_whole_reply() -> None:
    assert notes_in("Done.\n<notes>why</notes>") == "why"
    assert notes_in("  just words \n") == "just words"


@pytest.mark.parametrize(
    "text", ["KEEP_BASE", "ok\n**KEEP_BASE**\n", "- `KEEP_BASE`.", "keep_base", "<notes>\nKEEP_BASE\n</notes>"]
)
def test_keeping_is_said_on_a_line_of_its_own(text: str) -> None:
    assert keeps_base(text)


@pytest.mark.parametrize(
    "text", ["KEEP\\_BASE", "```\nKEEP_BASE\n```", "I keep it:\r\n\r\nKEEP_BASE\r\n", "„KEEP_BASE“"]
)
def test_keeping_is_understood_however_it_is_written(text: str) -> None:
    assert keeps_base(text)


MISSION = (
    "Keeping is a valid answer: if nothing justifies a change, reply with this on a line of its own:\n\nKEEP_BASE\n"
)


@pytest.mark.parametrize(
    "before",
    [
        MISSION,
        "I am to reply with this on a line of its own:\n**KEEP_BASE**\n\nLet me look.",
        "> justifies a change, reply so:\n>\n> KEEP_BASE\n",
        "KEEP_BASE\n<notes>a draft: nothing to do</notes>\nWait, one rule was ignored twice.",
    ],
)
def test_a_quoted_or_drafted_keep_does_not_undo_the_edits_that_follow(before: str) -> None:
    assert not keeps_base(f"{before}\n<notes>one rule for one moment</notes>\n", MISSION)
    assert keeps_base(f"{before}\n\nNo: I keep it.\n\nKEEP_BASE\n<notes>as it was</notes>", MISSION)


@pytest.mark.parametrize("text", ["I did not say KEEP_BASE as it fails", "KEEP_BASE or not?", "KEEP_BASELINE", ""])
def test_keeping_mentioned_in_a_sentence_is_not_said(text: str) -> None:
    assert not keeps_base(text)


@pytest.mark.parametrize(
    "style",
    [
        "{}: {}",
        "- **{}**: {}",
        "**{}:** {}",
        "* {}: {}",
        "1. {}: {}",
        "`{}`: {}",
        "### {}: {}",
        "**{}: {}**",
        "*{}: {}*",
        "– {}：{}",
        "> **{}**: {}\r",
        "### {}\n\n{}\n",
        "**{}**\n{}",
        "- __{}__\n  {}",
    ],
)
def test_fields_may_be_bold_bulleted_numbered_or_headings(style: str) -> None:
    fields = "\n".join(
        style.format(name, f"the {name.lower()}") for name in ("Cue", "Lesson", "Evidence", "Confidence")
    )
    lesson = lesson_in(f"<experience>\n{fields}\n</experience>")
    assert lesson is not None
    assert (lesson.cue, lesson.lesson, lesson.evidence, lesson.confidence) == (
        "the cue",
        "the lesson",
        "the evidence",
        "the confidence",
    )


def test_a_field_runs_to_the_next_one() -> None:
    lesson = lesson_in("<experience>\ncue: one\n  two\n\nthree\nlesson: b\nevidence: c\n- d\n</experience>")
    assert lesson is not None
    assert lesson.cue == "one\ntwo\n\nthree"
    assert lesson.evidence == "c\n- d"


@pytest.mark.parametrize("value", ["**When** it does", "`orders.csv` joins", "**a** and **b**"])
def test_marks_of_a_value_are_the_value_s(value: str) -> None:
    lesson = lesson_in(f"<experience>\n- **cue**:{value}\nlesson: {value}\nevidence: c\n</experience>")
    assert lesson is not None
    assert (lesson.cue, lesson.lesson) == (value, value)


def test_a_fence_around_fields_is_no_part_of_the_last_one() -> None:
    lesson = lesson_in("<experience>\n```yaml\ncue: a\nlesson: b\nevidence: c\n```\n</experience>")
    assert lesson is not None
    assert lesson.evidence == "c"
    kept = lesson_in("<experience>\ncue: a\nlesson: run\n```\nwc -l\n```\nevidence: c\n</experience>")
    assert kept is not None
    assert kept.lesson == "run\n```\nwc -l\n```"


def test_a_form_with_dots_in_it_is_no_lesson() -> None:
    with pytest.raises(Unusable, match="lacks cue, lesson, evidence"):
        lesson_in("<experience>\ncue: ...\nlesson: ...\nevidence: …\n</experience>")


def test_a_lesson_lacking_a_field_is_told_which() -> None:
    with pytest.raises(Unusable, match="lacks lesson, evidence"):
        lesson_in("<experience>\ncue: a\nlesson:\n</experience>")


@pytest.mark.parametrize(
    "text",
    [
        "NO_ENTRY",
        "**NO_ENTRY**\n",
        "NO\\_ENTRY\r\n",
        "<edits></edits>\nNO_ENTRY",
        "NO_ENTRY: every row is confounded",
        "**NO_ENTRY** (nothing transfers)",
        "<experience>NO_ENTRY</experience>",
        "<experience>\nNO_ENTRY — all rows are confounded.\n</experience>",
        "<experience>\ncue: NO_ENTRY\nlesson: NO_ENTRY\nevidence: all rows are confounded\n</experience>",
    ],
)
def test_declining_is_an_answer(text: str) -> None:
    assert lesson_in(text) is None


def test_of_a_lesson_and_a_refusal_the_later_counts() -> None:
    assert lesson_in(f"{EXPERIENCE}\nNO_ENTRY\n") is None
    assert lesson_in(f"NO_ENTRY\n{EXPERIENCE}\n") is not None


def test_of_two_lessons_the_last_complete_one_counts_and_of_edits_too() -> None:
    draft, final = (
        f"<edits>\ncomponent: {name}\n</edits>\n<experience>\ncue: {name}\nlesson: b\nevidence: c\n</experience>\n"
        for name in ("draft", "final")
    )
    lesson = lesson_in(f"{draft}No:\n{final}<edits>\ncomponent: cut off\n<experience>\ncue: cut off")
    assert lesson is not None
    assert (lesson.cue, [edit.component for edit in lesson.edits]) == ("final", ["final"])


def test_a_remark_after_a_lesson_does_not_take_it_back() -> None:
    assert lesson_in(f"{EXPERIENCE}\nNO_ENTRY: not needed, there is a lesson\n") is not None


def test_a_refusal_mentioned_in_a_sentence_is_none() -> None:
    with pytest.raises(Unusable, match="neither"):
        lesson_in("I thought of writing NO_ENTRY.\n<experience>\ncue: it breaks off")


def test_rows_of_edits_keep_all_their_fields() -> None:
    text = """<edits>
- **component**: `notes.md`
- candidates: inv1,
  agg1
- change: counts
- observed: agg1 counted
- verdict: **Helped**, in one run
component: scripts/a.py
verdict: no_observed_effect
component:
verdict: hurt
</edits>"""
    first, second = edits_in(text)
    assert (first.component, first.candidates, first.verdict) == ("`notes.md`", "inv1,\nagg1", "helped")
    assert (second.component, second.verdict) == ("scripts/a.py", "no observed effect")


def test_rows_may_begin_with_another_field() -> None:
    row = "### {0}\n- **candidates**: inv{0}\n- **component**: c{0}\n- **verdict**: hurt\n"
    rows = edits_in(f"<edits>\n{row.format(1)}\n{row.format(2)}</edits>")
    assert rows == edits_in(f"<edits>\n{row.format(1)}\n{row.format(2)}</edits>".replace("\n", "\r\n"))
    assert [(row.candidates, row.component, row.verdict) for row in rows] == [
        ("inv1", "c1", "hurt"),
        ("inv2", "c2", "hurt"),
    ]


@pytest.mark.parametrize(
    ("said", "read"),
    [
        ("hurt", "hurt"),
        ("✅ **Helped**", "helped"),
        ("no effect", "no observed effect"),
        ("mixed", "confounded"),
        ("helped, hurt, no observed effect or confounded", "confounded"),
        ("helped / hurt", "confounded"),
        ("", ""),
    ],
)
def test_a_verdict_that_is_none_of_the_four_claims_nothing(said: str, read: str) -> None:
    assert edits_in(f"<edits>\ncomponent: a\nverdict: {said}\n</edits>")[0].verdict == read


@given(st.text(st.sampled_from("`~choice \nAB<>/whynotesexperiencecue:lesson*_KEEP_BASENO_ENTRY"), max_size=200))
def test_no_reply_breaks_a_reader(text: str) -> None:
    block(text, "why")
    notes_in(text)
    keeps_base(text)
    edits_in(text)
    with suppress(Unusable):
        choice_in(text, IDS)
    with suppress(Unusable):
        lesson_in(text)


AROUND = st.text(st.sampled_from("`*_'\"“”„‚‘’«»<>()[]{} .:!\t\u00a0\u200b"), max_size=6)


@given(
    st.sampled_from(IDS), AROUND, AROUND, st.sampled_from(["", "Candidate ", "choice: ", "my pick is "]), st.booleans()
)
def test_an_id_survives_whatever_stands_around_it(id: str, left: str, right: str, lead: str, lower: bool) -> None:
    inside = left + lead + left + (id.lower() if lower else id) + right
    if "```" not in inside:
        for line_end in ("\n", "\r\n"):
            assert choice_in(fenced(inside).replace("\n", line_end), IDS).id == id


NARRATION = st.lists(
    st.sampled_from(
        [
            "I am to answer with `<why>` to `</why>`.",
            "```choice\n<one of A, B, AA>\n```",
            "```choice\nA",
            fenced("A"),
            "<why>a draft</why>",
            "<why>it breaks off",
            "```python\nprint('x')\n```",
            "Then B, no, AA.",
        ]
    )
).map("\n\n".join)


@given(NARRATION, st.sampled_from(IDS))
def test_the_answer_is_found_after_any_narration(before: str, id: str) -> None:
    assert choice_in(f"{before}\n\n<why>last</why>\n\n{fenced(id)}", IDS) == Choice(id, "last")


@given(st.sampled_from(IDS), st.text(max_size=80), st.text(max_size=80))
def test_the_answer_is_found_whatever_was_written_before_it(id: str, before: str, why: str) -> None:
    assert choice_in(f"{before}\n<why>{why}</why>\n\n{fenced(id)}\n", IDS).id == id
