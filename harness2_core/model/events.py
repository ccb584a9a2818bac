"""Events of a sweep, for listeners, the live view and `events.jsonl`. They carry no text that a model wrote."""

from __future__ import annotations

from attrs import field, frozen

from .canonical import Digest
from .frozen import FrozenMap, texts


@frozen
class Happened:
    """`what` is a word such as `sweep-started`, `step-started`, `step-ended`, `attempt-lost`, `sweep-ended`.

    `task`, `mode` and `label` name the step, as far as it has them; `at` is UTC in ISO 8601; `facts` are texts, which
    `sweep/telling.py` lists. `sweep` tells apart the sweeps that write to one log, one after another or side by side.
    """

    what: str
    at: str
    task: str = ""
    mode: str = ""
    label: str = ""
    kind: str = ""
    request: Digest = ""
    facts: FrozenMap[str] = field(converter=texts, factory=FrozenMap)
    sweep: str = ""
