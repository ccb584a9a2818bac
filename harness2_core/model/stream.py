"""Streams: in which order the tasks of each domain are worked, so that lessons flow one way.

The order depends only on the seed, the domain and its tasks: not on the hash seed, on the order in which tasks were
found, or on other domains. A stream grows at its ends: what was there keeps its place.
"""

from __future__ import annotations

import random
from collections.abc import Collection, Mapping, Sequence

from .errors import ConfigError
from .nearest import near


def ordered_tasks(domain: str, tasks: Collection[str], seed: int | None) -> tuple[str, ...]:
    """One domain's tasks: sorted, or shuffled by a generator of `<seed>:<domain>`."""
    listed = sorted(tasks)
    if seed is not None:
        random.Random(f"{seed}:{domain}").shuffle(listed)
    return tuple(listed)


def ordered_domains(sizes: Mapping[str, int], seed: int | None, frozen: Sequence[str] | None = None) -> tuple[str, ...]:
    """The domains: by the benchmark's frozen order, else by falling task count, else shuffled by the seed."""
    if seed is not None:
        listed = sorted(sizes)
        random.Random(f"{seed}:__domains__").shuffle(listed)
        return tuple(listed)
    if frozen is None:
        return tuple(sorted(sizes, key=lambda domain: (-sizes[domain], domain)))
    uncovered = sorted(set(sizes) - set(frozen))
    if uncovered:
        raise ConfigError(
            f"the benchmark's domain order does not cover {', '.join(uncovered)}", "give a seed, or mend the adapter"
        )
    return tuple(domain for domain in frozen if domain in sizes)


def chosen_tasks(
    domains: Mapping[str, Sequence[str]],
    *,
    only_domains: Collection[str] = (),
    only_tasks: Collection[str] = (),
    max_tasks: int = 0,
) -> dict[str, tuple[str, ...]]:
    """The part of a stream that one invocation works on; `max_tasks` counts per domain. Unknown names are errors."""
    known = {task for tasks in domains.values() for task in tasks}
    for name, wanted, there in (("domain", only_domains, set(domains)), ("task", only_tasks, known)):
        unknown = sorted(set(wanted) - there)
        if unknown:
            listed = sorted(there)
            more = f" and {len(listed) - 20} more" if len(listed) > 20 else ""
            raise ConfigError(
                f"unknown {name} {unknown[0]!r}",
                f"{near(unknown[0], listed)}known are {', '.join(listed[:20]) or 'none'}{more}",
            )
    chosen = {}
    for domain, tasks in domains.items():
        kept = tuple(task for task in tasks if not only_tasks or task in only_tasks)
        if kept and (not only_domains or domain in only_domains):
            chosen[domain] = kept[:max_tasks] if max_tasks else kept
    if not chosen and (only_domains or only_tasks):
        raise ConfigError("no task is both in `only_tasks` and in `only_domains`", "leave one of them out")
    return chosen


def grown(
    before: Mapping[str, Sequence[str]], now: Mapping[str, Collection[str]], seed: int | None
) -> dict[str, tuple[str, ...]]:
    """The stream `before` with new tasks at the end of their domain, in seeded order; nothing changes its place."""
    result = {domain: tuple(tasks) for domain, tasks in before.items()}
    for domain, tasks in now.items():
        held = result.get(domain, ())
        fresh = set(tasks) - set(held)
        result[domain] = held + ordered_tasks(domain, fresh, seed)
    return result
