"""The worker's `Context`: what plugin code is lent while one request runs, and what that took.

Programs of one request run one after the other: a request is one slot. Keys that an endpoint gave are struck from
everything that is captured.
"""

from __future__ import annotations

import re
import threading
from collections.abc import Callable, Mapping
from contextlib import ExitStack
from pathlib import Path
from types import TracebackType
from typing import Final

from attrs import evolve

from harness2_core import __version__
from harness2_core.api.substrates import RemoteAgent, Substrate, TellsVersion
from harness2_core.model.assignment import Assignment
from harness2_core.model.bench import BenchSpec
from harness2_core.model.canonical import Digest
from harness2_core.model.channel import NO_MODEL, Channel, Usage
from harness2_core.model.errors import ConfigError, PluginError
from harness2_core.model.prices import Price
from harness2_core.model.process import Endpoint, Exit, Install, Place

from .bridging import bridges, constant_addresses, inside, needs_bridge
from .configured import config_digest
from .network import stricter, with_model
from .providers import Providers
from .rewriting import Rewriter
from .site import Site
from .spawn import Bounds, Launch, spawn

KEY_MARK: Final = "[key withheld]"
_SECRET: Final = re.compile(r"KEY|TOKEN|SECRET|PASSW", re.IGNORECASE)


class WorkerContext:
    """Implements `api.Context`. Closing it gives the endpoints back."""

    def __init__(
        self,
        key: Digest,
        role: str,
        channel: Channel,
        site: Site,
        providers: Providers,
        bounds: Bounds,
        cancelled: Callable[[], bool],
        *,
        price: Price | None = None,
        locked: tuple[str, ...] = (),
        opened: tuple[str, ...] = (),
    ) -> None:
        self._key = key
        self._role = role
        self._channel = channel
        self._price = price
        self._site = site
        self._providers = providers
        self._bounds = bounds
        self._cancelled = cancelled
        self._locked = locked
        self._opened = opened
        self._stack = ExitStack()
        self._endpoints: dict[Channel, Endpoint] = {}
        self._exits: list[Exit] = []
        self._written: dict[Path, frozenset[str]] = {}
        self._versions: dict[str, str] = {}
        self._agents: dict[str, Substrate] = {}
        self._told: Usage | None = None
        self._running = threading.Lock()

    def __enter__(self) -> WorkerContext:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._stack.__exit__(kind, error, trace)

    # -- what plugins use

    @property
    def key(self) -> Digest:
        return self._key

    @property
    def scratch(self) -> Path:
        return self._site.scratch

    def place(self, cwd: Path) -> Place:
        place = self._site.place(cwd, sandboxed=self._providers.sandbox is not None)
        return evolve(place, network=self._bounds.network)

    def spawn(self, install: Install, cwd: Path, limit_seconds: int) -> Exit:
        is_workspace = cwd == self._site.workspace
        with self._running:
            launch = Launch(
                install,
                cwd,
                limit_seconds,
                self._site.streams / f"{len(self._exits) + 1:04d}",
                self._bounds,
                {name: value for endpoint in self._lent().values() for name, value in endpoint.env.items()},
                self._locked if is_workspace else (),
                self._opened if is_workspace else (),
                self._written.get(cwd, frozenset()),
                bridges(self._endpoints.values()) if self._is_cut_off else (),
            )
            ended = spawn(launch, self._site, self._providers.sandbox, self._cancelled)
            self._written[cwd] = launch.ours | set(install.files)
            self._exits.append(ended)
        return ended

    def substrate(self, name: str) -> Substrate:
        made = self._providers.substrate(name)
        if isinstance(made, RemoteAgent) and not isinstance(made, Substrate):
            raise ConfigError(
                f"the substrate {name!r} is an agent behind a service, where a local one is needed",
                "choose a substrate that runs here",
            )
        self._note_version(name, made)
        self._agents[name] = made
        return made

    def endpoint(self, channel: Channel, *, own: bool = False) -> Endpoint:
        known = self._endpoints.get(channel)
        if known is None:
            known = self._stack.enter_context(self._providers.access.open(channel, self._key, self._role))
            self._endpoints[channel] = known
        return known if own else self._lent()[channel]

    def cancelled(self) -> bool:
        return self._cancelled()

    # -- what the worker reads afterwards

    @property
    def site(self) -> Site:
        return self._site

    @property
    def providers(self) -> Providers:
        return self._providers

    def rewriter(self) -> Rewriter:
        """For everything captured from now on: real paths, ports and lent keys go out."""
        secrets = [endpoint.key for endpoint in self._endpoints.values()]
        for endpoint in self._endpoints.values():
            secrets += [value for name, value in endpoint.env.items() if _SECRET.search(name)]
        addresses = constant_addresses(self._endpoints.values())
        return Rewriter({**self._site.constants(), **addresses, **dict.fromkeys(secrets, KEY_MARK)})

    def tell(self, usage: Usage) -> None:
        """What the agent says it cost, as soon as it is known: whatever fails afterwards, the price is not lost."""
        self._told = usage

    @property
    def began(self) -> bool:
        """Whether anything ran or was lent that may have a price."""
        return bool(self._exits or self._endpoints or self._told)

    def usage(self, said: Usage | None = None, request: Digest = "") -> Usage:
        """The best that is known: the gateway's word, else the agent's, else nothing when no model was lent.

        At the stated price of the model, where there is one: it knows better than either what tokens cost here.

        Its time is that of the programs run here, as far as there were any.
        """
        seen = self._providers.access.usage(request or self._key)
        best = self.stated(seen or said or self._told or (Usage() if self._endpoints else NO_MODEL))
        took = sum(ended.usage.elapsed_ms for ended in self._exits)
        return evolve(best, elapsed_ms=took) if took and request in ("", self._key) else best

    def stated(self, usage: Usage) -> Usage:
        """`usage` at the price that the configuration states for the model, if it states one."""
        return usage if self._price is None else self._price.of(usage)

    def versions(self) -> Mapping[str, str]:
        """Versions, how agents were set up, and confinement in force, for the record."""
        limits = sorted({ended.usage.limits for ended in self._exits})
        network = self._bounds.network if self._providers.sandbox is not None else "open"
        in_force = {"limits": "+".join(limits), "network": network} if limits else {}
        own = {"core": __version__, "sandbox": self._providers.sandbox_name}
        bound = {"model": self._channel.model, "effort": self._channel.effort}
        told = {name: value for name, value in bound.items() if value}
        configs = {f"config.{name}": self._config(agent) for name, agent in self._agents.items()}
        return {**self._providers.versions, **own, **in_force, **told, **self._versions, **configs}

    def _config(self, agent: Substrate) -> str:
        try:
            return config_digest(agent, self._channel, self._endpoints.get(self._channel, Endpoint()))
        except Exception as error:  # what ran was paid for: no reason to throw it away
            return f"untold: {type(error).__name__}"

    @property
    def _is_cut_off(self) -> bool:
        """Whether programs here reach nothing of this machine but what is bridged in."""
        return self._providers.sandbox is not None and needs_bridge(self._bounds.network)

    def _lent(self) -> Mapping[Channel, Endpoint]:
        """The endpoints as programs reach them. One without address and key is nothing that has to be reached."""
        if not self._is_cut_off:
            return self._endpoints
        granted = bridges(self._endpoints.values())
        return {
            channel: inside(known, granted) if known.url or known.key else known
            for channel, known in self._endpoints.items()
        }

    def _note_version(self, name: str, made: object) -> None:
        if isinstance(made, TellsVersion):
            try:
                self._versions[f"agent.{name}"] = made.version()
            except Exception as error:
                raise PluginError(
                    f"substrate {name!r} could not tell its version: {type(error).__name__}: {error}",
                    "see that its agent is installed",
                ) from error


def bounds_of(spec: BenchSpec, channel: Channel, work: Assignment) -> Bounds:
    """What programs of a request are held to; an agent with a model reaches it unless the configuration says none."""
    promised = with_model(spec.network) if channel.model else spec.network
    return Bounds(stricter(promised, work.network), work.memory_mb, work.processes, work.disk_mb)
