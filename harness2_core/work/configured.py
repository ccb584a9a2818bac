"""How an agent was set up, as a digest for the record: alike for all runs of one configuration, on every machine.

`Substrate.install` is pure, so it is asked once more with constants in the place of everything that is of one request
or one machine: the harness, the prompt, places, the endpoint's address and its keys. What is left is what the agent is
told by its configuration files, its arguments and its environment.
"""

from __future__ import annotations

from pathlib import Path
from typing import Final

from harness2_core.api.substrates import Substrate
from harness2_core.model.canonical import Digest, canonical, digest_bytes
from harness2_core.model.channel import Channel
from harness2_core.model.frozen import FrozenMap
from harness2_core.model.process import Endpoint, Install, Place
from harness2_core.model.tree import HarnessTree

from .rewriting import Rewriter
from .site import HOME, OUTPUT, TEMP, WORKSPACE

_PLACE: Final = Place(WORKSPACE, HOME, f"{WORKSPACE}/{OUTPUT}", TEMP)
_URL: Final = "http://endpoint.invalid/v1"
_KEY: Final = "one-run-key"


def config_digest(agent: Substrate, channel: Channel, endpoint: Endpoint) -> Digest:
    """Of what `agent` is told on `channel`; of `endpoint` it only counts what there is of it."""
    constant = Endpoint(
        _URL if endpoint.url else "", _KEY if endpoint.key else "", FrozenMap(dict.fromkeys(endpoint.env, _KEY))
    )
    surface = agent.surface
    tree = HarnessTree(FrozenMap(dict.fromkeys((*surface.required, *surface.always_on), "-\n")))
    install = agent.install(tree, "-", channel, _PLACE, constant)
    elsewhere = _without_paths(install)
    return digest_bytes(
        canonical(
            {
                "files": {path: digest_bytes(elsewhere.data(data)) for path, data in install.files.items()},
                "home": {path: digest_bytes(elsewhere.data(data)) for path, data in install.home.items()},
                "argv": [elsewhere.text(text) for text in install.argv],
                "env": {name: elsewhere.text(text) for name, text in install.env.items()},
                "stdin": digest_bytes(elsewhere.data(install.stdin)),
            }
        )
    )


def _without_paths(install: Install) -> Rewriter:
    """Where programs lie on this machine is no configuration: their names stay."""
    texts = {str(path): f"/reads/{path.name}" for path in install.reads if path != Path("/")}
    program = install.argv[0] if install.argv else ""
    if Path(program).is_absolute():
        texts[program] = f"/program/{Path(program).name}"
    return Rewriter(texts)
