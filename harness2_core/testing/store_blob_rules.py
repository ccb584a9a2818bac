"""Rules of blobs, part of `StoreContract`."""

from __future__ import annotations

import io
import os
import shutil
import threading
from itertools import count
from pathlib import Path

import pytest

from harness2_core.api import Damaged, Store, StoreError, TakesMany, digest_bytes

from .store_flips import Flips


class StoreBlobRules(Flips):
    @pytest.fixture
    def bulk(self, store: Store) -> TakesMany:
        if not isinstance(store, TakesMany):
            pytest.skip("this store takes blobs one by one")
        return store

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

    def test_many_blobs_put_together_come_back_as_they_were(self, bulk: TakesMany, store: Store) -> None:
        there, sizes = os.urandom(100), [0, 1, 4_096, 300_000, *range(2, 1_200)]
        blobs = [there, there, *(os.urandom(size) for size in sizes)]
        store.put_blob(there)

        digests = [digest_bytes(data) for data in blobs]
        bulk.put_blobs(dict(zip(digests, blobs, strict=True)))
        bulk.put_blobs(dict(zip(digests, blobs, strict=True)))
        bulk.put_blobs({})

        assert bulk.read_blobs(digests) == dict(zip(digests, blobs, strict=True))
        assert bulk.read_blobs([]) == {}
        for digest, data in zip(digests[:6], blobs, strict=False):
            assert store.has_blob(digest)
            with store.open_blob(digest) as file:
                assert file.read() == data

    def test_blobs_read_together_are_verified_and_an_absent_one_is_named(
        self, bulk: TakesMany, store: Store, runs: Path
    ) -> None:
        marker, absent = b"the marker among many", digest_bytes(b"never stored")
        whole, marked = os.urandom(1_000), os.urandom(1_000) + marker
        bulk.put_blobs({digest_bytes(data): data for data in (whole, marked)})

        with pytest.raises(StoreError, match=absent):
            bulk.read_blobs([digest_bytes(whole), absent])
        self.flip_byte(store, runs, marker)
        with pytest.raises(Damaged, match=digest_bytes(marked)):
            bulk.read_blobs([digest_bytes(whole), digest_bytes(marked)])

    def test_a_deleted_blob_can_be_put_again_among_many(self, bulk: TakesMany, store: Store) -> None:
        data = os.urandom(50)
        store.delete("blob", store.put_blob(data))

        bulk.put_blobs({digest_bytes(data): data})

        assert bulk.read_blobs([digest_bytes(data)]) == {digest_bytes(data): data}

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
