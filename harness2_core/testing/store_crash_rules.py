"""Rules of a store under SIGKILL, several processes and bad disks, part of `StoreContract`."""

from __future__ import annotations

import json
import random
import time
from pathlib import Path

import pytest

from harness2_core.api import Store, StoreError, digest_bytes

from .child import Child, small_disk
from .store_children import (
    Factory,
    blob_of,
    exceed_file_size,
    fill_disk,
    put_each,
    read_only,
    record_of,
    use_in_forked_child,
    write_until_killed,
)

_KILLS = 8


class StoreCrashRules:
    @pytest.mark.process
    def test_a_store_is_whole_after_sigkill_at_any_instant(
        self, store: Store, runs: Path, shared_factory: Factory
    ) -> None:
        dice = random.Random(2)
        for kill in range(_KILLS):
            name = f"k{kill}"
            with Child(write_until_killed, shared_factory, runs, name) as writer:
                stored = [writer.line()]
                time.sleep(dice.uniform(0, 0.06))
                writer.kill()
                stored += writer.rest()

            for number in map(int, stored):
                assert store.get("kill", f"{name}/{number}") == record_of(name, number)
                assert store.has_blob(digest_bytes(blob_of(name, number, 2_000)))
            assert shared_factory(runs).put("kill", f"{name}/after", b"works")

        for key, size in store.scan("kill"):
            value = store.get("kill", key)
            assert value is not None
            assert len(value) == size
            name, _, which = key.partition("/")
            assert value == (b"works" if which == "after" else record_of(name, int(which))), f"half of {key}"
        for digest, size in store.scan("blob"):
            data = store.open_blob(digest).read()
            assert (len(data), digest_bytes(data)) == (size, digest)

    @pytest.mark.process
    def test_processes_that_make_a_store_at_once_share_it(
        self, store: Store, runs: Path, shared_factory: Factory
    ) -> None:
        names = [f"process {number}" for number in range(3)]
        children = [Child(put_each, shared_factory, runs, name, 200) for name in names]
        for child in children:
            assert child.line() == "ready"
        for child in children:
            child.release()

        won = {}
        for name, child in zip(names, children, strict=True):
            with child:
                won[name] = json.loads(child.line())

        assert sorted(number for numbers in won.values() for number in numbers) == list(range(200))
        for name, numbers in won.items():
            assert all(store.get("race", str(number)) == name.encode() for number in numbers)
        assert [size for _, size in store.scan("blob")] == [1_300]

    @pytest.mark.process
    def test_a_store_works_on_both_sides_of_a_fork(self, runs: Path, shared_factory: Factory) -> None:
        with Child(use_in_forked_child, shared_factory, runs) as child:
            assert child.line() == "0"
            assert child.line() == "['before', 'child', 'parent']"

    @pytest.mark.process
    def test_a_full_disk_is_an_error_with_nothing_lost(self, runs: Path, shared_factory: Factory) -> None:
        runs.mkdir(exist_ok=True)
        prefix = small_disk(runs, "3m")
        if prefix is None:
            pytest.skip("this system does not let tests mount a small disk")

        with Child(fill_disk, shared_factory, runs, prefix=prefix) as child:
            seen, kept, kept_for_others, fits = (json.loads(child.line()) for _ in range(4))

        assert len(seen["put"]) > 20
        for error in (seen["error"], seen["blob_error"]):
            assert "full" in error
            assert "free some space" in error
            assert str(runs) in error
        assert (seen["blob"], kept, kept_for_others, fits) == (False, True, True, True)

    @pytest.mark.process
    def test_a_file_size_limit_leaves_no_half_blob(self, runs: Path, shared_factory: Factory) -> None:
        with Child(exceed_file_size, shared_factory, runs) as child:
            assert "ulimit -f" in child.line()
            assert child.line() == "False"
            assert child.line() == "b'1'"

    @pytest.mark.process
    def test_a_read_only_store_can_be_read_and_says_why_it_is_not_written(
        self, runs: Path, shared_factory: Factory
    ) -> None:
        runs.mkdir(exist_ok=True)
        prefix = small_disk(runs, "3m")
        if prefix is None:
            pytest.skip("this system does not let tests mount a small disk")

        with Child(read_only, shared_factory, runs, prefix=prefix) as child:
            assert [child.line() for _ in range(3)] == ["b'value'", "b'blob'", "['key']"]
            for error in (child.line(), child.line()):
                assert error.startswith("StoreError: ")
                assert str(runs) in error
                assert "write access" in error

    @pytest.mark.process
    def test_a_file_in_place_of_the_store_is_named(self, runs: Path, shared_factory: Factory) -> None:
        runs.mkdir(exist_ok=True)
        probe = shared_factory(runs)
        probe.put("kind", "key", b"value")
        (store_path,) = runs.iterdir()
        blocked = runs.with_name("blocked")
        blocked.mkdir()
        (blocked / store_path.name).write_text("a file")

        with pytest.raises(StoreError, match=store_path.name) as raised:
            shared_factory(blocked).put("kind", "key", b"value")

        assert "path" in raised.value.remedy
