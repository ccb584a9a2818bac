"""Lines of keys in TOML, against documents whose lines are known because they were written down."""

from __future__ import annotations

import tomllib

import tomlkit
from hypothesis import given
from hypothesis import strategies as st

from harness2_core.plugins.toml_lines import lines_of

DOCUMENT = '''# comment [not.a.table]
top = 1

[a]
one = "x # = y"
two = [
  1,
  2,
]
"three four" = { x = 1, y = { z = 2 } }

[a.b]   # another
text = """
[a.c]
fake = 1
"""
dotted.key = 'v'
[[list]]
n = 1
'''


def test_keys_of_every_form_are_found_where_they_stand() -> None:
    assert lines_of(DOCUMENT) == {
        ("top",): 2,
        ("a",): 4,
        ("a", "one"): 5,
        ("a", "two"): 6,
        ("a", "three four"): 10,
        ("a", "three four", "x"): 10,
        ("a", "three four", "y"): 10,
        ("a", "three four", "y", "z"): 10,
        ("a", "b"): 12,
        ("a", "b", "text"): 13,
        ("a", "b", "dotted"): 17,
        ("a", "b", "dotted", "key"): 17,
        ("list",): 18,
        ("list", "n"): 19,
    }


_names = st.text(min_size=1, max_size=5)
_values = st.one_of(st.integers(), st.text(max_size=20), st.booleans(), st.lists(st.text(max_size=5), max_size=3))


@given(st.dictionaries(_names, st.dictionaries(_names, _values, max_size=4), max_size=4))
def test_every_key_of_any_document_has_a_line_that_holds_it(data: dict[str, dict[str, object]]) -> None:
    text = tomlkit.dumps(data)
    assert tomllib.loads(text) == data
    lines = lines_of(text)
    for table, keys in data.items():
        for key in keys:
            assert 1 <= lines[table, key] <= text.count("\n") + 1
        if keys:
            assert len({lines[table, key] for key in keys}) == len(keys)
