"""Constant names for what differs between machines: real paths out, what the agent would see in a sandbox in.

Applied to streams, texts and views when they are captured, so that a record does not depend on where it ran. The
keys that a request was lent go the same way: an agent that prints its environment writes no secret into the store.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from functools import cached_property
from typing import Any, Final
from urllib.parse import quote

from attrs import evolve, field, fields, frozen

from harness2_core.model.trajectory import Event, Trajectory

SHORTEST: Final = 6
"""Characters below which a text is not replaced: it would hit words by chance."""


def _pairs(items: Mapping[str, str]) -> tuple[tuple[bytes, bytes], ...]:
    found: dict[bytes, bytes] = {}
    for old, new in items.items():
        if len(old) >= SHORTEST:
            for spelt in _spellings(old):
                found.setdefault(spelt.encode("utf-8", "surrogateescape"), new.encode())
    return tuple(sorted(found.items(), key=lambda pair: (-len(pair[0]), pair[0])))


def _spellings(text: str) -> Iterable[str]:
    """As it is, in JSON (escaped or not, with or without an escaped slash), in a URL."""
    printable = text.encode("utf-8", "replace").decode()
    escaped = json.dumps(printable)[1:-1]
    yield from (text, escaped, escaped.replace("/", "\\/"), text.replace("/", "\\/"), quote(printable))


@frozen(slots=False)
class Rewriter:
    """Made of a mapping of texts to what stands in their place; of two that match, the longer one wins."""

    pairs: tuple[tuple[bytes, bytes], ...] = field(converter=_pairs, factory=dict, repr=False)  # keys may be in it

    def data(self, data: bytes) -> bytes:
        return self._pattern.sub(self._stand_in, data) if self.pairs else data

    def text(self, text: str) -> str:
        """`text` rewritten, and without the unpaired surrogates that no record can hold."""
        return self.data(text.encode("utf-8", "replace")).decode("utf-8", "replace")

    def stream(self, chunks: Iterable[bytes]) -> Iterator[bytes]:
        """The rewritten bytes, wherever the chunks are cut; holds back less than the longest text."""
        if not self.pairs:
            yield from chunks
            return
        longest, carried = len(self.pairs[0][0]), b""
        for chunk in chunks:
            data = carried + chunk
            parts, done = [], 0
            for match in self._pattern.finditer(data):
                if match.start() > len(data) - longest:
                    break  # more bytes may make it a longer one
                parts += [data[done : match.start()], self._stand_in(match)]
                done = match.end()
            sure = max(done, len(data) - longest + 1)
            parts.append(data[done:sure])
            carried = data[sure:]
            yield b"".join(parts)
        yield self.data(carried)

    def trajectory(self, trajectory: Trajectory) -> Trajectory:
        return evolve(
            trajectory,
            events=tuple(self._event(event) for event in trajectory.events),
            notes=tuple(self.text(note) for note in trajectory.notes),
        )

    def _event(self, event: Event) -> Event:
        values: dict[str, Any] = {part.name: getattr(event, part.name) for part in fields(type(event))}
        values |= {name: self.text(value) for name, value in values.items() if isinstance(value, str)}
        return type(event)(**values)

    @cached_property
    def _pattern(self) -> re.Pattern[bytes]:
        return re.compile(b"|".join(re.escape(old) for old, _ in self.pairs))

    @cached_property
    def _table(self) -> Mapping[bytes, bytes]:
        return dict(self.pairs)

    def _stand_in(self, match: re.Match[bytes]) -> bytes:
        return self._table[match.group()]
