"""What one invocation sets out to do: the tasks that are finished, and the work that is left, in stream order."""

from __future__ import annotations

from attrs import frozen

from .graph import Work
from .reopening import unfinished_modes
from .study import Study


@frozen
class Course:
    """`work` holds a sequence of tasks a domain; one without plans has lost the record of its bases only."""

    finished: tuple[str, ...]
    work: tuple[tuple[Work, ...], ...]

    @property
    def tasks(self) -> tuple[str, ...]:
        """The tasks that are worked on."""
        return tuple(item.task for items in self.work for item in items)


def course_of(study: Study) -> Course:
    finished, work = [], []
    for domain, tasks in study.chosen.items():
        left = []
        for task in tasks:
            modes = unfinished_modes(study, task)
            if modes or study.archive.bases(study.home, task, study.attempt(task)) is None:
                left.append(Work(task, domain, {mode: study.modes[mode].plan for mode in modes}))
            else:
                finished.append(task)
        work.append(tuple(left))
    return Course(tuple(finished), tuple(work))
