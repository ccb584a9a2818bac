from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from harness2_core.method.cuts import too_much

SIZES = st.dictionaries(st.text("abc/", min_size=1, max_size=5), st.integers(0, 50), max_size=12)


@given(SIZES, st.integers(1, 200))
def test_what_stays_fits(sizes: dict[str, int], limit: int) -> None:
    gone = too_much(sizes, limit)
    assert sum(size for path, size in sizes.items() if path not in gone) <= limit


@given(SIZES, st.integers(1, 200))
def test_nothing_that_stays_is_bigger_than_what_goes(sizes: dict[str, int], limit: int) -> None:
    gone = too_much(sizes, limit)
    assert max((sizes[p] for p in sizes if p not in gone), default=0) <= min((sizes[p] for p in gone), default=10**9)


@given(SIZES, st.integers(1, 200))
def test_nothing_goes_that_could_stay(sizes: dict[str, int], limit: int) -> None:
    gone = too_much(sizes, limit)
    kept = sum(size for path, size in sizes.items() if path not in gone)
    assert not gone or kept + min(sizes[path] for path in gone) > limit


@given(SIZES, st.integers(1, 200))
def test_the_choice_does_not_depend_on_the_order_of_the_sizes(sizes: dict[str, int], limit: int) -> None:
    assert too_much(dict(reversed(sizes.items())), limit) == too_much(sizes, limit)
