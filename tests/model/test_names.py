from __future__ import annotations

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from harness2_core.model.errors import InvalidValue
from harness2_core.model.names import LONGEST, escape, file_name, unescape
from harness2_core.model.paths import unportable

TRICKY = st.text("con.CON%-_/ é\ud800", max_size=8)
TEXTS = st.text(st.characters()) | TRICKY  # surrogates included: file names of the system may bring them


@given(TEXTS)
@example("")
@example("%")
@example(".")
@example("..")
@example("con")
@example("AUX.txt")
@example("a/b")
@example("é" * 200)
@example("\ud83d\ude00")
@example("a" * 300)
def test_an_escaped_name_gives_its_text_back(text: str) -> None:
    assert unescape(escape(text)) == text


@given(TEXTS, TEXTS)
@example("a/b", "a__b")
@example("", "%")
@example("a%2Fb", "a/b")
@example("\U0001f600", "\ud83d\ude00")
def test_two_texts_never_have_one_name(one: str, other: str) -> None:
    assert (escape(one) == escape(other)) is (one == other)
    assert (file_name(one) == file_name(other)) is (one == other)


@given(TEXTS | st.text(min_size=100, max_size=300))
def test_a_file_name_is_one_harmless_segment_of_bounded_length(text: str) -> None:
    name = file_name(text)
    assert name.isascii()
    assert 0 < len(name) <= LONGEST
    assert "/" not in name
    assert not name.startswith(".")
    assert unportable(name) == ()


@given(st.text(min_size=LONGEST + 1, max_size=400))
def test_a_shortened_name_is_no_other_texts_name(text: str) -> None:
    """Neither that of the text that reads as the short name, nor that of another long text with the same beginning."""
    short = file_name(text)
    assert file_name(short) != short
    assert file_name(text + "x") != short


def test_a_plain_id_stays_readable() -> None:
    assert escape("Ledger-2024_q1.v2") == "Ledger-2024_q1.v2"
    assert escape("law/case 7") == "law%2Fcase%207"


def test_short_names_are_not_shortened() -> None:
    assert file_name("x" * LONGEST) == "x" * LONGEST


@pytest.mark.parametrize(
    "name", ["", "a b", "con", "..", ".x", "%2f", "%ZZ", "%61", "%FF", "a.", "a%-0123456789abcdef"]
)
def test_a_name_that_escape_does_not_make_is_refused(name: str) -> None:
    with pytest.raises(InvalidValue, match="no escaped name"):
        unescape(name)
