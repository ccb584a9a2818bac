"""Namespaces, draws and labels: the names of an experiment's work, parsed back one way.

`<bench>-<substrate>-<mode><k>[-s<seed>][-<tag>]`; a draw is `<namespace>/<task>/<label>`. Bench, substrate and mode
names hold no `-` and modes no digits, so the first three fields cannot be confused; an `s<digits>` after them is the
seed and never a tag.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final

from attrs import evolve, field, frozen

from .check import Field, matches, optional, within
from .errors import InvalidValue

BENCH: Final = r"[a-z][a-z0-9_]{0,63}"
SHORT: Final = r"[a-z]{2,8}"
TAG: Final = r"[A-Za-z0-9_](?:[A-Za-z0-9_.\-]{0,62}[A-Za-z0-9_])?"
LONGEST_TAG: Final = 64
LABEL: Final = r"[a-z][a-z0-9_]*"

_SEED_LIKE: Final = re.compile(r"s[0-9]+(-|\Z)")
LARGEST_K: Final = 9_999
LARGEST_SEED: Final = 10**18 - 1
"""Together with the lengths above: a namespace is a directory's name on every system."""

_WHOLE: Final = re.compile(
    rf"({BENCH})-({SHORT})-({SHORT})([1-9][0-9]{{0,3}})(?:-s(0|[1-9][0-9]{{0,17}}))?(?:-({TAG}))?"
)

bench_name = matches(BENCH, "a name like 'ledgers': a lower-case letter, then letters, digits and '_'")
short_name = matches(SHORT, "two to eight lower-case letters")
label_name = matches(
    LABEL + r"(\.fix)?(\.a([2-9]|[1-9][0-9]+))?",
    "a label like 'inv1': a lower-case letter, then letters, digits and '_'",
)


def _tag(owner: object, field: Field, tag: str) -> None:
    if tag and (not re.fullmatch(TAG, tag) or _SEED_LIKE.match(tag)):
        raise InvalidValue(
            f"the tag {tag!r} cannot be part of a namespace",
            "use at most 64 letters, digits, '_', and inside '.' or '-'; do not begin with a seed such as 's7'",
        )


@frozen
class Namespace:
    """Where one mode's work of an experiment lives."""

    bench: str = field(validator=bench_name)
    substrate: str = field(validator=short_name)
    mode: str = field(validator=short_name)
    k: int = field(validator=within(1, LARGEST_K))
    seed: int | None = field(default=None, validator=optional(within(0, LARGEST_SEED)))
    tag: str = field(default="", validator=_tag)

    def __str__(self) -> str:
        seed = "" if self.seed is None else f"-s{self.seed}"
        return f"{self.bench}-{self.substrate}-{self.mode}{self.k}{seed}{'-' + self.tag if self.tag else ''}"

    def of_mode(self, mode: str) -> Namespace:
        """The namespace of another mode of the same experiment."""
        return _of_mode(self, mode)

    @property
    def library(self) -> str:
        """The experiment's part of the library path: `k<k>-<substrate>[-s<seed>][-<tag>]`."""
        seed = "" if self.seed is None else f"-s{self.seed}"
        return f"k{self.k}-{self.substrate}{seed}{'-' + self.tag if self.tag else ''}"


@lru_cache(256)  # every request's draw is looked at
def parse_namespace(text: str) -> Namespace:
    """The inverse of `str(namespace)`."""
    found = _WHOLE.fullmatch(text)
    if not found:
        raise InvalidValue(
            f"{text!r} is not a namespace", "it reads <bench>-<substrate>-<mode><k>[-s<seed>][-<tag>], as jb-oc-agg2-s7"
        )
    bench, substrate, mode, k, seed, tag = found.groups()
    return Namespace(bench, substrate, mode, int(k), None if seed is None else int(seed), tag or "")


@lru_cache(256)
def _of_mode(namespace: Namespace, mode: str) -> Namespace:
    return evolve(namespace, mode=mode)


def draw(namespace: Namespace, task: str, label: str, attempt: int = 1) -> str:
    """The run id of one rollout or session; `attempt` is above 1 only for `--retry`."""
    return f"{namespace}/{task}/{label}{f'.a{attempt}' if attempt > 1 else ''}"
