"""What people mean who name a mode of an experiment."""

from __future__ import annotations

from harness2_core.model.errors import ConfigError
from harness2_core.model.nearest import near

from .study import Study


def mode_meant(study: Study, given: str) -> str:
    """The token of a mode that was named by its name or token, in any case; empty for no name.

    `ConfigError` for a mode that the experiment does not have.
    """
    known = {part.name: token for token, part in study.modes.items()}
    known |= {token: token for token in study.experiment.plans}
    token = known.get(given, known.get(given.lower(), ""))
    if given and not token:
        raise ConfigError(
            f"the experiment has no mode {given!r}", f"{near(given, known)}known are {', '.join(sorted(known))}"
        )
    return token
