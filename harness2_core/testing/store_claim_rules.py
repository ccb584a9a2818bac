"""Rules of claims, part of `StoreContract`."""

from __future__ import annotations

import os
import signal
import threading
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from harness2_core.api import Store

from .child import Child
from .store_children import Factory, count_under_claim, hold, hold_beside_child, hold_while_child_ends


class StoreClaimRules:
    def test_a_claim_is_granted_once_whoever_asks(self, store: Store, runs: Path, store_factory: Factory) -> None:
        other = store_factory(runs)

        with store.claim("key") as first, store.claim("key") as again, other.claim("key") as elsewhere:
            from_thread = _in_thread(lambda: _granted(store, "key"))
            with store.claim("other key") as unrelated:
                granted = (first, again, elsewhere, from_thread, unrelated)

        assert granted == (True, False, False, False, True)

    def test_a_refused_claim_takes_nothing_away(self, store: Store) -> None:
        with store.claim("key"):
            with store.claim("key"):
                pass
            assert not _granted(store, "key")
        assert _granted(store, "key")

    def test_a_claim_ends_with_its_context_whatever_happens_in_it(self, store: Store) -> None:
        with pytest.raises(RuntimeError), store.claim("key"):
            raise RuntimeError

        assert _granted(store, "key")

    def test_a_claim_may_be_left_in_another_thread(self, store: Store) -> None:
        claim = store.claim("key")
        assert claim.__enter__()

        _in_thread(lambda: claim.__exit__(None, None, None))

        assert _granted(store, "key")

    def test_threads_exclude_each_other(self, store: Store) -> None:
        inside: list[int] = []
        most: list[int] = []

        def work() -> None:
            for _ in range(60):
                with store.claim("key") as ours:
                    if ours:
                        inside.append(1)
                        most.append(len(inside))
                        time.sleep(0.0005)
                        inside.pop()

        threads = [threading.Thread(target=work) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()

        assert set(most) == {1}

    @pytest.mark.parametrize("key", ["a/b", "..", "", "é" * 2_000, "line\nbreak", "NUL", "\x00"])
    def test_any_text_can_be_claimed(self, store: Store, key: str) -> None:
        with store.claim(key) as first, store.claim(key) as second:
            assert (first, second) == (True, False)

    def test_many_claims_leave_few_files(self, store: Store, runs: Path) -> None:
        for number in range(300):
            assert _granted(store, f"key{number}")

        assert sum(path.is_file() for path in runs.rglob("*")) < 30

    @pytest.mark.process
    def test_a_claim_is_held_against_other_processes(self, store: Store, runs: Path, shared_factory: Factory) -> None:
        with Child(hold, shared_factory, runs, "key") as holder:
            assert holder.line() == "True"
            assert not _granted(store, "key")
            with Child(hold, shared_factory, runs, "key") as rival:
                assert rival.line() == "False"
            holder.rest()
            assert _granted(store, "key")

    @pytest.mark.process
    def test_a_claim_dies_with_its_owner(self, store: Store, runs: Path, shared_factory: Factory) -> None:
        with Child(hold, shared_factory, runs, "key") as holder:
            assert holder.line() == "True"

            holder.kill()

            assert _granted(store, "key")

    @pytest.mark.process
    @pytest.mark.parametrize("how", ["fork", "exec"])
    def test_children_of_a_dead_owner_do_not_keep_its_claim(
        self, store: Store, runs: Path, shared_factory: Factory, how: str
    ) -> None:
        with Child(hold_beside_child, shared_factory, runs, "key", how) as holder:
            grandchild = int(holder.line())
            try:
                holder.kill()

                assert _eventually(lambda: _granted(store, "key"))
                os.kill(grandchild, 0)  # it is still there
            finally:
                os.kill(grandchild, signal.SIGKILL)

    @pytest.mark.process
    def test_a_forked_child_cannot_give_the_claim_back(self, store: Store, runs: Path, shared_factory: Factory) -> None:
        with Child(hold_while_child_ends, shared_factory, runs, "key") as holder:
            assert holder.line() == "child ended"
            assert not _granted(store, "key")
            holder.rest()
            assert _granted(store, "key")

    @pytest.mark.process
    def test_processes_exclude_each_other(self, runs: Path, tmp_path: Path, shared_factory: Factory) -> None:
        counter = tmp_path / "counter"
        counter.write_text("0")

        with (
            Child(count_under_claim, shared_factory, runs, counter, 150) as one,
            Child(count_under_claim, shared_factory, runs, counter, 150) as two,
            Child(count_under_claim, shared_factory, runs, counter, 150) as three,
        ):
            done = [child.line() for child in (one, two, three)]

        assert done == ["150"] * 3
        assert counter.read_text() == "450"


def _granted(store: Store, key: str) -> bool:
    with store.claim(key) as ours:
        return ours


def _in_thread(work: Callable[[], object]) -> object:
    results: list[object] = []
    thread = threading.Thread(target=lambda: results.append(work()))
    thread.start()
    thread.join()
    return results[0]


def _eventually(holds: Callable[[], bool]) -> bool:
    end = time.monotonic() + 30
    while time.monotonic() < end:
        if holds():
            return True
        time.sleep(0.02)
    return False
