"""What an invocation is going to take at most, told before it starts, and whether a limit in USD can hold at all."""

from __future__ import annotations

from collections.abc import Collection
from decimal import Decimal
from typing import Final

from attrs import frozen

from harness2_core.api.strategies import CountsSessions
from harness2_core.api.substrates import KnowsPrice
from harness2_core.model.errors import ConfigError, PluginError
from harness2_core.plugins import facade
from harness2_core.plugins.config import Config
from harness2_core.plugins.provider_settings import settings_of
from harness2_core.plugins.registry import Registry

from .budget import Caps
from .driving import driven_by
from .ledger import Ledger, Need, price_of
from .reopening import unfinished_modes
from .study import Study

_MEND: Final = "mend the plugin: without that method, it is taken to ask for one"


@frozen
class Estimate:
    """`usd` is expected from what was paid so far; `None`: nothing is known yet."""

    rollouts: int
    sessions: int
    usd: Decimal | None
    paid_usd: Decimal
    least_usd: Decimal = Decimal(0)
    most_usd: Decimal = Decimal(0)
    """Were each request as cheap, or as dear, as any has been."""

    def words(self) -> str:
        """One sentence for people."""
        price = "price not known yet"
        if self.usd is not None:
            least, most = f"{self.least_usd:.2f}", f"{self.most_usd:.2f}"
            apart = f" ({least} to {most} at the lowest and the highest)" if least != most else ""
            price = f"about {self.usd:.2f} USD at the mean price so far{apart}"
        paid = f", after {self.paid_usd:.2f} USD paid" if self.paid_usd else ""
        if not self.rollouts and not self.sessions:
            return f"nothing{paid}"
        return (
            f"at most {self.rollouts} rollouts and {self.sessions} sessions, with those of selection and reflection "
            f"besides: {price}{paid}"
        )


def estimate(study: Study, ledger: Ledger) -> Estimate:
    """The plans of everything that is left of the chosen tasks; what is in the store already makes it less."""
    rollouts = sessions = besides = 0
    for tasks in study.chosen.values():
        for task in tasks:
            modes = unfinished_modes(study, task)
            rollouts += study.home.k if modes else 0
            rollouts += sum(len(study.modes[mode].plan.rolls) for mode in modes)
            sessions += sum(study.modes[mode].plan.sessions for mode in modes)
            besides += sum(sessions_besides(study, mode) for mode in modes)
    spent = ledger.spent()
    means = spent.mean_usd
    known = all(kind in means for kind, count in (("rollout", rollouts), ("session", sessions + besides)) if count)
    need = Need(rollouts, sessions + besides)
    usd, least, most = (price_of(need, prices) for prices in (means, spent.least_usd, spent.most_usd))
    return Estimate(rollouts, sessions, usd if known else None, spent.usd, least, most)


def sessions_besides(study: Study, mode: str) -> int:
    """Sessions of selection and reflection that a mode of a task is going to ask for, beside its plan's."""
    plan = study.modes[mode].plan
    candidates = len(plan.finals) + (study.pool == "mixed")
    selecting = sessions_of(study.selector, study.names["selector"], candidates) if candidates > 1 else 0
    return selecting + (sessions_of(study.reflector, study.names["reflector"], candidates) if plan.learns else 0)


def sessions_of(strategy: object, name: str, candidates: int) -> int:
    """How many a selector or reflector asks for, corrections aside; `PluginError` where it counts no number of them."""
    if not isinstance(strategy, CountsSessions):
        return 1
    try:
        count = strategy.sessions(candidates)
    except Exception as error:
        raise PluginError(f"{name}: its method `sessions` raised {type(error).__name__}: {error}", _MEND) from error
    if type(count) is not int or count < 0:
        raise PluginError(f"{name}: its method `sessions` returned {count!r}, which is no number of sessions", _MEND)
    return count


def check_caps(
    caps: Caps, study: Study, config: Config, registry: Registry, roles: Collection[str] | None = None
) -> None:
    """A limit in USD alone holds only where every price is known beforehand: of `roles`, or of all."""
    if caps.usd is None or caps.counted:
        return
    unknown = []
    for role, bound in study.roles.items():
        if roles is not None and role not in roles:
            continue
        kind = "substrate" if role == "executor" else "proposer"
        name = bound.provider
        driven = "" if role == "executor" else driven_by(config, registry, name, study.experiment.substrate)
        if driven:
            kind, name = "substrate", driven
        settings = settings_of(registry, config, kind, name)
        made: object = (
            facade.substrate(registry, name, settings)
            if kind == "substrate"
            else facade.proposer(registry, name, settings)
        )
        # A stated price is a price only of what is counted: those who know none need not count.
        stated = bound.channel.model in study.work.prices
        if not isinstance(made, KnowsPrice) or not (stated or made.knows_price(bound.channel)):
            unknown.append(f"{role} ({bound.provider}, model {bound.channel.model or 'unset'})")
    if unknown:
        raise ConfigError(
            f"--max-usd {caps.usd} cannot hold: what these cost is not known beforehand: {', '.join(unknown)}",
            "give --max-rollouts or --max-sessions too, or state what their models cost: [prices.<model>]",
        )
