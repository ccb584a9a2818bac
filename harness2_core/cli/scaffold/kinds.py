"""What a new plugin of each kind consists of: the facts that its templates share."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from attrs import frozen


@frozen
class Scaffold:
    """One kind. The files are those below `templates/<kind>/` and `templates/common/`."""

    protocol: str
    """What its hook's providers make, a name of the API."""
    does: str
    """What the small implementation does, in words: the provider's summary."""
    factory: str = "{cls}"
    """In the module that bears the kind's name."""
    settings: bool = False
    depends: tuple[str, ...] = ()
    """Beyond core."""


SCAFFOLDS: Final[Mapping[str, Scaffold]] = {
    "adapter": Scaffold("Adapter", "questions in a folder, answered in output/answer.txt", settings=True),
    "substrate": Scaffold("Substrate", "runs the harness as a Python program; no model takes part"),
    "proposer": Scaffold("Proposer", "adds one line of advice to every page of the harness", settings=True),
    "selector": Scaffold("Selector", "one session compares all candidates and names one"),
    "reflector": Scaffold("Reflector", "one session tells at most one lesson of the round"),
    "mode": Scaffold("Mode", "one edit for each base, side by side"),
    "store": Scaffold("Store", "plain files, one for each record and blob"),
    "engine": Scaffold("Engine", "a fixed number of threads of this process", factory="make_engine", settings=True),
    "sandbox": Scaffold("Sandbox", "a program sees what it is granted and no more, by bubblewrap"),
    "access": Scaffold("ModelAccess", "one endpoint, and its key from a file", settings=True),
    "judge": Scaffold("Judge", "one item for each expected file: its words are the same"),
    "command": Scaffold(
        "typer.Typer", "counts the finished tasks of every experiment", factory="make", depends=("typer>=0.15",)
    ),
    "listener": Scaffold("", "tells at the end of a sweep how often work was lost, and why"),
}
"""Kind -> what is made for it; every kind of `model.kinds` is here."""
