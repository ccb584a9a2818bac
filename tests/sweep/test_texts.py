from __future__ import annotations

from collections.abc import Collection, Mapping

import pytest

from harness2_core.api import Store
from harness2_core.sweep import texts
from harness2_core.sweep.archive import Archive
from harness2_core.testing.memory_store import MemoryStore
from harness2_core.work.trees import read_blobs


class Counting(Archive):
    def __init__(self, store: MemoryStore) -> None:
        super().__init__(store)
        self.reads: list[str] = []

    def text(self, digest: str) -> str:
        self.reads.append(digest)
        return super().text(digest)


def test_a_text_is_read_when_it_is_asked_for_and_no_other() -> None:
    store = MemoryStore()
    one, other = store.put_blob(b"one"), store.put_blob(b"other")
    archive = Counting(store)
    found = texts.Texts(archive, {one: 3, other: 5})
    assert (archive.reads, len(found), set(found)) == ([], 2, {one, other})
    assert (found[one], found.get(one), archive.reads) == ("one", "one", [one])


def test_what_was_not_named_is_not_there_though_the_store_has_it() -> None:
    store = MemoryStore()
    found = texts.Texts(Archive(store), {})
    digest = store.put_blob(b"x")
    assert digest not in found
    assert found.get(digest, "something") == "something"


def test_only_so_much_stays_in_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(texts, "KEPT_BYTES", 5)
    store = MemoryStore()
    four, three = store.put_blob(b"four"), store.put_blob(b"333")
    archive = Counting(store)
    found = texts.Texts(archive, {four: 4, three: 3})
    assert [found[digest] for digest in (four, three, four, three)] == ["four", "333", "four", "333"]
    assert archive.reads == [four, three, three]


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, ...]]:
    """What is read together, of a store that is quicker so."""
    asked: list[tuple[str, ...]] = []

    def read(store: Store, digests: Collection[str]) -> Mapping[str, bytes]:
        asked.append(tuple(digests))
        return read_blobs(store, digests)

    monkeypatch.setattr(texts, "takes_many", lambda store: True)
    monkeypatch.setattr(texts, "read_blobs", read)
    return asked


def test_small_ones_are_read_together_and_large_ones_when_they_are_asked_for(
    asked: list[tuple[str, ...]], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(texts, "SMALL_BYTES", 4)
    monkeypatch.setattr(texts, "TOGETHER_BYTES", 6)
    store = MemoryStore()
    one, two, large, four = (store.put_blob(data) for data in (b"1", b"22", b"large", b"4444"))
    archive = Counting(store)
    found = texts.Texts(archive, {one: 1, two: 2, large: 5, four: 4})

    assert [found[digest] for digest in (two, one, four, large, two)] == ["22", "1", "4444", "large", "22"]
    assert (asked, archive.reads) == ([(one, two), (four,)], [large])


def test_what_there_is_no_room_for_is_read_alone(asked: list[tuple[str, ...]], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(texts, "KEPT_BYTES", 2)
    store = MemoryStore()
    three, two = store.put_blob(b"333"), store.put_blob(b"22")
    archive = Counting(store)
    found = texts.Texts(archive, {three: 3, two: 2})

    assert [found[digest] for digest in (two, three, two)] == ["22", "333", "22"]
    assert archive.reads == [two, three]
    assert not any(asked)
