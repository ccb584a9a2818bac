"""What an archive keeps in memory is what the store has, no more than it says, and forgotten when it is taken out."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from harness2_core.model.canonical import Digest, digest_bytes
from harness2_core.model.channel import Outcome, Usage
from harness2_core.model.errors import StoreError
from harness2_core.model.records import Reply, Rollout
from harness2_core.model.serial import dump
from harness2_core.sweep import archive as archives
from harness2_core.sweep.archive import Archive
from harness2_core.testing.memory_store import MemoryStore


@pytest.fixture
def read(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Keys of the records that are read, one after another."""
    keys: list[str] = []
    get = MemoryStore.get

    def told(self: MemoryStore, kind: str, key: str) -> bytes | None:
        keys.append(key)
        return get(self, kind, key)

    monkeypatch.setattr(MemoryStore, "get", told)
    return keys


@pytest.fixture
def put(monkeypatch: pytest.MonkeyPatch) -> list[bytes]:
    """Blobs that are put, one after another."""
    blobs: list[bytes] = []
    put_blob = MemoryStore.put_blob

    def told(self: MemoryStore, source: Path | bytes) -> Digest:
        assert isinstance(source, bytes)
        blobs.append(source)
        return put_blob(self, source)

    monkeypatch.setattr(MemoryStore, "put_blob", told)
    return blobs


def rollout(store: MemoryStore, name: str, usd: str = "0.5") -> Digest:
    digest = digest_bytes(name.encode())
    store.put("rollout", digest, dump(Rollout(digest, Outcome.FINISHED, usage=Usage(usd))))
    return digest


def test_a_result_is_read_once_by_those_who_want_it_and_by_the_count_of_its_price(read: list[str]) -> None:
    store = MemoryStore()
    digest = rollout(store, "one")
    archive = Archive(store)

    first, second = archive.rollout(digest), archive.rollout(digest)

    assert first is second
    usage = archive.usage("rollout", digest)
    assert usage is not None
    assert (usage.usd, read) == ("0.5", [digest])


def test_a_price_is_told_without_the_rest_of_a_record_that_nobody_has_read() -> None:
    store = MemoryStore()
    usage = Archive(store).usage("rollout", rollout(store, "one", "0.25"))
    assert usage is not None
    assert usage.usd == "0.25"


def test_a_result_that_is_not_there_yet_is_found_when_it_is() -> None:
    store = MemoryStore()
    archive, digest = Archive(store), digest_bytes(b"one")
    assert archive.usage("rollout", digest) is None
    with pytest.raises(StoreError, match=f"no rollout {digest}"):
        archive.rollout(digest)

    assert archive.rollout(rollout(store, "one")).request == digest


def test_a_rollout_and_a_reply_of_one_digest_are_two_records() -> None:
    store = MemoryStore()
    digest = rollout(store, "one")
    store.put("session", digest, dump(Reply(Outcome.FINISHED, "said", request=digest)))
    archive = Archive(store)

    assert archive.rollout(digest).outcome is Outcome.FINISHED
    assert archive.reply(digest).text == "said"


def test_a_result_that_was_taken_out_is_asked_of_the_store_again() -> None:
    store = MemoryStore()
    digest = rollout(store, "one", "0.5")
    archive = Archive(store)
    assert archive.rollout(digest).usage.usd == "0.5"

    archive.retire("rollout", digest)
    assert archive.usage("rollout", digest) is None
    rollout(store, "one", "0.75")

    assert archive.rollout(digest).usage.usd == "0.75"


def test_only_so_many_results_stay_in_memory(monkeypatch: pytest.MonkeyPatch, read: list[str]) -> None:
    monkeypatch.setattr(archives, "RESULTS_CACHED", 3)
    store = MemoryStore()
    digests = [rollout(store, str(number)) for number in range(5)]
    archive = Archive(store)
    for digest in digests:
        archive.rollout(digest)
    read.clear()

    for digest in reversed(digests):
        archive.rollout(digest)

    assert read == [digests[1], digests[0]]


def test_many_threads_may_ask_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(archives, "RESULTS_CACHED", 3)
    store = MemoryStore()
    digests = [rollout(store, str(number)) for number in range(20)]
    archive = Archive(store)

    with ThreadPoolExecutor(8) as pool:
        found = list(pool.map(archive.rollout, digests * 100))

    assert [record.request for record in found] == digests * 100


def test_what_a_bundle_made_is_stored_once_however_many_bundles_show_it(
    monkeypatch: pytest.MonkeyPatch, put: list[bytes]
) -> None:
    monkeypatch.setattr(archives, "STORED", 2)
    store = MemoryStore()
    archive = Archive(store)
    blobs = {digest_bytes(data): data for data in (b"one", b"two", b"three")}
    one = digest_bytes(b"one")

    archive.put_new({one: b"one"})
    archive.put_new({one: b"one"})
    assert put == [b"one"]

    archive.put_new(blobs)
    assert sorted(put) == [b"one", b"three", b"two"]
    archive.put_new({digest_bytes(b"four"): b"four"})  # there are too many to be kept in mind: it starts anew
    archive.put_new({one: b"one"})
    assert put[-2:] == [b"four", b"one"]


def test_what_was_stored_is_stored_again_after_something_was_found_to_be_lost(put: list[bytes]) -> None:
    store = MemoryStore()
    archive, digest = Archive(store), digest_bytes(b"one")
    archive.put_new({digest: b"one"})

    archive.retire("rollout", rollout(store, "lost"))
    archive.put_new({digest: b"one"})

    assert put == [b"one", b"one"]
