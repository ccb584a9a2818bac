from __future__ import annotations

from pathlib import Path

import pytest

from harness2_core.model.errors import InvalidValue
from harness2_core.model.process import Endpoint, Install, Mount, Policy


@pytest.mark.parametrize("place", ["files", "home"])
@pytest.mark.parametrize("path", ["../x", "/etc/passwd", "a/../../x", "", "a//b", "a\x00b"])
def test_an_agent_is_installed_inside_its_workspace_and_home_only(place: str, path: str) -> None:
    with pytest.raises(InvalidValue, match=r"."):
        Install(**{"files": {}, "home": {}, "argv": ("x",), "env": {}, place: {path: b""}})  # type: ignore[arg-type]


def test_keys_are_not_printed_with_the_value_that_holds_them() -> None:
    assert "canary" not in repr(Endpoint("http://127.0.0.1", "canary", {"KEY": "canary"}))
    assert "canary" not in repr(Install({}, {}, ("x",), {"KEY": "canary"}))


def test_mounts_come_parents_first() -> None:
    mounts = {path: Mount(Path(path)) for path in ("/work/harness", "/work", "/", "/work/harness/out")}
    assert list(Policy(mounts).mounts) == ["/", "/work", "/work/harness", "/work/harness/out"]


@pytest.mark.parametrize("limits", [{"memory_mb": -1}, {"processes": -1}])
def test_limits_are_never_negative(limits: dict[str, int]) -> None:
    with pytest.raises(InvalidValue, match=r"Policy\."):
        Policy({}, **limits)  # type: ignore[arg-type]
