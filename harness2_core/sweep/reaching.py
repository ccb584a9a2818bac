"""Whether the roles of a run reach their models: by the access in use, out of the sandbox, and asked for one token."""

from __future__ import annotations

from collections.abc import Iterator

from attrs import frozen

from harness2_core.api.runtime import ModelAccess
from harness2_core.api.sessions import DrivesAgent
from harness2_core.api.substrates import SpeaksProtocol, Substrate
from harness2_core.model.canonical import digest_bytes
from harness2_core.model.channel import Channel
from harness2_core.model.errors import Harness2Error
from harness2_core.work.bridging import bridges, inside, needs_bridge
from harness2_core.work.network import stricter, with_model

from .probing import probe


@frozen
class Speaker:
    """Who asks the model of a role: a substrate, a proposer, or the substrate that a proposer drives."""

    role: str
    channel: Channel
    provider: object
    """The proposer itself, where one drives a substrate; else the same as `agent`."""
    agent: object

    @property
    def runs_programs(self) -> bool:
        """Whether programs in the sandbox ask, instead of code of the worker."""
        return isinstance(self.agent, Substrate) and (self.agent is self.provider or self.drives)

    @property
    def drives(self) -> bool:
        return isinstance(self.provider, DrivesAgent)


def network_of(promised: str, allowed: str) -> str:
    """What programs of a role with a model are granted."""
    return stricter(with_model(promised), allowed)


def unreached(access: ModelAccess, speaker: Speaker, network: str, *, confined: bool, offline: bool) -> Iterator[str]:
    """Why `speaker` would not reach its model, with the remedy. `offline`: without asking it."""
    role, channel = speaker.role, speaker.channel
    try:
        with access.open(channel, digest_bytes(f"check of the {role}".encode()), role) as endpoint:
            is_meant = bool(endpoint.url or endpoint.key)
            if is_meant and confined and speaker.runs_programs:
                if network == "none":
                    yield f'the {role}\'s programs reach no model with network = "none" under [run]; set it to "model"'
                elif needs_bridge(network):
                    inside(endpoint, bridges((endpoint,)))
            if isinstance(speaker.agent, SpeaksProtocol):
                if not is_meant:
                    yield f"the {role} has a model and no address for it; set `url` under [roles.{role}.options]"
                elif endpoint.url and not offline:
                    url = channel.options.get("url", "")
                    told = probe(endpoint, channel.model, speaker.agent.protocol, role, url=url)
                    if told:
                        yield told
    except Harness2Error as error:
        yield f"{role}: {error.what}; {error.remedy}" if error.remedy else f"{role}: {error.what}"
