"""What would fail later, found before anything is paid: `check`, which `run` always does first.

Everything that is wrong is told at once: a person who mends one thing should not learn of the next a minute later.
Nothing is paid but one token of each model, and that only when nothing else is wrong and `--offline` was not said.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import partial
from typing import TypeVar

from attrs import define, field, frozen

from harness2_core import __version__
from harness2_core.api.adapters import Adapter, Preflights
from harness2_core.api.runtime import ChecksChannels, Engine, ModelAccess, Sandbox, Store
from harness2_core.api.sessions import DrivesAgent
from harness2_core.api.substrates import SetsUp, SpeaksProtocol, Substrate, TellsVersion
from harness2_core.model.channel import Channel
from harness2_core.model.errors import ConfigError, Harness2Error, StoreError
from harness2_core.model.nearest import near
from harness2_core.model.process import Place, Policy
from harness2_core.plugins import facade
from harness2_core.plugins.config import Config
from harness2_core.plugins.loading import blaming
from harness2_core.plugins.provider_settings import check_tables, settings_of
from harness2_core.plugins.registry import Registry
from harness2_core.plugins.run_settings import (
    RoleSettings,
    RunSettings,
    library_settings,
    prices_of,
    role_settings,
    run_settings,
    substrate_of,
)
from harness2_core.work.network import stricter, with_model
from harness2_core.work.process import limits_in_force

from .judges import judge_of
from .reaching import Speaker, network_of, unreached
from .room import room_problems
from .setup import study_of

T = TypeVar("T")


@frozen
class Readiness:
    """`problems` keep a run from starting, each with its remedy. `facts` and `notes` are good to know before it."""

    problems: tuple[str, ...] = ()
    facts: Mapping[str, str] = field(factory=dict)
    notes: tuple[str, ...] = ()

    @property
    def ready(self) -> bool:
        return not self.problems


def check_study(config: Config, registry: Registry) -> None:
    """Asks every provider that takes part; raises one `ConfigError` with all their answers."""
    found = readiness(config, registry, study=False).problems
    if found:
        raise ConfigError(
            "not ready:\n" + "\n".join(f"  - {problem}" for problem in found), "mend these, then run again"
        )


def readiness(config: Config, registry: Registry, *, study: bool = True) -> Readiness:
    """Every answer of every part. With `study`, the experiment is set up too, dry: its tasks, texts and identity."""
    check = _Check(config, registry)
    check.tried(lambda: check_tables(registry, config))
    check.tried(lambda: library_settings(config))
    roles = check.tried(lambda: role_settings(config))
    run = check.tried(lambda: run_settings(config))
    prices = check.tried(lambda: prices_of(config))
    if roles is not None:
        check.unused("prices", prices or (), [bound.model for bound in roles.values()])
    if roles is not None and run is not None:
        check.unused("run.model_slots", run.model_slots, [bound.model for bound in roles.values()])
    if run is not None and roles is not None:
        check.parts(run, roles)
        if study and not check.problems:
            check.experiment()
    return Readiness(tuple(dict.fromkeys(check.problems)), check.facts, tuple(check.notes))


@define
class _Check:
    """What has been found so far."""

    config: Config
    registry: Registry
    problems: list[str] = field(factory=list)
    facts: dict[str, str] = field(factory=dict)
    notes: list[str] = field(factory=list)

    def tried(self, make: Callable[[], T], label: str = "") -> T | None:
        """What `make` returns; `None` when it failed, which is kept."""
        try:
            return make()
        except Harness2Error as error:
            told = f"{error.what}; {error.remedy}" if error.remedy else error.what
            self.problems.append(f"{label}: {told}" if label else told)
            return None

    def asked(self, kind: str, name: str, make: Callable[[], T], doing: str) -> T | None:
        """As `tried`, of what a plugin does: whatever it raises is kept, with the plugin's name."""

        def made() -> T:
            with blaming(self.registry.find(kind, name), doing):
                return make()

        return self.tried(made)

    def parts(self, run: RunSettings, roles: Mapping[str, RoleSettings]) -> None:
        """Makes every part that takes part, asks each for its own findings, and notes which version it is."""
        self.facts["core"] = f"harness2-core {__version__}"
        adapter = self.made("adapter", run.bench)
        agent = self.made("substrate", substrate_of(run, roles))
        self.version("agent", agent)
        speakers = [Speaker("executor", roles["executor"].channel, agent, agent)]
        speakers += self.proposers(roles, substrate_of(run, roles))
        for name in run.modes or ("",):
            self.made("mode", name)
        self.made("selector", run.selector)
        self.made("reflector", run.reflector)
        engine = self.made("engine", run.engine)
        if isinstance(engine, Engine):
            engine.close()
        judge = self.judge()
        speakers.append(Speaker("judge", roles["judge"].channel, judge, judge))
        self.store(run)
        self.problems += room_problems(run.runs, run.min_free_mb)
        promised = adapter.spec.network if isinstance(adapter, Adapter) else "none"
        confined = self.sandbox(run, promised, roles["executor"].model)
        access = self.made("access", run.access)
        self.facts["limits"] = _limits(run)
        self.facts["network"] = _network(run, promised, roles["executor"].model) if adapter is not None else ""
        for extra in self.tried(lambda: facade.extras(self.registry, run.extra)) or ():
            self.problems += [f"{extra.name}: {told}" for told in self.tried(extra.preflight) or ()]
        if isinstance(access, ModelAccess):
            name = self.registry.default("access", run.access)
            open_ = self.channels(access, name, roles)
            self.models(
                access, name, [item for item in speakers if item.channel in open_], run, promised, confined=confined
            )

    def proposers(self, roles: Mapping[str, RoleSettings], own: str) -> Iterator[Speaker]:
        """Who speaks for the roles of sessions; `own` is the run's substrate."""
        made: dict[str, tuple[object, object]] = {}
        for role in ("improver", "selector", "reflector"):
            name = roles[role].provider
            if name not in made:
                proposer = self.made("proposer", name)
                made[name] = (proposer, self.driven(proposer, own) if isinstance(proposer, DrivesAgent) else proposer)
            yield Speaker(role, roles[role].channel, *made[name])

    def channels(self, access: object, name: str, roles: Mapping[str, RoleSettings]) -> frozenset[Channel]:
        """Those that can be opened, as far as the access tells."""
        asked = {bound.channel: role for role, bound in reversed([*roles.items()])}  # once, for its first role
        closed = set()
        if isinstance(access, ChecksChannels):
            for channel, role in asked.items():
                problems = partial(access.channel_problems, channel, role)
                if found := self.asked("access", name, problems, "its `channel_problems`"):
                    self.problems += found
                    closed.add(channel)
        return frozenset(asked) - closed

    def made(self, kind: str, configured: str) -> object | None:
        """The part that plays `kind`, after asking it what would fail."""
        name = self.tried(lambda: self.registry.default(kind, configured))
        if name is None:
            return None
        label = f"{kind} {self.registry.find(kind, name).name}"
        self.facts[label] = self.registry.version_of(kind, name)
        settings = self.settings(kind, name)
        part = None if settings is _FAILED else self.tried(lambda: _MAKERS[kind](self.registry, name, settings), label)
        if isinstance(part, Preflights):
            self.problems += [f"{label}: {told}" for told in self.preflight(kind, name, part)]
        return part

    def version(self, label: str, agent: object) -> None:
        """Of the agent itself, beside the one that is tested."""
        if isinstance(agent, TellsVersion):
            version = self.tried(agent.version, f"the version of the {label}")
            self.facts[label] = version or "does not tell its version"
        if isinstance(agent, SetsUp):
            self.facts[f"{label} tested"] = f"with {agent.tested_version}"

    def models(
        self,
        access: ModelAccess,
        name: str,
        speakers: Iterable[Speaker],
        run: RunSettings,
        promised: str,
        *,
        confined: bool,
    ) -> None:
        """Each model once in each protocol; without asking it unless nothing else is wrong: that costs a token."""
        offline, network = run.offline or bool(self.problems), network_of(promised, run.network)
        asked = set()
        for speaker in speakers:
            model, agent = speaker.channel.model, speaker.agent
            protocol = agent.protocol if isinstance(agent, SpeaksProtocol) else ""
            key = (model, speaker.channel.options, protocol, speaker.runs_programs)
            if not model or key in asked:
                continue
            asked.add(key)
            reaching = unreached(access, speaker, network, confined=confined, offline=offline)
            found = self.asked("access", name, partial(tuple[str, ...], reaching), "its `open`")
            self.problems += found or ()
            if protocol and found == ():
                self.facts[f"model {model}"] = "not asked" if offline else "answers"

    def driven(self, proposer: DrivesAgent, own: str) -> object:
        """The substrate that runs a proposer's sessions; `own` is the run's."""
        agent = self.made("substrate", proposer.drives or own)
        if proposer.drives:
            self.version(f"agent {proposer.drives}", agent)
        if isinstance(agent, Substrate):
            why = proposer.unfit(agent)
        else:
            why = "" if agent is None else "it is an agent behind a service"
        if why:
            name = proposer.drives or own or self.registry.default("substrate")
            self.problems.append(
                f"the substrate {name} cannot run sessions: {why}; name another: substrate under [proposers.<name>]"
            )
        return agent

    def settings(self, kind: str, name: str) -> object | None:
        """As configured; `_FAILED` when they are wrong, which is kept."""
        count = len(self.problems)
        found = self.tried(lambda: settings_of(self.registry, self.config, kind, name))
        return _FAILED if len(self.problems) > count else found

    def preflight(self, kind: str, name: str, part: Preflights) -> Iterator[str]:
        yield from self.asked(kind, name, lambda: tuple(part.preflight()), "its preflight") or ()

    def unused(self, table: str, names: Iterable[str], models: Iterable[str]) -> None:
        """A price or limit that belongs to no model of a role is likely one of a misspelt model, and would be none."""
        known = tuple(dict.fromkeys(model for model in models if model))
        for name in sorted(set(names) - set(known)):
            said = near(name, known) or f"models here: {', '.join(known) or 'none is named'}"
            entry = f"[prices.{name}]" if table == "prices" else f"[{table}] {name}"
            self.notes.append(f"{entry} is used by no role; {said.rstrip('; ')}")

    def judge(self) -> object:
        name = self.tried(lambda: judge_of(self.config, self.registry))
        if name:
            return self.made("judge", name)
        if name is not None:
            self.facts["judge"] = "none is installed: what is delivered can be shown, not graded"
        return None

    def store(self, run: RunSettings) -> None:
        name = self.tried(lambda: self.registry.default("store", run.store))
        settings = None if name is None else self.settings("store", name)
        if name is None or settings is _FAILED:
            return
        store = self.tried(lambda: facade.store(self.registry, name, settings, run.runs), f"store {name}")
        if store is not None and self.tried(lambda: _written(store, run), f"store {name}"):
            self.facts["store"] = f"{name}, writable, for {run.runs}"

    def sandbox(self, run: RunSettings, promised: str, model: str) -> bool:
        """Whether there is one. `promised` is the network of the benchmark's text, `model` the executor's."""
        chosen: tuple[str, Sandbox | None, str] | None = self.tried(
            lambda: facade.choose_sandbox(
                self.registry, run.sandbox, lambda name: settings_of(self.registry, self.config, "sandbox", name)
            )
        )
        if chosen is None:
            return False
        name, _, reason = chosen
        made: object = chosen[1]
        self.facts["sandbox"] = name or f"none: agents run with your own rights ({reason})"
        if isinstance(made, Preflights):
            self.problems += [f"sandbox {name}: {told}" for told in self.preflight("sandbox", name, made)]
        if isinstance(made, Sandbox):
            network = stricter(with_model(promised) if model else promised, run.network)
            place = Place("/workspace", "/home/agent", "/workspace/output")
            self.tried(partial(made.wrap, ("true",), Policy({}, network), place), f"executors under {name}")
        return made is not None

    def experiment(self) -> None:
        study = self.tried(lambda: study_of(self.config, self.registry, dry=True))
        if study is not None:
            self.facts["experiment"] = str(study.home)
            self.facts["tasks"] = str(sum(map(len, study.chosen.values())))
            self.notes += study.notes


_FAILED = object()
"""Stands for settings that are wrong: `None` stands for a part that has none."""

_MAKERS: dict[str, Callable[[Registry, str, object | None], object]] = {
    "adapter": facade.adapter,
    "substrate": facade.substrate,
    "proposer": facade.proposer,
    "mode": facade.mode,
    "selector": facade.selector,
    "reflector": facade.reflector,
    "engine": facade.engine,
    "judge": facade.judge,
    "access": facade.access,
}


def _limits(run: RunSettings) -> str:
    wanted = [f"{run.memory_mb} MiB"] if run.memory_mb else []
    wanted += [f"{run.processes} processes"] if run.processes else []
    held = f"{' and '.join(wanted) or 'none asked for'}, held by {limits_in_force()}"
    return f"{held}; at most {run.disk_mb} MiB written" if run.disk_mb else held


def _network(run: RunSettings, promised: str, model: str) -> str:
    """What executors get, and why where that is not what the configuration says."""
    network = stricter(with_model(promised) if model else promised, run.network)
    if network == run.network:
        return network
    return f"{network} (the tasks promise {promised}, [run] allows {run.network}: the stricter counts)"


def _written(store: Store, run: RunSettings) -> bool:
    """Writes the empty blob, which every store may have, and takes a claim."""
    digest = store.put_blob(b"")
    with store.claim("check"):
        if not store.has_blob(digest):
            raise StoreError(f"what is written for {run.runs} is not there afterwards", "choose another store")
    return True
