from __future__ import annotations

import pytest

from harness2_core.sweep import texts
from harness2_core.sweep.archive import Archive
from harness2_core.testing.memory_store import MemoryStore


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
    found = texts.Texts(archive, (one, other))
    assert (archive.reads, len(found), set(found)) == ([], 2, {one, other})
    assert (found[one], found.get(one), archive.reads) == ("one", "one", [one])


def test_what_was_not_named_is_not_there_though_the_store_has_it() -> None:
    store = MemoryStore()
    found = texts.Texts(Archive(store), ())
    digest = store.put_blob(b"x")
    assert digest not in found
    assert found.get(digest, "something") == "something"


def test_only_so_many_characters_stay_in_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(texts, "KEPT_CHARS", 5)
    store = MemoryStore()
    four, three = store.put_blob(b"four"), store.put_blob(b"333")
    archive = Counting(store)
    found = texts.Texts(archive, (four, three))
    assert [found[digest] for digest in (four, three, four, three)] == ["four", "333", "four", "333"]
    assert archive.reads == [four, three, three]
