"""The modes of a study: their plans and mission texts, made and tried before anything is paid.

A mode's own texts are added to core's, or stand in their place for that mode; a person's directory stands in place of
either. A file in it that is no text of any mode is an error, and so is a text that cannot be rendered.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from harness2_core.api.strategies import Mode, ShipsTemplates
from harness2_core.method.missions import SUFFIX, core_templates, overridden
from harness2_core.method.rehearsal import rehearse
from harness2_core.model.acceptance import is_dropping
from harness2_core.model.bench import BenchWords
from harness2_core.model.errors import ConfigError, Harness2Error
from harness2_core.model.nearest import near
from harness2_core.model.plan import Plan
from harness2_core.model.surface import Surface
from harness2_core.model.templates import FaultyTemplate, Templates
from harness2_core.plugins import facade
from harness2_core.plugins.config import Config
from harness2_core.plugins.loading import blaming, broken
from harness2_core.plugins.provider_settings import settings_of
from harness2_core.plugins.registry import Registry

from .study import ModePart, Study


def modes_of(
    config: Config,
    registry: Registry,
    wanted: Mapping[str, str],
    k: int,
    words: BenchWords,
    surface: Surface,
    directory: Path | None,
    *,
    reading: bool,
) -> tuple[Templates, dict[str, ModePart]]:
    """The texts that all modes share, and the part of each mode (`wanted`: token -> name) in that order.

    `reading`: texts are not tried, as none will be sent.
    """
    own = {} if directory is None else _texts_in(directory)
    made = {token: _made(config, registry, name) for token, name in wanted.items()}
    shipped = {token: _shipped(registry, wanted[token], mode) for token, mode in made.items()}
    names = {name for texts in shipped.values() for name in texts.texts}
    if any(file.removesuffix(SUFFIX) not in {*core_templates().texts, *names} for file in own):
        names |= _shipped_elsewhere(config, registry, wanted)
    parts = {}
    for token, mode in made.items():
        plan = _plan(registry, wanted[token], mode, k)
        templates = overridden(core_templates().with_texts(shipped[token].texts), own, names)
        _check_templates(registry, wanted[token], plan, templates)
        try:
            if not reading:
                rehearse(plan, words, surface, templates)
        except FaultyTemplate as error:
            raise _blamed(error, registry, wanted[token], shipped[token], own, directory) from error
        parts[token] = ModePart(registry.find("mode", wanted[token]).name, plan, templates)
    return overridden(core_templates(), own, names), parts


def mode_meant(study: Study, given: str) -> str:
    """The token of a mode that a person named by its name or token, in any case; empty for no name.

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


def _texts_in(directory: Path) -> dict[str, str]:
    """File name -> text. What editors and version control leave behind is passed over."""
    if not directory.is_dir():
        raise ConfigError(f"{directory}: no such directory of mission texts", "mend `templates` under [run]")
    texts = {}
    for file in sorted(directory.iterdir()):
        if file.name.startswith(".") or is_dropping(file.name) or is_dropping(f"{file.name}/"):
            continue
        if not file.is_file():
            raise ConfigError(f"{file}: not a file of a mission text", f"put texts into {directory} itself")
        try:
            texts[file.name] = file.read_text("utf-8-sig")
        except UnicodeDecodeError as error:
            raise ConfigError(f"{file}: not UTF-8 text (byte {error.start})", "save it as UTF-8") from error
        except OSError as error:
            raise ConfigError(f"{file}: cannot be read ({error.strerror})", "mend its rights") from error
    return texts


def _made(config: Config, registry: Registry, name: str) -> Mode:
    return facade.mode(registry, name, settings_of(registry, config, "mode", name))


def _shipped(registry: Registry, name: str, mode: Mode) -> Templates:
    if not isinstance(mode, ShipsTemplates):
        return Templates({})
    found = registry.find("mode", name)
    with blaming(found, "its method `templates`"):
        templates = mode.templates()
    if not isinstance(templates, Templates):
        raise broken(found, f"its method `templates` returned {type(templates).__name__}, not Templates")
    return templates


def _shipped_elsewhere(config: Config, registry: Registry, wanted: Mapping[str, str]) -> set[str]:
    """Names of the texts of installed modes that take no part: a person's directory may serve several experiments."""
    names: set[str] = set()
    for name in registry.names("mode"):
        if name not in wanted.values():
            try:
                names.update(_shipped(registry, name, _made(config, registry, name)).texts)
            except Harness2Error:
                continue  # a broken mode that nobody asked for stops nothing
    return names


def _plan(registry: Registry, name: str, mode: Mode, k: int) -> Plan:
    found = registry.find("mode", name)
    with blaming(found, f"its method `plan` for k = {k}"):
        plan = mode.plan(k)
    if not isinstance(plan, Plan):
        raise broken(found, f"its method `plan` returned {type(plan).__name__}, not a Plan")
    if len(plan.bases) != k:
        raise broken(
            found,
            f"its plan for k = {k} declares {plan.rollouts} rollouts and has {len(plan.rolls)} rolls: "
            f"that leaves {len(plan.bases)} bases, and there are {k}",
        )
    return plan


def _check_templates(registry: Registry, name: str, plan: Plan, templates: Templates) -> None:
    for stage in plan.stages:
        if stage.template not in templates.texts:
            known = ", ".join(text for text in templates.texts if not text.startswith("_"))
            raise broken(
                registry.find("mode", name),
                f"it asks for the mission text {stage.template!r}, which nobody ships; known are {known}",
            )


def _blamed(
    error: FaultyTemplate,
    registry: Registry,
    mode: str,
    shipped: Templates,
    own: Mapping[str, str],
    directory: Path | None,
) -> Harness2Error:
    """The same error, naming whose text is at fault."""
    if directory is not None and error.part + SUFFIX in own:
        return ConfigError(error.what, f"mend {directory / (error.part + SUFFIX)}")
    if error.part in shipped.texts:
        return broken(registry.find("mode", mode), error.what, error)
    return error
