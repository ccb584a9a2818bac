"""Rules of blobs and records, part of `StoreContract`."""

from __future__ import annotations

import io
import os
import shutil
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from itertools import count
from pathlib import Path
from typing import ClassVar

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from harness2_core.api import Damaged, InvalidValue, Store, StoreError, digest_bytes

from .store_children import Factory

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


class StoreValueRules:
    many: ClassVar[int] = 100_000

    def flip_byte(self, store: Store, runs: Path, marker: bytes) -> None:
        """Alters every stored copy of `marker` by one bit, behind the store's back."""
        close = getattr(store, "close", None)
        if close is not None:
            close()
        found = 0
        for path in (path for path in runs.rglob("*") if path.is_file()):
            data = path.read_bytes()
            if marker in data:
                found += 1
                path.write_bytes(data.replace(marker, bytes([marker[0] ^ 1]) + marker[1:]))
        assert found, "the store keeps values in a form that this test does not find: override flip_byte"

    # --- blobs ---

    @pytest.mark.parametrize("size", [0, 1, 4_096, 300_000, 3_000_001])
    def test_a_blob_comes_back_as_it_was(self, store: Store, tmp_path: Path, size: int) -> None:
        data = os.urandom(size)
        (tmp_path / "source").write_bytes(data)

        from_bytes, from_file = store.put_blob(data), store.put_blob(tmp_path / "source")

        assert from_bytes == from_file == digest_bytes(data)
        assert store.has_blob(from_bytes)
        with store.open_blob(from_bytes) as file:
            assert file.read() == data
        with store.open_blob(from_bytes) as file:
            assert b"".join(iter(lambda: file.read(70_000), b"")) == data

    def test_a_blob_can_be_copied_from_its_stream(self, store: Store) -> None:
        data = os.urandom(2_500_000)
        copy = io.BytesIO()

        with store.open_blob(store.put_blob(data)) as file:
            shutil.copyfileobj(file, copy)

        assert copy.getvalue() == data

    def test_an_absent_blob_is_an_error_that_names_it(self, store: Store) -> None:
        digest = digest_bytes(b"never stored")

        assert not store.has_blob(digest)
        with pytest.raises(StoreError, match=digest) as raised:
            store.open_blob(digest)
        assert raised.value.remedy

    @pytest.mark.parametrize("size", [1_000, 300_000, 3_000_000])
    def test_a_flipped_byte_in_a_blob_is_found_while_it_is_read(self, store: Store, runs: Path, size: int) -> None:
        marker = b"the marker of this test"
        data = os.urandom(size) + marker + b"end"
        digest = store.put_blob(data)

        self.flip_byte(store, runs, marker)

        with pytest.raises(Damaged, match=digest), store.open_blob(digest) as file:
            while file.read(70_000):
                pass

    def test_reading_exactly_the_size_of_a_damaged_blob_does_not_pass_unseen(self, store: Store, runs: Path) -> None:
        marker = b"another marker of this test"
        data = os.urandom(3_000_000) + marker
        digest = store.put_blob(data)

        self.flip_byte(store, runs, marker)

        with pytest.raises(Damaged), store.open_blob(digest) as file:
            file.read(len(data))

    def test_a_deleted_blob_is_gone_and_can_be_stored_again(self, store: Store) -> None:
        for data in (b"small", b"large" * 100_000):
            digest = store.put_blob(data)

            store.delete("blob", digest)
            store.delete("blob", digest)

            assert not store.has_blob(digest)
            assert store.put_blob(data) == digest
            assert store.open_blob(digest).read() == data

    def test_blobs_are_listed_by_digest_with_their_sizes(self, store: Store) -> None:
        stored = {store.put_blob(data): len(data) for data in (b"", b"a", b"b" * 500, b"c" * 400_000, b"d" * 2_000_000)}

        assert list(store.scan("blob")) == sorted(stored.items())

    def test_what_is_no_regular_file_is_refused_at_once(self, store: Store, tmp_path: Path) -> None:
        os.mkfifo(tmp_path / "pipe")

        for source in (tmp_path / "pipe", tmp_path, tmp_path / "absent"):
            with pytest.raises(StoreError, match=str(source)):
                store.put_blob(source)

    def test_a_file_that_changes_while_it_is_stored_gives_a_whole_blob_or_an_error(
        self, store: Store, tmp_path: Path
    ) -> None:
        source = tmp_path / "busy"
        source.write_bytes(b"0" * 4_000_000)
        stop = threading.Event()

        def write() -> None:
            for number in count():
                if stop.is_set():
                    return
                with source.open("r+b") as file:
                    file.seek(number * 100_000 % 4_000_000)
                    file.write(f"{number}".encode() * 100)

        writer = threading.Thread(target=write)
        writer.start()
        try:
            try:
                digests = [store.put_blob(source)]
            except StoreError as error:
                assert "busy" in str(error)
                digests = []
        finally:
            stop.set()
            writer.join()

        for digest in digests:
            assert digest_bytes(store.open_blob(digest).read()) == digest
        assert [digest for digest, _ in store.scan("blob")] == digests

    # --- records ---

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
