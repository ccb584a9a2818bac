"""Core's own tables: `[run]`, `[roles.<role>]`, `[prices.<model>]` and `[library]`.

They are settings classes like any provider's.
"""

# ruff: noqa: RUF009  (`_setting` is attrs' `field` with its help; the linter knows only `field` itself)

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final, Literal

from attrs import evolve, field, frozen

from harness2_core.model.bench import NETWORKS
from harness2_core.model.channel import Channel
from harness2_core.model.check import Field, at_least, between, decimal_text, matches, optional
from harness2_core.model.errors import InvalidValue
from harness2_core.model.frozen import FrozenMap, strings, texts
from harness2_core.model.prices import Price

from .config import Config
from .fields import AMOUNT

MOST_K: Final = 100
"""Plans grow with the square of k: far above what anybody pays for, and far below what fills a memory."""

ROLES: Final = ("executor", "improver", "selector", "reflector", "judge")


def _setting(help: str, **options: Any) -> Any:
    return field(metadata={"help": help}, **options)


def _amount(help: str) -> Any:
    """A decimal text such as `2.5`; empty: no limit."""
    return field(
        default="",
        converter=lambda value: decimal_text(value) if value != "" else "",
        validator=_not_negative,
        metadata={"help": help, AMOUNT: True},
    )


def _not_negative(owner: object, field: Field, value: str) -> None:
    if value.startswith("-"):
        raise InvalidValue(f"{type(owner).__name__}.{field.name} is {value!r}", "give no negative amount")


def _some(owner: object, field: Field, value: tuple[str, ...]) -> None:
    if not value:
        raise InvalidValue(f"{type(owner).__name__}.{field.name} is empty", "name at least one")


def _whole_numbers(owner: object, field: Field, value: FrozenMap[str]) -> None:
    for name, text in value.items():
        if not text.isdecimal() or int(text) < 1:
            raise InvalidValue(
                f"{type(owner).__name__}.{field.name} gives {name!r} the number {text!r}",
                'give whole numbers from 1, as "2"',
            )


@frozen
class RunSettings:
    """The table `[run]`. An empty name of a provider means the default one of its kind."""

    bench: str = _setting("Name of the adapter that brings the tasks.", default="")
    substrate: str = _setting("Name or token of the agent framework.", default="")
    k: int = _setting("Base rollouts of a task, and stages of each kind.", default=1, validator=between(1, MOST_K))
    modes: tuple[str, ...] = _setting(
        "Names or tokens of the modes to run side by side; empty: the default one.", default=(), converter=strings
    )
    seed: int | None = _setting(
        "Seed of the task order and of shuffles; unset: the order as it is.",
        default=None,
        validator=optional(at_least(0)),
    )
    tag: str = _setting("Distinguishes an experiment from one that is alike otherwise.", default="")
    split: str = _setting("Tasks to run: all, train, test or a split of the benchmark's own.", default="all")
    split_file: Path | None = _setting(
        "File that `harness2 split` made: then the splits are its train, test, and all for both.", default=None
    )
    only_domains: tuple[str, ...] = _setting("Domains to run; empty: all.", default=(), converter=strings)
    only_tasks: tuple[str, ...] = _setting("Tasks to run; empty: all.", default=(), converter=strings)
    max_tasks: int | None = _setting("Tasks per domain at most.", default=None, validator=optional(at_least(1)))
    runs: Path = _setting("Runs directory: the store, readable copies and the library.", default=Path("runs"))
    selector: str = _setting("Rule that picks one final.", default="")
    reflector: str = _setting("Maker of lessons.", default="")
    judge: str = _setting("Grader of what was delivered, used after the method is done.", default="")
    store: str = _setting("Where results live.", default="")
    engine: str = _setting("Where work runs.", default="")
    sandbox: str = _setting(
        "Confinement: auto (the default sandbox), none (agents run with your own rights), or a sandbox's name.",
        default="auto",
        validator=matches(r"\S+", "auto, none or a sandbox's name"),
    )
    access: str = _setting("How models are reached.", default="")
    network: str = _setting(
        "What executors may reach: none, model, hosts:<name>,... or open; a task's promise may be stricter.",
        default="model",
        validator=matches(NETWORKS, "none, model, open or hosts:<name>[,<name>...]"),
    )
    pool: Literal["finals", "mixed"] = _setting(
        "What is voted on: finals, or mixed, which adds the first usable base.", default="finals"
    )
    slots: int = _setting("Rollouts and sessions at once.", default=4, validator=at_least(1))
    rollouts: int = _setting("Rollouts at once, within the slots.", default=4, validator=at_least(1))
    sessions: int = _setting("Sessions at once, within the slots.", default=4, validator=at_least(1))
    model_slots: FrozenMap[str] = _setting(
        "Model -> rollouts and sessions on it at once, within the slots.",
        factory=FrozenMap,
        converter=texts,
        validator=_whole_numbers,
    )
    lookahead: int = _setting("Tasks whose bases are rolled ahead.", default=2, validator=at_least(0))
    max_usd: str = _amount("Limit of the experiment's cost in USD, over all invocations.")
    max_rollouts: int | None = _setting("Limit of rollouts.", default=None, validator=optional(at_least(0)))
    max_sessions: int | None = _setting("Limit of sessions.", default=None, validator=optional(at_least(0)))
    max_hours: str = _amount("Limit of the hours in which anything of the experiment runs, over all invocations.")
    strict: bool = _setting("Resume only with the same versions, sandbox and engine.", default=False)
    extra: tuple[str, ...] = _setting(
        "Plugins whose listeners, tree checks and preflights take part; part of the experiment's identity.",
        default=(),
        converter=strings,
    )
    memory_mb: int = _setting("Memory of one execution in MiB; 0: no limit.", default=0, validator=at_least(0))
    processes: int = _setting("Processes of one execution; 0: no limit.", default=0, validator=at_least(0))
    disk_mb: int = _setting(
        "What one execution may write in MiB, all of it together and any one file; 0: no limit.",
        default=10240,
        validator=at_least(0),
    )
    min_free_mb: int = _setting(
        "Space that the disk of the runs directory must have left for a run to start, in MiB.",
        default=256,
        validator=at_least(0),
    )
    offline: bool = _setting("Ask no model for a token before the run.", default=False)
    fsync: bool = _setting("Survive a power loss, at a price in time.", default=False)
    keep_workspaces: bool = _setting("Keep working directories after their content was captured.", default=False)
    templates: Path | None = _setting("Directory of mission texts that replace the shipped ones.", default=None)


@frozen
class RoleSettings:
    """A table `[roles.<role>]`: to what a role is bound."""

    provider: str = _setting("Name of the proposer (for the executor: the substrate) or judge.", default="")
    model: str = _setting("Model, as the provider names it.", default="")
    effort: str = _setting("Reasoning effort, as the provider names it.", default="")
    steps: int = _setting("Model turns at most; 0 leaves it to the agent.", default=0, validator=at_least(0))
    limit_seconds: int = _setting("Time limit in seconds.", default=3600, validator=at_least(1))
    options: FrozenMap[str] = _setting(
        "Further options of the model; part of every request.", factory=FrozenMap, converter=texts
    )

    @property
    def channel(self) -> Channel:
        return Channel(self.model, self.effort, self.steps, self.limit_seconds, self.options)


def _price(help: str, **options: Any) -> Any:
    """USD for a million tokens, a decimal text."""
    return field(
        converter=lambda value: decimal_text(value) if value != "" else "",
        validator=_not_negative,
        metadata={"help": help, AMOUNT: True},
        **options,
    )


@frozen
class PriceSettings:
    """A table `[prices.<model>]`: what a model costs, in USD for a million tokens."""

    input: str = _price("Of what is sent and in no cache.")
    output: str = _price("Of what the model writes.")
    cache_read: str = _price("Of what is read from a cache; empty: as input.", default="")
    cache_write: str = _price("Of what is written to a cache; empty: as input.", default="")
    reasoning: str = _price("Of what the model writes to itself; empty: as output.", default="")

    @property
    def price(self) -> Price:
        return Price(
            self.input or "0",
            self.output or "0",
            self.cache_read or self.input or "0",
            self.cache_write or self.input or "0",
            self.reasoning or self.output or "0",
        )


@frozen
class LibrarySettings:
    """The table `[library]`."""

    max_harnesses: int = _setting(
        "Whole harnesses that a session sees, newest first; an index lists all.", default=20, validator=at_least(0)
    )


def run_settings(config: Config) -> RunSettings:
    """The table `[run]`; a runs directory at its default lies beside the configuration file."""
    settings = config.structure("run", RunSettings)
    return evolve(settings, runs=config.base / settings.runs)


def role_settings(config: Config) -> Mapping[str, RoleSettings]:
    """Every role's binding; a role that does not exist is an error.

    Selector and reflector take from the improver whatever is not said of them, unless they name another provider: that
    one may call its models otherwise.
    """
    config.check_names("roles", ROLES)
    roles = {role: config.structure(f"roles.{role}", RoleSettings) for role in ROLES}
    return roles | {role: _like(roles["improver"], roles[role], config, role) for role in ("selector", "reflector")}


def substrate_of(run: RunSettings, roles: Mapping[str, RoleSettings]) -> str:
    """The agent framework, as configured: of the run, else as the executor's provider; empty: the default one."""
    return run.substrate or roles["executor"].provider


def _like(improver: RoleSettings, own: RoleSettings, config: Config, role: str) -> RoleSettings:
    if own.provider not in ("", improver.provider):
        return own
    said = {keys[0] for keys in config.given(f"roles.{role}")} - {"provider", "options"}
    options = FrozenMap({**improver.options, **own.options})
    return evolve(improver, options=options, **{name: getattr(own, name) for name in said})


def prices_of(config: Config) -> FrozenMap[Price]:
    """Model, as roles name it -> the price that is stated for it."""
    return FrozenMap({name: config.structure(f"prices.{name}", PriceSettings).price for name in config.names("prices")})


def library_settings(config: Config) -> LibrarySettings:
    return config.structure("library", LibrarySettings)
