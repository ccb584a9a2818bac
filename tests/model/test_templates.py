from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness2_core.model.errors import ConfigError
from harness2_core.model.frozen import FrozenMap
from harness2_core.model.templates import Templates

ONE = Templates({"a": "{# version: 7.1 #}\nHello {{ name }}.\n", "b": "{% include 'a' %}\nand\n{{ missing }}"})


def test_a_template_states_its_version() -> None:
    assert (ONE.version("a"), ONE.version("b")) == ("7.1", "")


def test_the_version_is_not_part_of_the_text() -> None:
    assert ONE.render("a", name="you") == "Hello you.\n"


def test_an_unknown_word_is_an_error_that_names_template_line_and_word() -> None:
    with pytest.raises(ConfigError, match=r"template 'b' line 3: 'missing' is undefined"):
        ONE.render("b", name="x")


def test_an_error_in_an_included_part_names_the_part() -> None:
    with pytest.raises(ConfigError, match=r"template 'a' line 2: 'name' is undefined"):
        ONE.render("b", missing="x")


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ("x\n{% if %}", "template 't' line 2"),
        ("{{ 1 + name }}", "template 't' line 1"),
        ("{{ 1 / 0 }}", "template 't' line 1"),
        ("{% include 'gone' %}", "template 't' line 1: includes gone, which is no template"),
        ("{{ 5|dictsort }}", "template 't' line 1"),
        ("x {{ [1, 2]|random }}", "template 't' line 1: No filter named 'random'"),
        ("{{ lipsum() }}", "'lipsum' is undefined"),
        ("{{ now() }}", "'now' is undefined"),
        ("{{ name.__class__.__mro__ }}", "template 't'"),
    ],
)
def test_a_faulty_template_is_a_configuration_error(text: str, what: str) -> None:
    with pytest.raises(ConfigError, match=what):
        Templates({"t": text}).render("t", name="x")


def test_an_unknown_template_lists_the_known_ones() -> None:
    with pytest.raises(ConfigError, match=r"no template named 'c'\n  known are a, b"):
        ONE.render("c")


@given(st.text(max_size=60))
def test_a_value_is_never_rendered_as_a_template(value: str) -> None:
    text = Templates({"t": "<{{ name }}>"}).render("t", name=value + "{{ 7 * 7 }}{% raw %}")
    assert "{{ 7 * 7 }}{% raw %}" in text
    assert "49" not in text.replace(value, "")


def test_runs_of_blank_lines_are_one() -> None:
    assert Templates({"t": "a\n\n{% if no %}x{% endif %}\n\n\n\nb\n\n"}).render("t", no=False) == "a\n\nb\n"


def test_other_texts_take_the_place_of_earlier_ones() -> None:
    changed = ONE.with_texts(FrozenMap({"a": "Bye."}))
    assert changed.render("a") == "Bye.\n"
    assert changed.digest != ONE.digest


def test_rendering_again_does_not_compile_again() -> None:
    """A sweep renders thousands of missions; framework time is a few milliseconds a step."""
    many = Templates({"t": "{{ name }}\n" + "{% if name %}x{% endif %}\n" * 2_000})
    began = time.thread_time()
    many.render("t", name="x")
    first = time.thread_time() - began
    began = time.thread_time()
    for _ in range(10):
        many.render("t", name="x")
    assert time.thread_time() - began < first * 5
