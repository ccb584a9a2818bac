"""From configuration and installed plugins to a study: everything is made, checked and written down before any work.

Nothing here is paid for. What cannot work is an error now, with the way out.
"""

from __future__ import annotations

from collections.abc import Collection

from harness2_core import HOME
from harness2_core.api.adapters import Adapter, OrdersDomains
from harness2_core.api.substrates import RemoteAgent, ShipsBase, Substrate, TellsVersion
from harness2_core.model.canonical import Digest, canonical, digest_bytes
from harness2_core.model.errors import ConfigError
from harness2_core.model.identity import SHARED, Experiment
from harness2_core.model.namespace import Namespace
from harness2_core.model.serial import plain
from harness2_core.model.stream import chosen_tasks, ordered_domains
from harness2_core.model.surface import Surface
from harness2_core.model.surface_rules import problems
from harness2_core.model.tree import HarnessTree
from harness2_core.plugins import facade
from harness2_core.plugins.config import Config
from harness2_core.plugins.provider_settings import check_tables, settings_of
from harness2_core.plugins.registry import Registry
from harness2_core.plugins.run_settings import library_settings, run_settings
from harness2_core.work.material import material
from harness2_core.work.trees import put_tree

from .archive import Archive
from .binding import agents_driven, assignment_of, identified, identity_of, recorded_of, roles_of
from .experiment import begin, config_path
from .guard import grader_digests
from .modes import modes_of
from .naming import Names, names_of
from .slots import Limits
from .splits import tasks_of
from .study import Study
from .words import words_of_tasks


def study_of(config: Config, registry: Registry, *, dry: bool = False, reading: bool = False) -> Study:
    """The study that the configuration describes. `dry`: nothing of the experiment is written down.

    `reading`, for those who look at what was done: dry, and what was recorded counts, whatever has changed since. A
    model named on the command line of `run` need not be named again to see what it did.
    """
    run = run_settings(config)
    check_tables(registry, config)
    names, notes = names_of(config, registry)
    store = facade.store(registry, names.store, settings_of(registry, config, "store", names.store), run.runs)
    archive = Archive(store)
    adapter = facade.adapter(registry, names.adapter, settings_of(registry, config, "adapter", names.adapter))
    agent = facade.substrate(registry, names.substrate, settings_of(registry, config, "substrate", names.substrate))
    spec = adapter.spec
    surface = agent.surface.extended(reserved_scripts=spec.reserved_scripts, sub_agents=spec.sub_agents)
    base = _base(adapter, agent, surface, names)
    templates, modes = modes_of(
        config, registry, names.modes, run.k, spec.words, surface, run.templates, reading=reading
    )
    home = Namespace(spec.name, names.token, HOME, run.k, run.seed, run.tag)
    roles = roles_of(config, registry, names, store)
    path = config_path(run.runs, home)
    tasks_wanted = tasks_of(adapter, run.split, run.split_file)
    cards = {task: material(store, adapter, task, spec.name) for task in sorted(set(tasks_wanted))}

    def digests(tasks: Collection[str]) -> dict[str, Digest]:
        """Of tasks that other runs of the experiment brought."""
        if tasks:
            known = set(tasks) & set(adapter.tasks("all"))
            cards.update({task: material(store, adapter, task, spec.name) for task in sorted(known)})
        return {task: cards[task].digest for task in tasks if task in cards}

    experiment = Experiment(
        bench=spec.name,
        substrate=names.token,
        k=run.k,
        seed=run.seed,
        channels={role: bound.channel for role, bound in roles.items()},
        providers={role: bound.provider for role, bound in roles.items()},
        plans={token: part.plan.digest for token, part in modes.items()},
        surface=surface.digest,
        selector=identified(config, registry, "selector", names.selector, store),
        reflector=identified(config, registry, "reflector", names.reflector, store),
        base_tree=put_tree(store, base),
        templates={SHARED: templates.digest} | {token: part.templates.digest for token, part in modes.items()},
        stream={},
        tasks={task: card.digest for task, card in cards.items()},
        adapter=identity_of(config, registry, "adapter", names.adapter, store) | {"spec": _spec_digest(adapter)},
        library={"max_harnesses": str(library_settings(config).max_harnesses)},
        extra=run.extra,
        pool=run.pool,
        recorded=recorded_of(config, registry, names)
        | ({} if dry or reading else _version_of(agent) | agents_driven(config, registry, names)),
    )
    wanted: dict[str, set[str]] = {}
    for task in tasks_wanted:
        wanted.setdefault(cards[task].domain, set()).add(task)
    if not wanted:
        raise ConfigError(f"{spec.name} has no tasks in split {run.split!r}", "check the adapter's settings")
    joined, more = begin(
        store,
        path,
        home,
        experiment,
        strict=run.strict,
        wanted=wanted,
        digests=digests,
        write=not (dry or reading),
        reading=reading,
    )
    order = ordered_domains(
        {domain: len(tasks) for domain, tasks in joined.stream.items()},
        run.seed,
        adapter.domain_order() if isinstance(adapter, OrdersDomains) else None,
    )
    return Study(
        home=home,
        runs=run.runs,
        adapter=adapter,
        spec=spec,
        surface=surface,
        base=archive.tree(joined.base_tree) if reading else base,
        base_digest=joined.base_tree,
        store=store,
        archive=archive,
        roles=roles,
        modes=modes,
        selector=facade.selector(registry, names.selector, settings_of(registry, config, "selector", names.selector)),
        reflector=facade.reflector(
            registry, names.reflector, settings_of(registry, config, "reflector", names.reflector)
        ),
        names={"selector": names.selector, "reflector": names.reflector, "engine": names.engine},
        max_harnesses=library_settings(config).max_harnesses,
        pool=run.pool,
        experiment=joined,
        cards=cards,
        stream={domain: joined.stream[domain] for domain in order},
        chosen=chosen_tasks(
            {domain: [t for t in joined.stream[domain] if t in wanted.get(domain, ())] for domain in order},
            only_domains=run.only_domains,
            only_tasks=run.only_tasks,
            max_tasks=run.max_tasks or 0,
        ),
        words=words_of_tasks(adapter),
        grader=grader_digests(store, adapter),
        limits=Limits(
            run.slots,
            {"rollout": run.rollouts, "session": run.sessions},
            {model: int(count) for model, count in run.model_slots.items()},
        ),
        lookahead=run.lookahead,
        work=assignment_of(config, registry, names, roles, store),
        notes=more if reading else (*notes, *more),
    )


def _version_of(agent: object) -> dict[str, str]:
    """Of the program that the substrate drives, where it tells one."""
    return {"agent": agent.version()} if isinstance(agent, TellsVersion) else {}


def _base(adapter: Adapter, agent: Substrate | RemoteAgent, surface: Surface, names: Names) -> HarnessTree:
    base = adapter.base_tree(agent.surface)
    if base is None and isinstance(agent, ShipsBase):
        base = agent.base_tree()
    if base is None:
        raise ConfigError(
            f"neither {names.adapter} nor {names.substrate} has a base harness for the surface {agent.surface.name!r}",
            f"put one where {names.adapter} takes it from: `harness2 plugins show {names.adapter}`",
        )
    found = problems(surface, base)
    if found:
        raise ConfigError(
            f"the base harness of {names.adapter} does not fit the surface of {names.substrate}: " + "; ".join(found),
            "mend the base harness",
        )
    return base


def _spec_digest(adapter: Adapter) -> str:
    return digest_bytes(canonical(plain(adapter.spec)))
