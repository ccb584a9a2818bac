"""What other processes do to a store in `StoreContract`. Each runs in a `Child`, given the factory and the runs."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import TypeAlias

from harness2_core.api import Harness2Error, Store, StoreError, digest_bytes

from .child import say, until_released

Factory: TypeAlias = Callable[[Path], Store]


def write_until_killed(factory: Factory, runs: Path, name: str) -> None:
    """Prints a number after record and blobs of that number are stored."""
    store = factory(runs)
    for number in range(1_000_000):
        store.put_blob(blob_of(name, number, 2_000))
        if number % 10 == 0:
            store.put_blob(blob_of(name, number, 600_000))
        assert store.put("kill", f"{name}/{number}", record_of(name, number))
        say(number)


def record_of(name: str, number: int) -> bytes:
    return f"{name} {number} ".encode() * 50


def blob_of(name: str, number: int, size: int) -> bytes:
    return (f"{name} {number} ".encode() * size)[:size]


def put_each(factory: Factory, runs: Path, name: str, count: int) -> None:
    """Waits for the start, then prints those of `count` keys that this process was first to store."""
    store = factory(runs)
    say("ready")
    until_released()
    store.put_blob(b"the same blob" * 100)
    say(json.dumps([number for number in range(count) if store.put("race", str(number), name.encode())]))


def hold(factory: Factory, runs: Path, key: str) -> None:
    """Claims, prints whether it has the claim, and keeps it."""
    with factory(runs).claim(key) as ours:
        say(ours)
        until_released()


def hold_beside_child(factory: Factory, runs: Path, key: str, how: str) -> None:
    """Claims, starts a child of its own that stays (`fork` or `exec`), prints the child's process id."""
    with factory(runs).claim(key) as ours:
        assert ours
        if how == "exec":
            say(subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)"]).pid)
        else:
            child = os.fork()
            if child == 0:
                os.close(1)  # else the test waits for the end of this output
                time.sleep(60)
                os._exit(0)
            say(child)
        until_released()


def hold_while_child_ends(factory: Factory, runs: Path, key: str) -> None:
    """Claims, lets a forked child leave the claim's context and end, prints, and keeps the claim."""
    claim = factory(runs).claim(key)
    assert claim.__enter__()
    child = os.fork()
    if child == 0:
        claim.__exit__(None, None, None)
        os._exit(0)
    os.waitpid(child, 0)
    say("child ended")
    until_released()
    claim.__exit__(None, None, None)


def use_in_forked_child(factory: Factory, runs: Path) -> None:
    """Uses one store object before a fork and on both sides of it."""
    store = factory(runs)
    store.put("fork", "before", b"1")
    child = os.fork()
    if child == 0:
        seen = store.get("fork", "before") == b"1" and store.put("fork", "child", b"2")
        os._exit(0 if seen else 1)
    store.put("fork", "parent", b"3")
    say(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
    say([key for key, _ in store.scan("fork")])


def count_under_claim(factory: Factory, runs: Path, counter: Path, rounds: int) -> None:
    """Adds one to the number in a file, `rounds` times, each under the claim `count`: not safe without."""
    store = factory(runs)
    done = 0
    while done < rounds:
        with store.claim("count") as ours:
            if ours:
                number = int(counter.read_text())
                time.sleep(0.0005)
                counter.write_text(str(number + 1))
                done += 1
    say(done)


def fill_disk(factory: Factory, runs: Path) -> None:
    """Stores until the disk is full, prints what was seen, frees some space, and prints what works then."""
    ballast = runs / "ballast"
    ballast.write_bytes(b"b" * 400_000)
    store = factory(runs)
    put: list[str] = []
    error: StoreError | None = None
    while error is None:
        key = f"{len(put):04}"
        try:
            store.put("disk", key, key.encode() * 2_000)
            put.append(key)
        except StoreError as raised:
            error = raised
    blob = b"large" * 200_000
    try:
        store.put_blob(blob)
        blob_error = ""
    except StoreError as raised:
        blob_error = str(raised)
    say(
        json.dumps(
            {"error": str(error), "blob_error": blob_error, "put": put, "blob": store.has_blob(digest_bytes(blob))}
        )
    )
    say(json.dumps(_all_there(store, put)))
    say(json.dumps(_all_there(factory(runs), put)))
    ballast.unlink()
    say(json.dumps(store.put("disk", f"{len(put):04}", b"fits now")))


def _all_there(store: Store, put: list[str]) -> bool:
    right = all(store.get("disk", key) == key.encode() * 2_000 for key in put)
    return right and store.get("disk", f"{len(put):04}") is None and [key for key, _ in store.scan("disk")] == put


def exceed_file_size(factory: Factory, runs: Path) -> None:
    """Stores a blob beyond the largest file allowed, prints the error and whether the blob is there."""
    import resource  # not on Windows, where the rest of this module is still of use

    store = factory(runs)
    store.put("size", "before", b"1")
    resource.setrlimit(resource.RLIMIT_FSIZE, (1_000_000, resource.RLIM_INFINITY))
    blob = b"large" * 400_000
    try:
        store.put_blob(blob)
    except StoreError as error:
        say(str(error).replace("\n", " "))
    say(store.has_blob(digest_bytes(blob)))
    say(store.get("size", "before"))


def read_only(factory: Factory, runs: Path) -> None:
    """Stores, makes the file system read-only, prints what can be read and the errors of a put and a claim."""
    child = os.fork()
    if child == 0:  # a process of its own, which ends: what it stored is then settled
        store = factory(runs)
        store.put("ro", "key", b"value")
        store.put_blob(b"blob")
        close = getattr(store, "close", None)
        if close is not None:
            close()
        os._exit(0)
    os.waitpid(child, 0)
    subprocess.run(["mount", "-o", "remount,ro", str(runs)], check=True)
    store = factory(runs)
    say(store.get("ro", "key"))
    say(store.open_blob(digest_bytes(b"blob")).read())
    say([key for key, _ in store.scan("ro")])
    attempts: tuple[Callable[[], object], ...] = (
        lambda: store.put("ro", "other", b"value"),
        lambda: store.claim("key").__enter__(),
    )
    for attempt in attempts:
        try:
            say(attempt())
        except Harness2Error as error:
            say(f"{type(error).__name__}: {error}".replace("\n", " "))
