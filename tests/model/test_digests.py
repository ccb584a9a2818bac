"""Golden digests: the identity of work that is already in people's stores.

A red test here means that resumed sweeps would pay for everything again. A new field needs a default that keeps the
digest; a default of an identity field never changes.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from harness2_core.model.bench import TaskCard
from harness2_core.model.channel import Channel
from harness2_core.model.manifest import Manifest, blob_entry
from harness2_core.model.plan import Plan, Roll, Stage
from harness2_core.model.requests import GradeRequest, RolloutRequest, SessionRequest, request_digest
from harness2_core.model.surface import Allowed, Surface
from harness2_core.model.templates import Templates
from harness2_core.model.tree import HarnessTree


def digests(*, backwards: bool = False) -> dict[str, str]:
    """One digest of each kind; `backwards` builds every mapping in the other order."""

    def mapping(*items: tuple[str, str]) -> dict[str, str]:
        return dict(reversed(items) if backwards else items)

    tree = HarnessTree(mapping(("AGENTS.md", "Work.\n"), ("scripts/é.py", "#!/usr/bin/env python\n"), ("z/b", "")))
    inner = Manifest({"note.md": blob_entry(b"text")})
    files = mapping(("task.md", "do it"), ("source/ü.csv", "1;2"), ("source/b", ""))
    manifest = Manifest({"inner/": inner.entry(), **{path: blob_entry(text.encode()) for path, text in files.items()}})
    card = TaskCard("ledgers", "giro/7", "bank", manifest.digest, ("totals.csv",), 600)
    channel = Channel("m-1", "high", 120, 1800, mapping(("temperature", "0"), ("seed", "7")))
    settings = mapping(("python", "3.11"), ("args", "x"))
    home = "ledgers-py-agg2-s7-try"
    rollout = RolloutRequest(
        "ledgers", "giro/7", card.digest, "py", tree.fingerprint, channel, settings, f"{home}/giro/7/base1"
    )
    session = SessionRequest(
        bench="ledgers",
        task="giro/7",
        task_digest=card.digest,
        substrate="py",
        role="improver",
        kind="inv",
        proposer="scripted",
        channel=Channel(),
        settings=settings,
        mission="Improve it.\n",
        evidence=manifest.digest,
        editable=tree.manifest().digest,
        draw=f"{home}/giro/7/inv1.fix",
    )
    grade = GradeRequest(
        "ledgers", "giro/7", card.digest, request_digest(rollout), inner.digest, "checks", Channel(), settings
    )
    surface = Surface(
        name="py",
        always_on=("AGENTS.md",),
        cap_chars=8_000,
        allowed=(
            Allowed("script", "scripts/<script>.py", "a program", "none"),
            Allowed("skill", "skills/<name>/SKILL.md"),
        ),
        required=("AGENTS.md",),
        trigger_file="AGENTS.md",
        reserved_scripts=("read_doc.py",),
    )
    plan = Plan(
        (
            Stage("inv1", "inv", "base", ("base1", "base2"), index=1, of=2),
            Roll("inv1", "inv1"),
            Stage("agg1", "agg", "inv1", ("base1",), ("inv1",), ("inv1",)),
            Roll("agg1", "agg1"),
        ),
        ("agg1",),
        rollouts=4,
        sessions=2,
    )
    return {
        "tree": tree.fingerprint,
        "manifest": manifest.digest,
        "task": card.digest,
        "rollout": request_digest(rollout),
        "session": request_digest(session),
        "grade": request_digest(grade),
        "surface": surface.digest,
        "plan": plan.digest,
        "templates": Templates(mapping(("inv", "{# version: 1 #}\nImprove."), ("select", "Choose."))).digest,
    }


GOLDEN = {
    "tree": "2b2dd9c4246a37bd57f8da78fa0c174eb71f691a796fff8bee0d272aebcea7b3",
    "manifest": "0dc853d2110b0f3c95c8a3b93032dc49ef815c45860c31de505a93583bc90199",
    "task": "c9915ce8bdbb751e08d874e2f4d5ca7605d06fc52d4a1eb585405f0a209b8cd7",
    "rollout": "fae21df4f5890a253f429d1e26389b27df7e52fd0bf108f94e1b61521a922c3b",
    "session": "c7c4ff2deb1f51b59cc367206818a15af03d75aa607b590e4f4a18391ad4652d",
    "grade": "ce04c471e9dcc8e13f2e3fcc444ae2ccf531491002ffaa15a24e97b46dc4ba75",
    "surface": "6fb5cddad623fd2cc40e742605d1480d45d0c8ab37170edbc3601d76ead83d21",
    "plan": "0cb3a78337182a95762f57abb066ead00b84b0b6c926c3031aaad0e9eddc80c3",
    "templates": "f7b1eb1ba7dc3141c10406d149f6238cb436e2eccc6677a95bb53a8af5ae7a65",
}


@pytest.mark.parametrize("kind", sorted(GOLDEN))
def test_the_identity_of_work_in_old_stores_stays(kind: str) -> None:
    assert digests()[kind] == GOLDEN[kind]


def test_every_kind_of_digest_is_held() -> None:
    assert set(GOLDEN) == set(digests())


def test_no_digest_depends_on_the_order_in_which_a_value_was_built() -> None:
    assert digests(backwards=True) == digests()


@pytest.mark.process
@pytest.mark.parametrize(
    "environment",
    [
        {"PYTHONHASHSEED": "0"},
        {"PYTHONHASHSEED": "4242", "LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"},
        {"PYTHONHASHSEED": "1", "LC_ALL": "C.UTF-8", "PYTHONUTF8": "1", "TZ": "Asia/Kathmandu"},
        {"PYTHONHASHSEED": "2", "LANG": "tr_TR.UTF-8", "PYTHONIOENCODING": "latin-1"},
    ],
    ids=["hash-seed-0", "c-locale", "utf8-mode", "another-locale"],
)
def test_no_digest_depends_on_hash_seed_locale_or_time_zone(environment: dict[str, str]) -> None:
    kept = {key: value for key, value in os.environ.items() if not key.startswith(("LC_", "LANG", "PYTHON", "TZ"))}
    program = f"import runpy; print(runpy.run_path({str(Path(__file__))!r})['digests'](backwards=True))"
    done = subprocess.run(
        [sys.executable, "-c", program], env={**kept, **environment}, capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == str(digests())
