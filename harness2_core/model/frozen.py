"""An immutable mapping with string keys: sorted, hashable, picklable, compared by content.

Values of the model hold mappings only in this form, so that equal values have equal digests whatever the order in
which they were built.
"""

from __future__ import annotations

from collections.abc import ItemsView, Iterable, Iterator, KeysView, Mapping, ValuesView
from pathlib import Path
from typing import Final, Generic, TypeVar

from .canonical import encodable
from .errors import InvalidValue

V_co = TypeVar("V_co", covariant=True)
V = TypeVar("V")
_TEXT: Final = frozenset({str})


class FrozenMap(Mapping[str, V_co], Generic[V_co]):
    """Iterates in sorted key order (by code point)."""

    __slots__ = ("_hash", "_items")
    _items: dict[str, V_co]
    _hash: int | None

    def __init__(self, items: Mapping[str, V_co] | None = None) -> None:
        source: Mapping[str, V_co] = {} if items is None else items
        if not _TEXT.issuperset(map(type, source)):
            odd = [key for key in source if not isinstance(key, str)]
            if odd:
                raise InvalidValue(f"the key {odd[0]!r} of a mapping is not a string", "use string keys")
        object.__setattr__(self, "_items", {key: source[key] for key in sorted(source)})
        object.__setattr__(self, "_hash", None)

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"a FrozenMap cannot be changed (tried to set {name!r})")

    def __delattr__(self, name: str) -> None:
        raise AttributeError(f"a FrozenMap cannot be changed (tried to delete {name!r})")

    def __getitem__(self, key: str) -> V_co:
        return self._items[key]

    def __contains__(self, key: object) -> bool:
        return key in self._items

    def __iter__(self) -> Iterator[str]:
        return iter(self._items)

    def __len__(self) -> int:
        return len(self._items)

    def keys(self) -> KeysView[str]:
        """In sorted order."""
        return self._items.keys()

    def values(self) -> ValuesView[V_co]:
        """In the order of their keys."""
        return self._items.values()

    def items(self) -> ItemsView[str, V_co]:
        """Key and value, in the order of keys."""
        return self._items.items()

    def __eq__(self, other: object) -> bool:
        if isinstance(other, FrozenMap):
            return self is other or self._items == other._items
        return self._items == dict(other) if isinstance(other, Mapping) else NotImplemented

    def __hash__(self) -> int:
        if self._hash is None:
            object.__setattr__(self, "_hash", hash(tuple(self._items.items())))
        assert self._hash is not None
        return self._hash

    def __repr__(self) -> str:
        return f"FrozenMap({self._items!r})"

    def __reduce__(self) -> tuple[type[FrozenMap[V_co]], tuple[dict[str, V_co]]]:
        return FrozenMap, (self._items,)


def frozen_map(items: Mapping[str, V]) -> FrozenMap[V]:
    """Any mapping in, a `FrozenMap` out."""
    return items if isinstance(items, FrozenMap) else FrozenMap(items)


# The attrs converters of common fields: named and concrete, since the type checker does not follow generic ones.


def texts(items: Mapping[str, str]) -> FrozenMap[str]:
    return frozen_map(items)


def counts(items: Mapping[str, int]) -> FrozenMap[int]:
    return frozen_map(items)


def files_of(items: Mapping[str, Path]) -> FrozenMap[Path]:
    return frozen_map(items)


def text_maps(items: Mapping[str, Mapping[str, str]]) -> FrozenMap[FrozenMap[str]]:
    return FrozenMap({key: frozen_map(value) for key, value in items.items()})


def strings(items: Iterable[str]) -> tuple[str, ...]:
    return tuple(items)


def sayings(items: Iterable[str]) -> tuple[str, ...]:
    """Texts that somebody else wrote, each made `encodable`."""
    return tuple(encodable(item) for item in items)
