"""Rules of records, part of `StoreContract`."""

from __future__ import annotations

import shutil
import tempfile
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from itertools import count
from pathlib import Path
from typing import ClassVar

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from harness2_core.api import Damaged, InvalidValue, Store, digest_bytes

from .store_children import Factory
from .store_flips import Flips

_numbers = count()
_texts = st.text(max_size=20) | st.text(min_size=1, max_size=5).map(lambda text: text * 100)
_lenient = settings(
    max_examples=40,
    deadline=None,
    suppress_health_check=[
        HealthCheck.function_scoped_fixture,  # the examples share a store
        HealthCheck.differing_executors,  # so do not the subclasses of the contract
        HealthCheck.too_slow,
    ],
)


class StoreRecordRules(Flips):
    many: ClassVar[int] = 100_000

    def test_the_first_value_of_a_key_stays(self, store: Store) -> None:
        assert store.put("kind", "key", b"first")
        assert not store.put("kind", "key", b"second")
        assert store.get("kind", "key") == b"first"

    def test_kinds_are_apart(self, store: Store) -> None:
        store.put("one", "key", b"1")

        assert store.get("two", "key") is None
        assert store.put("two", "key", b"2")
        assert list(store.scan("one")) == [("key", 1)]
        assert list(store.scan("none")) == []

    def test_a_deleted_record_is_gone_and_its_key_free(self, store: Store) -> None:
        store.put("kind", "key", b"first")

        store.delete("kind", "key")
        store.delete("kind", "key")

        assert store.get("kind", "key") is None
        assert list(store.scan("kind")) == []
        assert store.put("kind", "key", b"second")

    def test_a_flipped_byte_in_a_record_is_found_and_named(self, store: Store, runs: Path) -> None:
        store.put("kind", "the key", b"before the marker of this record")

        self.flip_byte(store, runs, b"the marker of this record")

        with pytest.raises(Damaged, match="the key") as raised:
            store.get("kind", "the key")
        assert raised.value.remedy

    @_lenient
    @given(values=st.dictionaries(_texts, st.binary(max_size=50), max_size=12), kind=_texts)
    def test_any_text_is_a_key_and_a_kind(self, store: Store, values: dict[str, bytes], kind: str) -> None:
        kind = f"{kind}{next(_numbers)}"  # the store is shared by the examples

        for key, value in values.items():
            assert store.put(kind, key, value)

        assert [key for key, _ in store.scan(kind)] == sorted(values)
        assert dict(store.scan(kind)) == {key: len(value) for key, value in values.items()}
        assert {key: store.get(kind, key) for key in values} == values

    @pytest.mark.parametrize(
        "keys",
        [
            ("a/b", "a__b", "a%2Fb", "A/B"),
            ("key", "KEY", "Key"),
            (".", "..", "../x", "/etc/passwd", ""),
            ("con", "CON", "nul.txt", "a.", "a "),
            ("é", "e\u0301", "\u212b", "Å"),
            ("x" * 5_000, "x" * 5_001, "x" * 120, "ü" * 4_000),
            ("a\x00b", "a\nb", "a", "~", "a~0123456789abcdef"),
        ],
    )
    def test_keys_that_look_alike_stay_apart(self, store: Store, runs: Path, keys: tuple[str, ...]) -> None:
        for key in keys:
            assert store.put("kind", key, key.encode())

        assert [key for key, _ in store.scan("kind")] == sorted(keys)
        assert [store.get("kind", key) for key in keys] == [key.encode() for key in keys]
        for key in keys:
            store.delete("kind", key)
        assert list(store.scan("kind")) == []

    def test_half_a_character_is_no_key(self, store: Store) -> None:
        with pytest.raises(InvalidValue, match="surrogate"):
            store.put("kind", "\ud800", b"")
        with pytest.raises(InvalidValue, match="surrogate"), store.claim("\ud800"):
            pass

    def test_blob_is_no_kind_of_record(self, store: Store) -> None:
        with pytest.raises(InvalidValue, match="put_blob"):
            store.put("blob", "key", b"")
        with pytest.raises(InvalidValue, match="open_blob"):
            store.get("blob", "key")

    def test_one_of_many_threads_stores_a_key(self, store: Store) -> None:
        def put(number: int) -> list[int]:
            return [key for key in range(30) if store.put("kind", str(key), str(number).encode())]

        with ThreadPoolExecutor(8) as pool:
            won = list(pool.map(put, range(8)))

        assert sorted(key for keys in won for key in keys) == list(range(30))
        for number, keys in enumerate(won):
            assert all(store.get("kind", str(key)) == str(number).encode() for key in keys)

    def test_reading_makes_nothing_on_disk(self, store: Store, runs: Path) -> None:
        before = sorted(runs.rglob("*"))

        assert store.get("kind", "key") is None
        assert list(store.scan("kind")) == list(store.scan("blob")) == []
        assert not store.has_blob(digest_bytes(b"x"))
        store.delete("kind", "key")
        store.delete("blob", digest_bytes(b"x"))

        assert sorted(runs.rglob("*")) == before

    def test_another_store_object_sees_what_was_stored(self, store: Store, runs: Path, store_factory: Factory) -> None:
        store.put("kind", "key", b"value")
        digest = store.put_blob(b"blob")

        other = store_factory(runs)

        assert other.get("kind", "key") == b"value"
        assert other.open_blob(digest).read() == b"blob"
        assert not other.put("kind", "key", b"other")

    def test_a_hundred_thousand_keys_stay_quick(self, store_factory: Factory, roomy: Path) -> None:
        store = store_factory(roomy)
        keys = [f"ns/task/{number}" for number in range(self.many)]

        first = _seconds(lambda: [store.put("kind", key, b"value") for key in keys[:1_000]])
        for key in keys[1_000:-1_000]:
            store.put("kind", key, b"value")
        last = _seconds(lambda: [store.put("kind", key, b"value") for key in keys[-1_000:]])
        found: list[tuple[str, int]] = []
        scan = _seconds(lambda: found.extend(store.scan("kind")))

        assert found == [(key, 5) for key in sorted(keys)]
        assert store.get("kind", keys[self.many // 2]) == b"value"
        assert last < 10 * max(first, 0.2)
        assert scan < 60

    @pytest.fixture
    def roomy(self) -> Iterator[Path]:
        """A directory for very many files: in memory where there is room, and never kept."""
        memory = Path("/dev/shm")
        fits = memory.is_dir() and shutil.disk_usage(memory).free > 2_000_000_000
        with tempfile.TemporaryDirectory(dir=memory if fits else None) as directory:
            yield Path(directory)


def _seconds(work: Callable[[], object]) -> float:
    start = time.perf_counter()
    work()
    return time.perf_counter() - start
