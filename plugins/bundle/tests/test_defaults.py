from __future__ import annotations

import re
from importlib.metadata import distribution, entry_points

from harness2_bundle.defaults import DEFAULTS


def test_every_default_is_a_name_as_the_configuration_writes_it() -> None:
    assert [name for pair in DEFAULTS.items() for name in pair if not re.fullmatch(r"[a-z][a-z0-9_\-]*", name)] == []


def test_the_table_is_found_through_the_entry_point_of_defaults() -> None:
    (entry,) = (entry for entry in entry_points(group="harness2.v1") if entry.dist and entry.dist.name == "harness2")
    assert entry.name == "defaults.bundle"
    assert entry.load().DEFAULTS is DEFAULTS


def test_every_default_is_brought_by_a_dependency() -> None:
    """The bundle must not name what it does not install."""
    needed = {re.split(r"[<>=!~ ;\[]", line, maxsplit=1)[0] for line in distribution("harness2").requires or ()}
    offered = {
        tuple(entry.name.split(".")[:2])
        for entry in entry_points(group="harness2.v1")
        if entry.dist and entry.dist.name in needed
    }
    assert set(DEFAULTS.items()) - offered == set()
