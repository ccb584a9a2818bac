"""The picture in the README is what the view would draw today, and nothing of a machine is in it."""

from __future__ import annotations

import importlib.util
import re
import sys
from html import unescape
from pathlib import Path
from types import ModuleType
from typing import Final

import pytest

from harness2_core.cli.live.state import RUNNING, State

ROOT: Final = Path(__file__).resolve().parent.parent.parent
pytestmark = pytest.mark.skipif(not (ROOT / "tools").is_dir(), reason="the tools are in the repository only")


@pytest.fixture(scope="module")
def tool() -> ModuleType:
    spec = importlib.util.spec_from_file_location("tools_picture", ROOT / "tools" / "picture.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


def texts(svg: str) -> list[str]:
    """What stands in a picture; how it is drawn is rich's matter and changes with its version."""
    return [unescape(text).replace("\xa0", " ") for text in re.findall(r"<text[^>]*>([^<]*)</text>", svg)]


def test_the_picture_shows_what_the_view_draws_of_the_recorded_events(tool: ModuleType) -> None:
    drawn = texts(tool.drawn(tool.recorded(tool.EVENTS)))

    assert texts(tool.PICTURE.read_text(encoding="utf-8")) == drawn
    assert "harness2 run" in drawn


def test_the_picture_loads_nothing_from_elsewhere(tool: ModuleType) -> None:
    svg = tool.PICTURE.read_text(encoding="utf-8")

    assert not re.search(r"url\(\s*[\"']?(?!#)|href=|<script|@import|@font-face", svg)


def test_the_picture_has_something_of_all_that_a_view_shows(tool: ModuleType) -> None:
    state = State()
    for event in tool.recorded(tool.EVENTS):
        state = state.after(event)

    assert len(state.domains) >= 3
    assert len(state.in_state(RUNNING)) == state.slots
    assert list(state.waits_for()) != []
    assert state.finished


def test_what_is_recorded_has_no_time_and_no_digest_of_the_machine_it_ran_on(tool: ModuleType) -> None:
    events = tool.recorded(tool.EVENTS)

    assert len(events) == len(tool.EVENTS.read_bytes().splitlines())
    assert all(event.at.startswith("2026-01-01T00:") for event in events)
    assert all(re.fullmatch(r"(r\d+)?", event.request) for event in events)
    assert {event.sweep for event in events} == {"example"}
    assert not re.search(rb"[0-9a-f]{32}|/home|/tmp|/Users", tool.EVENTS.read_bytes())
