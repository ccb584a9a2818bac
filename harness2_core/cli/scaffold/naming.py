"""One name, everywhere it is used: the entry point, the distribution, the package, its classes, a token.

What can be converted without a guess is converted (capitals, dots, spaces, our prefix); what cannot is refused with a
remedy. A name that this machine already uses is refused: the plugin would clash, or shadow a package, once installed.
"""

from __future__ import annotations

import importlib.util
import re
import unicodedata
from collections.abc import Callable, Collection, Iterator
from typing import Final

from attrs import frozen

from harness2_core import HOME
from harness2_core.model.errors import ConfigError
from harness2_core.model.nearest import near
from harness2_core.plugins.discovery import Scan, normal

PREFIX: Final = "harness2-"
LONGEST: Final = 30
"""Characters of a name: it is part of a package, of classes and of a bench's name, and lines must stay short."""

_SEPARATORS: Final = re.compile(r"[-_.\s]+")
_NAME: Final = re.compile(r"[a-z][a-z0-9]*(-[a-z0-9]+)*")
_OWN: Final = ("core", "bundle")
"""Names of which `harness2-<name>` and `harness2_<name>` are this project's own."""
_WORDS: Final[dict[str, tuple[str, ...]]] = {"sandbox": ("auto", "none")}
"""Kind -> names that the configuration reads as something else."""
NAMED_IN_RUNS: Final = ("substrate", "mode")
"""Kinds whose token is part of the names of runs."""
_TOKEN_CHARS: Final = 8


@frozen
class Names:
    """Everything a new plugin is called. `plain` is what people type: `harness2 run --mode <plain>`."""

    kind: str
    plain: str
    """`two-steps`."""
    token: str = ""
    """`twosteps`, for kinds that stand in the names of runs."""

    @property
    def snake(self) -> str:
        """`two_steps`."""
        return self.plain.replace("-", "_")

    @property
    def distribution(self) -> str:
        """`harness2-two-steps`."""
        return PREFIX + self.plain

    @property
    def package(self) -> str:
        """`harness2_two_steps`: no keyword, whatever the name is."""
        return "harness2_" + self.snake

    @property
    def cls(self) -> str:
        """`TwoStepsMode`; `ModelAccessPlugin` where the API has a class of the shorter name."""
        from harness2_core import api  # heavy, and used by one command

        parts = self.plain.split("-")
        made = "".join(part.capitalize() for part in (parts if parts[-1] == self.kind else [*parts, self.kind]))
        return f"{made}Plugin" if made in api.__all__ else made

    @property
    def entry(self) -> str:
        """The entry point's name: `mode.two-steps.twosteps`."""
        token = "" if self.token in ("", self.plain) else f".{self.token}"
        return f"{self.kind}.{self.plain}{token}"


def plain_name(given: str) -> str:
    """`My.Plugin`, `harness2_my_plugin` -> `my-plugin`; `ConfigError` for what no conversion makes a name."""
    if not given.isascii():
        ascii = unicodedata.normalize("NFKD", given).encode("ascii", "ignore").decode()
        raise ConfigError(
            f"the name {given!r} is not ASCII: package indexes take ASCII names only",
            f"write it as {ascii.lower()!r}, say" if _NAME.fullmatch(_joined(ascii)) else "choose one of a to z",
        )
    name = _joined(given)
    name = _joined(name.removeprefix(PREFIX)) if name.startswith(PREFIX) else name
    odd = sorted(set(re.sub(r"[a-z0-9-]", "", name)))
    if odd:
        raise ConfigError(
            f"the name {given!r} holds {' '.join(map(repr, odd))}", "use letters, digits and '-', as in 'two-steps'"
        )
    if not name or name == PREFIX.rstrip("-"):
        raise ConfigError(f"the name {given!r} says nothing", "say what it is, as in 'two-steps'")
    if not _NAME.fullmatch(name):
        raise ConfigError(f"the name {given!r} begins with a digit", "begin with a letter: packages must")
    if len(name) > LONGEST:
        raise ConfigError(
            f"the name {name!r} has {len(name)} characters", f"give at most {LONGEST}: it becomes part of many names"
        )
    return name


def named(
    kind: str, given: str, installed: Scan, distributions: Collection[str], built_in: Collection[str] = ()
) -> Names:
    """The names of a new plugin; `ConfigError` for one that is taken.

    `distributions` are the names of all that is installed, `built_in` those of core's own providers of the kind.
    """
    name = plain_name(given)
    if name in _WORDS.get(kind, ()):
        raise ConfigError(f"{name!r} means something else where a {kind} is named", "choose another name")
    mine = [found for found in installed.found if found.kind == kind]
    mine += [flaw.found for flaw in installed.flaws if flaw.found is not None and flaw.found.kind == kind]
    for found in mine:
        if name in (found.name, found.token):
            raise ConfigError(f"{found} is installed and has the name {name!r}", "choose another name")
    if name in built_in:
        raise ConfigError(f"core itself has the {kind} {name!r}", "choose another name")
    taken = {normal(item): item for item in distributions}
    if name in _OWN or PREFIX + name in taken:
        raise ConfigError(
            f"the distribution {taken.get(PREFIX + name, PREFIX + name)} exists",
            "choose another name, or add the hook to that distribution: one may bring plugins of several kinds",
        )
    made = Names(kind, name)
    if importlib.util.find_spec(made.package) is not None:
        raise ConfigError(f"a package {made.package} can be imported here already", "choose another name")
    if kind not in NAMED_IN_RUNS:
        return made
    return Names(kind, name, _token(kind, name, {item for found in mine for item in (found.name, found.token)}))


def known_kind(kind: str, kinds: Collection[str]) -> str:
    """`kind`, in lower case and singular; `ConfigError` with near names for another word."""
    word = kind.strip().lower()
    singular = {f"{item}s": item for item in kinds} | {f"{item}es": item for item in kinds}
    word = singular.get(word, word)
    if word not in kinds:
        raise ConfigError(f"there is no kind of plugin {kind!r}", f"{near(word, kinds)}known are {', '.join(kinds)}")
    return word


def _joined(text: str) -> str:
    return _SEPARATORS.sub("-", text.strip().lower()).strip("-")


def _token(kind: str, name: str, taken: Collection[str]) -> str:
    """The first free one that the name suggests; two to eight letters."""
    used: Callable[[str], bool] = lambda token: token in taken or token == HOME  # noqa: E731 - a word for a condition
    for token in _tokens(kind, name):
        if not used(token):
            return token
    raise ConfigError(f"every token that {name!r} suggests is taken", "choose another name: runs are named by tokens")


def _tokens(kind: str, name: str) -> Iterator[str]:
    letters = re.sub(r"[^a-z]", "", name)
    if len(letters) < 2:
        letters += kind
    if len(letters) <= _TOKEN_CHARS:
        yield letters
    initials = "".join(part[0] for part in name.split("-") if part[0].isalpha())
    if len(initials) >= 2:
        yield initials[:_TOKEN_CHARS]
    yield letters[:_TOKEN_CHARS]
    for length in range(min(len(letters), _TOKEN_CHARS) - 1, 1, -1):
        yield letters[:length]
    yield (letters[: _TOKEN_CHARS - 1] + "x")[:_TOKEN_CHARS]
