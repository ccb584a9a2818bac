"""Templates: texts for models, in files, with a version; rendered in a sandbox that knows nothing but what it is given.

Values put into a template are never rendered themselves, so nothing that a model or a task wrote can act as one.
"""

from __future__ import annotations

import re
from typing import Final

from attrs import field, frozen

from .canonical import Digest, canonical, digest_bytes
from .errors import ConfigError
from .frozen import FrozenMap, texts

_BLANKS: Final = re.compile(r"\n{3,}")
_VERSION: Final = re.compile(r"\{#-?\s*version:\s*([\w.\-]+)\s*-?#\}")


@frozen
class Templates:
    """Template name -> Jinja text. A text's first comment may state its version: `{# version: 1 #}`."""

    texts: FrozenMap[str] = field(converter=texts)

    @property
    def digest(self) -> Digest:
        """Part of the experiment's identity."""
        return digest_bytes(canonical(dict(self.texts)))

    def version(self, name: str) -> str:
        found = _VERSION.search(self.texts[name])
        return found.group(1) if found else ""

    def with_texts(self, texts: FrozenMap[str]) -> Templates:
        """These templates with others added or in their place."""
        return Templates({**self.texts, **texts})

    def render(self, name: str, **values: object) -> str:
        """The text of template `name`; `ConfigError` names the template, line and unknown word of a faulty one."""
        from jinja2 import DictLoader, StrictUndefined, TemplateError  # here: starting the command line needs no Jinja
        from jinja2.sandbox import ImmutableSandboxedEnvironment

        if name not in self.texts:
            raise ConfigError(f"no template named {name!r}", f"known are {', '.join(self.texts)}")
        environment = ImmutableSandboxedEnvironment(
            loader=DictLoader(dict(self.texts)),
            undefined=StrictUndefined,
            trim_blocks=True,
            lstrip_blocks=True,
            keep_trailing_newline=True,
            autoescape=False,  # missions are plain text: nothing is HTML here
        )
        try:
            text = environment.get_template(name).render(**values)
        except TemplateError as error:
            line = getattr(error, "lineno", None)
            where = f" line {line}" if line else ""
            raise ConfigError(f"template {name!r}{where}: {error}", "mend the template text") from error
        return _BLANKS.sub("\n\n", text).strip() + "\n"
