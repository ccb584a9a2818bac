"""What the store has lost, or a person deleted because it was damaged, is made anew: the remedy that is told works."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

from harness2_core.api import Happened, StoreError
from harness2_core.sweep.ledger import Ledger
from harness2_core.sweep.run import Again
from harness2_core.sweep.stop import Stop
from harness2_core.testing.comparing import comparable
from harness2_core.work.wholeness import is_whole

DEAD = Again(retry=("dead",))


def transcript_of_the_base(bench: Any) -> str:
    return str(_rollout(bench).transcript.digest)


def what_was_delivered(bench: Any) -> str:
    return str(next(iter(_rollout(bench).deliverables.entries.values())).digest)


def an_input(bench: Any) -> str:
    archive = bench.reading().study.archive
    files = archive.flat(archive.manifest(bench.reading().study.cards["sums/first"].material))
    return str(files["source/inputs/numbers.txt"].digest)


def the_edited_tree(bench: Any) -> str:
    return str(next(reply.accepted for reply in bench.replies() if reply.accepted is not None))


def a_request(bench: Any) -> str:
    return str(next(reply.request for reply in bench.replies() if reply.accepted is not None))


@pytest.mark.parametrize(
    "lost",
    [transcript_of_the_base, what_was_delivered, an_input, the_edited_tree, a_request],
    ids=lambda lost: lost.__name__,
)
def test_what_an_unfinished_task_has_lost_is_made_anew_by_the_same_command(
    bench: Any, lost: Callable[[Any], str]
) -> None:
    bench.run(runs=bench.root / "undisturbed")
    _stopped(bench)
    store = bench.store()
    store.delete("blob", lost(bench))

    assert bench.run().exit_code == 0

    assert comparable(store) == comparable(bench.store(runs=bench.root / "undisturbed"))
    assert all(is_whole(store, kind, digest) for kind in ("rollout", "session") for digest, _ in store.scan(kind))


def test_the_view_of_a_library_that_was_lost_is_the_same_again(bench: Any) -> None:
    view = _viewed(bench)
    entries = bench.reading().study.archive.manifest(view.view).entries
    for digest in (view.view, *(entry.digest for path, entry in entries.items() if not path.endswith("/"))):
        bench.store().delete("blob", digest)

    assert bench.run().exit_code == 0
    assert bench.mode("sums/second").view == view.view


def test_a_view_of_an_entry_that_is_drawn_anew_is_another_where_the_old_one_was_lost(bench: Any) -> None:
    view = _viewed(bench)
    bench.store().delete("blob", bench.mode().adopted)
    with pytest.raises(StoreError, match="--retry dead"):
        bench.run()

    assert bench.run(again=DEAD).exit_code == 0
    assert bench.mode("sums/second").seen == view.seen


@pytest.mark.parametrize("lost", [transcript_of_the_base, the_edited_tree], ids=lambda lost: lost.__name__)
def test_a_finished_task_is_left_alone_and_dead_draws_anew_what_it_has_lost(
    bench: Any, lost: Callable[[Any], str]
) -> None:
    bench.run()
    bench.store().delete("blob", lost(bench))

    assert bench.run().paid.nothing
    again = bench.run(again=DEAD)

    assert (again.exit_code, again.paid.nothing, bench.mode().attempt) == (0, False, 2)
    store, record = bench.store(), bench.mode()
    assert all(is_whole(store, "rollout", roll.rollout) for roll in (*bench.summary().bases, *record.rolls))
    assert bench.run(again=DEAD).paid.nothing
    assert bench.mode().attempt == 2


@pytest.mark.parametrize("kind", ["rollout", "session"])
def test_a_record_of_a_finished_task_that_was_deleted_is_drawn_anew_by_dead(bench: Any, kind: str) -> None:
    bench.run()
    store = bench.store()
    store.delete(kind, bench.mode().stages[0].sessions[0] if kind == "session" else bench.summary().bases[0].rollout)

    assert bench.run(again=DEAD).exit_code == 0
    assert bench.mode().attempt == 2


@pytest.mark.parametrize("kind", ["bases", "adoption", "view", "mode"])
def test_what_follows_from_other_records_comes_back_for_nothing(bench: Any, kind: str) -> None:
    bench.run()
    store = bench.store()
    before = comparable(store)
    for key, _ in list(store.scan(kind)):
        store.delete(kind, key)
        if kind == "view":  # it is looked for by an unfinished task only
            store.delete("mode", key)

    again = bench.run()

    assert (again.exit_code, again.paid.nothing) == (0, True)
    assert comparable(store) == before


def test_copies_that_cannot_be_made_any_more_are_told_and_stop_nothing(bench: Any) -> None:
    bench.run()
    bench.store().delete("blob", bench.mode().adopted)
    (bench.runs / "adapt/small-po-agg1/sums%2Ffirst/harnesses/agg1/scripts/solve.py").unlink()
    next((bench.runs / "library").rglob("solve.py")).unlink()

    assert bench.run().exit_code == 0

    told = [note for note in bench.notices if note.startswith("no readable copy can be made of ")]
    assert len(told) == 2
    assert all("--retry dead" in note for note in told)
    assert bench.run(again=DEAD).exit_code == 0  # and it does help
    assert next((bench.runs / "library").rglob("solve.py")).exists()


def test_what_a_lost_record_has_cost_stays_counted(bench: Any) -> None:
    bench.improver(
        "dear",
        """
        class Made(Scripted):
            def run(self, request, workspace, ctx):
                said = super().run(request, workspace, ctx)
                return Said(said.outcome, said.text, Usage("0.3", source="stream"))
        """,
    )
    _stopped(bench)
    before = _spent(bench)
    bench.store().delete("blob", the_edited_tree(bench))

    result = bench.run()

    assert before > 0
    assert _spent(bench) == before + float(result.paid.usage["improver"].usd) + float(
        result.paid.usage["reflector"].usd
    )


def _stopped(bench: Any, ends: int = 5) -> None:
    """A run that is asked to stop after so many attempts."""
    stop, seen = Stop(), []

    def listen(event: Happened) -> None:
        if event.what == "attempt-ended":
            seen.append(event)
            if len(seen) == ends:
                stop.ask(2)

    assert bench.run(stop=stop, listeners=[listen], slots=1).interrupted


def _viewed(bench: Any) -> Any:
    """The view of a second task that has begun: it shows the entry of the first."""
    bench.task("sums/second")
    _stopped(bench, ends=9)
    study = bench.reading().study
    view = study.archive.view(study.home, "sums/second")
    assert view.seen == ("sums/first",)
    return view


def _rollout(bench: Any) -> Any:
    archive = bench.reading().study.archive
    requests = {digest: json.loads(archive.text(digest))["rollout"] for digest, _ in archive.store.scan("rollout")}
    return archive.rollout(next(digest for digest, request in requests.items() if request["draw"].endswith("/base1")))


def _spent(bench: Any) -> float:
    study = bench.reading().study
    return float(Ledger(study.archive, {str(study.home)}).spent().usd or 0)
