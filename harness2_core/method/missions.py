"""Missions: what a session is told, rendered from templates, a pure function of what exists.

A stage's template is given `stage` (`model.plan.Stage`), `listing` (lines that name what lies under `context/`),
`words` (`BenchWords`, stripped), `surface`, and `has` (the components that may be edited). The texts are
`templates/*.md.jinja`; names that begin with `_` are parts of others. A mode's distribution adds its own, a person's
directory puts others in their place. A mission names no path that is not in the listing, and no limit of any kind.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from functools import cache, lru_cache
from importlib.resources import files
from typing import Final

from attrs import NOTHING, asdict, fields_dict

from harness2_core.model.bench import BenchWords
from harness2_core.model.errors import ConfigError
from harness2_core.model.frozen import FrozenMap
from harness2_core.model.nearest import near
from harness2_core.model.plan import Stage
from harness2_core.model.surface import Surface
from harness2_core.model.templates import Templates
from harness2_core.model.trajectory import cut

from .layout import left_out

SUFFIX: Final = ".md.jinja"
TOLD_CHARS: Final = 20_000
"""Characters of problems, and of notes, that a correction repeats; some agents take a mission as one argument."""
LINE_CHARS: Final = 2_000
"""Characters of one of them."""
_IN_LINE: Final = ("domain_word", "deliverable_word")


def mission(stage: Stage, listing: tuple[str, ...], words: BenchWords, surface: Surface, templates: Templates) -> str:
    """What the improver of `stage` is told. `ConfigError` when its template is unknown or faulty."""
    return templates.render(
        stage.template, stage=stage, listing=listing, words=words_of(words), surface=surface, has=_components(surface)
    )


def stage_correction(mission: str, problems: Sequence[str], notes: Sequence[str], templates: Templates) -> str:
    """The mission again, with why the edit was refused (`problems`) and what was put right by itself (`notes`)."""
    return templates.render("correct", mission=mission.rstrip(), problems=_bullets(problems), notes=_bullets(notes))


@lru_cache(256)
def words_of(words: BenchWords) -> FrozenMap[str]:
    """The words as templates get them: name -> text without surrounding blanks. A blank one counts as not given.

    `domain_word` and `deliverable_word` stand in sentences and headings: they are one line.
    """
    usual = {name: str(part.default) for name, part in fields_dict(BenchWords).items() if part.default is not NOTHING}
    given = {name: text.strip() or usual.get(name, "") for name, text in asdict(words).items()}
    return FrozenMap({name: " ".join(text.split()) if name in _IN_LINE else text for name, text in given.items()})


@cache
def core_templates() -> Templates:
    """The texts that come with core."""
    folder = files("harness2_core.method") / "templates"
    found = (item for item in folder.iterdir() if item.name.endswith(SUFFIX))
    return Templates(FrozenMap({item.name.removesuffix(SUFFIX): item.read_text("utf-8") for item in found}))


def overridden(templates: Templates, texts: Mapping[str, str], elsewhere: Collection[str] = ()) -> Templates:
    """`templates` with those of a person's directory (file name -> text) in their place.

    Names in `elsewhere` are texts of other modes: they are passed over. `ConfigError` for a file that stands for no
    text at all: a misspelt one would silently change nothing.
    """
    taken: dict[str, str] = {}
    known = {*templates.texts, *elsewhere}
    for file_name, text in sorted(texts.items()):
        name = file_name.removesuffix(SUFFIX)
        if name == file_name or name not in known:
            stem = file_name.casefold().partition(".")[0]
            hint = near(stem, known) or f"known are {', '.join(sorted(known))}; "
            raise ConfigError(f"{file_name!r} replaces no mission text", f"{hint}name it <template>{SUFFIX}")
        if name in templates.texts:
            taken[name] = text
    return templates.with_texts(FrozenMap(taken))


@lru_cache(16)
def _components(surface: Surface) -> tuple[str, ...]:
    """Sorted: a text that lists them is the same in every process."""
    listed = {item.component for item in surface.allowed} | ({"always-on"} if surface.always_on else set())
    return tuple(sorted(listed if surface.sub_agents else listed - {"sub-agent"}))


def _bullets(lines: Sequence[str]) -> str:
    """The first of `lines`, as many as there is room for; what is left out is counted."""
    told: list[str] = []
    room = TOLD_CHARS
    for index, line in enumerate(lines):
        bullet = "- " + cut(line.strip(), LINE_CHARS).replace("\n", "\n  ")
        room -= len(bullet)
        if told and room < 0:
            told.append(left_out(f"{len(lines) - index:,} more"))
            break
        told.append(bullet)
    return "\n".join(told)
