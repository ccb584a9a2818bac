from __future__ import annotations

from decimal import Decimal

import pytest
from attrs import field, frozen
from hypothesis import given
from hypothesis import strategies as st

from harness2_core.model.check import a_decimal, a_digest, at_least, decimal_text, matches, one_of, optional, within
from harness2_core.model.errors import InvalidValue


@frozen
class Sample:
    word: str = field(default="a", validator=matches("[a-z]+", "a word"))
    choice: str = field(default="x", validator=one_of("x", "y"))
    count: int = field(default=1, validator=at_least(1))
    part: int = field(default=1, validator=within(1, 3))
    digest: str = field(default="0" * 64, validator=a_digest)
    amount: str | None = field(default=None, validator=optional(a_decimal))


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("word", "A"),
        ("word", "a\n"),
        ("word", 3),
        ("choice", "z"),
        ("count", 0),
        ("count", True),
        ("count", 1.0),
        ("part", 0),
        ("part", 4),
        ("part", True),
        ("digest", "0"),
        ("digest", None),
        ("amount", "1e3"),
        ("amount", "0.10"),
        ("amount", "-0"),
        ("amount", "01"),
        ("amount", ".5"),
        ("amount", "NaN"),
        ("amount", "１"),
        ("amount", 1),
    ],
)
def test_a_wrong_value_names_its_class_and_field_and_what_to_give(name: str, value: object) -> None:
    with pytest.raises(InvalidValue, match=rf"Sample\.{name} is ") as caught:
        Sample(**{name: value})  # type: ignore[arg-type]
    assert caught.value.remedy.startswith("give ")


@pytest.mark.parametrize("amount", ["0", "-1", "0.25", "1000000000000.000001"])
def test_a_plain_decimal_string_is_an_amount(amount: str) -> None:
    assert Sample(amount=amount).amount == amount


@given(st.decimals(allow_nan=False, allow_infinity=False, min_value=-(10**12), max_value=10**12, places=9))
def test_an_amount_has_one_text_which_is_valid_and_equal(amount: Decimal) -> None:
    text = decimal_text(amount)
    assert Sample(amount=text).amount == text
    assert Decimal(text) == amount
    assert decimal_text(amount + Decimal("0.000000000000")) == text


@pytest.mark.parametrize(
    ("given", "text"), [("1E+3", "1000"), ("-0.000", "0"), ("1.500", "1.5"), (12, "12"), ("1e-9", "0.000000001")]
)
def test_exponents_and_trailing_zeros_are_written_out(given: str | int, text: str) -> None:
    assert decimal_text(given) == text


@pytest.mark.parametrize("amount", ["", "x", "nan", "-inf", "1e999999999", "1e-999999999"])
def test_what_is_no_sensible_amount_is_refused(amount: str) -> None:
    with pytest.raises(InvalidValue):
        decimal_text(amount)
