"""Sweeps in a log that others write: which are begun, how far each has come, which one is to be shown.

Pure. Several processes may write to one log, and a killed one leaves a sweep without an end.
"""

from __future__ import annotations

from attrs import define, field

from harness2_core.model.events import Happened

from .state import STARTS, State


@define
class Sweeps:
    """What the log says so far. `shown` is the sweep that is looked at, or empty."""

    running: dict[str, State] = field(factory=dict)
    """Those begun and not ended, in order."""
    ended: State | None = None
    """The one that ended last."""
    shown: str = ""
    _heard: set[str] = field(factory=set)
    """Those that have written anything since the last one began: the others may have been killed long ago."""

    def take(self, event: Happened) -> None:
        """One event more. Of a sweep whose beginning is not in the log, nothing is kept."""
        if event.what in STARTS:
            self.running.pop(event.sweep, None)
            self.running[event.sweep] = State().after(event)
            self._heard = {event.sweep}
        elif event.sweep in self.running:
            state = self.running[event.sweep].after(event)
            self._heard.add(event.sweep)
            if state.exit is None:
                self.running[event.sweep] = state
            else:
                del self.running[event.sweep]
                self.ended = state

    def turn_to(self, alive: bool | None) -> State | None:
        """The sweep to show from now on, if it is another: the last one begun. `alive`: whether anybody still writes;
        if not, what has no end was killed."""
        going_on = self._going_on(alive)
        if self.shown in going_on or not going_on:
            return None
        self.shown = going_on[-1]
        return self.running[self.shown]

    def over(self, alive: bool | None) -> bool:
        """Whether nothing goes on: the last has ended, or its process is no more."""
        return not self._going_on(alive) and (bool(self.shown) or alive is not True)

    def last(self) -> State:
        """What became of the sweep that was shown, else of the last that ended; an empty state when there is none."""
        return self.running.get(self.shown) or self.ended or State()

    def _going_on(self, alive: bool | None) -> list[str]:
        return [] if alive is False else [sweep for sweep in self.running if sweep in self._heard]
