"""What executors could reach, as their records have it: told where it is more or other than the tasks promise. Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping

from harness2_core.work.network import with_model

OPEN = "open"


def confinement(versions: Iterable[Mapping[str, str]], promised: str) -> tuple[str, ...]:
    """Sentences for a report. `versions` are those of rollouts in which a program ran; `promised` is the tasks' word.

    A model that is reached breaks no promise of no network: the promise is about the task's world.
    """
    kinds = Counter((item["network"], item.get("sandbox", "none") != "none") for item in versions if "network" in item)
    total = sum(kinds.values())
    told = []
    for (network, confined), count in sorted(kinds.items()):
        of = f"{count} of {total} executions"
        if not confined:
            kept = "" if promised == OPEN else f", though the tasks promise the network {promised!r}"
            told.append(f"{of} had no sandbox: your own rights and the whole network{kept}")
        elif network == OPEN:
            kept = "" if promised == OPEN else f"; the tasks promise {promised!r}"
            told.append(f"{of} had the whole network (open), services of this machine included{kept}")
        elif network not in (promised, with_model(promised)):
            told.append(f"{of} had the network {network!r}, where the tasks promise {promised!r}")
    return tuple(told)
