"""A split of a benchmark's tasks into train and test, as a JSON file that anybody can make.

    {"benchmark": "small", "train": ["sums/one"], "test": ["sums/two"]}

Other keys are left alone. What a file says must be true of the benchmark: a task that is missing is an error, not a
smaller experiment.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Collection, Iterator, Mapping
from decimal import Decimal, InvalidOperation
from typing import Final

from attrs import field, frozen

from .errors import ConfigError
from .frozen import strings
from .stream import ordered_tasks

ALL: Final = "all"
TRAIN: Final = "train"
TEST: Final = "test"


@frozen
class Split:
    benchmark: str
    train: tuple[str, ...] = field(converter=strings)
    test: tuple[str, ...] = field(converter=strings)

    def tasks(self, name: str) -> tuple[str, ...]:
        """Of `train`, `test`, or `all` for both, sorted."""
        parts = {TRAIN: self.train, TEST: self.test, ALL: (*self.train, *self.test)}
        if name not in parts:
            raise ConfigError(f"a split file has no split {name!r}", f"it has {', '.join(parts)}")
        return tuple(sorted(parts[name]))

    def encode(self, **more: object) -> bytes:
        """The file's content; `more` says how it was made."""
        data = {"benchmark": self.benchmark, **more, TRAIN: self.train, TEST: self.test}
        return json.dumps(data, ensure_ascii=False, indent=2).encode() + b"\n"


def made_split(benchmark: str, domains: Mapping[str, Collection[str]], fraction: str, seed: int) -> Split:
    """Domain by domain: shuffled by the seed and the domain's name, the first int(n * fraction) tasks are for training.

    `fraction` is a decimal text strictly between 0 and 1.
    """
    share = _share(fraction)
    train: list[str] = []
    test: list[str] = []
    for domain, tasks in sorted(domains.items()):
        order = ordered_tasks(domain, tasks, seed)
        count = int(len(order) * share)
        train += order[:count]
        test += order[count:]
    return Split(benchmark, tuple(sorted(train)), tuple(sorted(test)))


def parsed_split(data: bytes, where: str) -> Split:
    """The split in a file's bytes; `where` names the file in errors."""
    try:
        found: object = json.loads(data)
    except ValueError as error:
        raise _bad(where, f"no JSON: {error}") from None
    if not isinstance(found, dict):
        raise _bad(where, "no JSON object")
    lists = []
    for name in (TRAIN, TEST):
        ids = found.get(name)
        if not isinstance(ids, list) or not all(isinstance(id, str) for id in ids):
            raise _bad(where, f"`{name}` is no list of task ids")
        lists.append(tuple(ids))
    benchmark = found.get("benchmark")
    if not isinstance(benchmark, str):
        raise _bad(where, "`benchmark` is no text")
    return Split(benchmark, lists[0], lists[1])


def check_split(split: Split, benchmark: str, known: Collection[str], where: str) -> None:
    """Raises one `ConfigError` with everything that is not true of the benchmark, whose tasks are `known`."""
    found = list(_problems(split, benchmark, set(known)))
    if found:
        raise ConfigError(f"{where}: " + "; ".join(found), "make it anew with `harness2 split`, or mend it by hand")


def _problems(split: Split, benchmark: str, known: set[str]) -> Iterator[str]:
    if split.benchmark != benchmark:
        yield f"it is of the benchmark {split.benchmark!r}, not of {benchmark!r}"
        return  # its tasks are others
    for name, ids in ((TRAIN, split.train), (TEST, split.test)):
        twice = sorted(id for id, count in Counter(ids).items() if count > 1)
        if twice:
            yield f"`{name}` names {_named(twice)} twice"
    both = sorted(set(split.train) & set(split.test))
    if both:
        yield f"{_named(both)} stands in both train and test"
    missing = sorted({*split.train, *split.test} - known)
    if missing:
        yield f"the benchmark has no {_named(missing)}"


def _named(ids: Collection[str]) -> str:
    listed = [repr(id) for id in ids]
    return ", ".join(listed[:3]) + (f" and {len(listed) - 3} more" if len(listed) > 3 else "")


def _share(fraction: str) -> Decimal:
    try:
        share = Decimal(fraction)
    except InvalidOperation:
        share = Decimal(0)
    if not share.is_finite() or not 0 < share < 1:
        raise ConfigError(f"the fraction for training is {fraction!r}", "give a number between 0 and 1, such as 0.5")
    return share


def _bad(where: str, what: str) -> ConfigError:
    return ConfigError(
        f"{where} is no split file: {what}", 'it reads {"benchmark": "...", "train": ["..."], "test": ["..."]}'
    )
