"""Templates: texts for models, in files, with a version; rendered in a sandbox that knows nothing but what it is given.

Values put into a template are never rendered themselves, so nothing that a model or a task wrote can act as one.
"""

from __future__ import annotations

import re
import traceback
from functools import lru_cache
from typing import TYPE_CHECKING, Final

from attrs import field, frozen

from .canonical import Digest, canonical, digest_bytes
from .errors import ConfigError
from .frozen import FrozenMap, texts

if TYPE_CHECKING:
    from jinja2.sandbox import ImmutableSandboxedEnvironment

_PART: Final = "template:"
_BLANKS: Final = re.compile(r"\n{3,}")
_VERSION: Final = re.compile(r"\{#-?\s*version:\s*([\w.\-]+)\s*-?#\}")


class FaultyTemplate(ConfigError):
    """A text that cannot be rendered. `part` is the template, or the part of it, that is at fault."""

    def __init__(self, part: str, line: int | None, why: str) -> None:
        place = f"template {part!r}" + (f" line {line}" if line else "")
        super().__init__(f"{place}: {why}", "mend the template text")
        self.part = part


@frozen
class Templates:
    """Template name -> Jinja text. A text's first comment may state its version: `{# version: 1 #}`."""

    texts: FrozenMap[str] = field(converter=texts)

    @property
    def digest(self) -> Digest:
        """Part of the experiment's identity."""
        return digest_bytes(canonical(dict(self.texts)))

    def version(self, name: str) -> str:
        """What the text's first comment says of itself; empty when it says nothing."""
        found = _VERSION.search(self.texts[name])
        return found.group(1) if found else ""

    def with_texts(self, texts: FrozenMap[str]) -> Templates:
        """These templates with others added or in their place."""
        return Templates({**self.texts, **texts})

    def render(self, name: str, /, **values: object) -> str:
        """The text of template `name`; `FaultyTemplate` names the template, line and unknown word of a faulty one."""
        from jinja2 import TemplateNotFound  # here and below: starting the command line needs no Jinja

        if name not in self.texts:
            raise ConfigError(f"no template named {name!r}", f"known are {', '.join(self.texts)}")
        try:
            text = _environment(self).get_template(name).render(dict(values))
        except Exception as error:  # whatever a text's expressions stumble over is the text's fault
            part, line = _place(error, name)
            why = str(error) or type(error).__name__
            if isinstance(error, TemplateNotFound):
                why = f"includes {error}, which is no template"
            raise FaultyTemplate(part, line, why) from error
        if "\n\n\n" in text:
            text = _BLANKS.sub("\n\n", text)
        return text.strip() + "\n"


@lru_cache(maxsize=16)
def _environment(templates: Templates) -> ImmutableSandboxedEnvironment:
    """Compiled once: the same templates render every mission of a sweep."""
    from jinja2 import FunctionLoader, StrictUndefined
    from jinja2.sandbox import ImmutableSandboxedEnvironment

    def load(name: str) -> tuple[str, str, None] | None:
        # The name stands in for a file name, so that an error's traceback names the part it comes from.
        return (templates.texts[name], f"{_PART}{name}", None) if name in templates.texts else None

    class Environment(ImmutableSandboxedEnvironment):
        """Whether an attribute is safe depends on its name and its owner's type: asked once, not at every mention."""

        def is_safe_attribute(self, obj: object, attr: str, value: object) -> bool:
            known = (type(obj), attr)
            if known not in safe:
                safe[known] = super().is_safe_attribute(obj, attr, value)
            return safe[known]

    safe: dict[tuple[type, str], bool] = {}
    environment = Environment(
        loader=FunctionLoader(load),
        auto_reload=False,  # the texts are values: they never change
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        autoescape=False,  # missions are plain text: nothing is HTML here
    )
    # A mission follows from its values alone: no dice.
    del environment.globals["lipsum"], environment.filters["random"]
    return environment


def _place(error: Exception, name: str) -> tuple[str, int | None]:
    """The template or included part that failed, and its line."""
    frames = [f for f in traceback.extract_tb(error.__traceback__) if f.filename.startswith(_PART)]
    if frames:
        return frames[-1].filename.removeprefix(_PART), frames[-1].lineno
    part = getattr(error, "name", None)
    line = getattr(error, "lineno", None)
    return (part if isinstance(part, str) else name), (line if isinstance(line, int) else None)
