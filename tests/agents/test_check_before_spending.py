"""What would fail later is found before anything is paid: by `check`, which `run` does first, with real agents."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from harness2_core.testing.raw_endpoint import RawEndpoint, saying, whole

pytestmark = [pytest.mark.agent, pytest.mark.process, pytest.mark.together]


def test_what_is_ready_is_told_with_the_agents_version_and_the_model_is_asked_for_one_token(stage: Any) -> None:
    said = stage.harness2("check", "--json")

    assert said.code == 0, said.out
    facts = said.json["facts"]
    assert stage.version in facts["agent"]
    assert facts["agent tested"].startswith("with ")
    assert facts["sandbox"] == "bubblewrap"
    assert facts["network"] == "model"
    assert facts["model scripted"] == "answers"
    assert (stage.server.probed, stage.server.asked) == (1, ())


def test_all_that_is_missing_here_is_told_at_once_and_nothing_is_asked(stage: Any, tmp_path: Path) -> None:
    blocked = tmp_path / "a-file"
    blocked.write_text("")
    del stage.env[stage.key_variable]
    agent = stage.agent.name

    said = stage.harness2(
        "run",
        *("--plain", "--runs", str(blocked / "runs")),
        *("-o", f"substrates.{agent}.binary={tmp_path / 'nowhere'}"),
        *("-o", f"sandboxes.bubblewrap.binary={tmp_path / 'no-bwrap'}"),
    )

    assert said.code == 1
    assert f"substrates.{agent}.binary is {tmp_path / 'nowhere'}, which does not exist" in said.err
    assert "bwrap" in said.err
    assert stage.key_variable in said.err
    assert "cannot be written" in said.err
    assert (stage.server.probed, stage.server.asked) == (0, ())


def test_an_agent_that_is_too_old_and_a_disk_that_is_too_full_are_told(stage: Any, tmp_path: Path) -> None:
    old = tmp_path / "old"
    old.write_text("#!/bin/sh\necho 0.1.0\n")
    old.chmod(0o755)

    said = stage.harness2(
        "check", "-o", f"substrates.{stage.agent.name}.binary={old}", "-o", f"run.min_free_mb={1 << 40}"
    )

    assert said.code == 1
    assert "0.1.0, and versions before" in said.out
    assert f"`harness2 setup {stage.agent.name}`" in said.out
    assert "min_free_mb" in said.out
    assert stage.server.probed == 0


def test_a_model_that_cannot_be_had_is_told_with_what_to_mend(stage: Any) -> None:
    stage.configure(address="http://127.0.0.1:9")
    unreached = stage.harness2("run", "--plain")
    assert (unreached.code, "is not reached" in unreached.err) == (1, True), unreached.err

    stage.configure()
    refused = stage.harness2("run", "--plain", env={stage.key_variable: "a-key-of-somebody-else"})
    assert refused.code == 1
    assert "refuses the key" in refused.err
    assert "key_variable" in refused.err

    with RawEndpoint(saying(whole(b'{"error": {"message": "no such model"}}', status=b"404 Not Found"))) as endpoint:
        stage.configure(address=endpoint.url)
        missing = stage.harness2("run", "--plain")
    assert missing.code == 1
    assert "the executor's model 'scripted'" in missing.err
    assert "is not offered there" in missing.err

    assert stage.server.asked == ()
    assert not stage.begun
