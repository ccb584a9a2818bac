"""What an agent answered: its last words, or the file that it was told it may write."""

from __future__ import annotations

import os
import stat
from pathlib import Path
from typing import Final

from attrs import frozen

from harness2_core.api import Action, Assistant, FileChange, Observation, Trajectory

ANSWER: Final = "output/answer.md"
LONGEST: Final = 1 << 20
"""Bytes of an answer; one that is longer is none."""


@frozen
class Written:
    """The text of the answer's file, and why it is not taken where something is there that cannot be."""

    text: str = ""
    problem: str = ""


def last_words(trajectory: Trajectory) -> str:
    """What the agent said last, as one text: everything after the last action that was followed by words.

    One message may come in several events. Remarks before an action are no answer while anything is said after it.
    """
    said: list[str] = []
    over = False
    for event in trajectory.events:
        if isinstance(event, Action | Observation | FileChange):
            over = True
        elif isinstance(event, Assistant) and event.text.strip():
            said = [*([] if over else said), event.text.strip()]
            over = False
    return "\n\n".join(said)


def written_answer(workspace: Path) -> Written:
    """The answer's file, where there is one. No link is followed, and no pipe is waited for."""
    folder, name = ANSWER.split("/")
    try:
        directory = os.open(workspace / folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
    except FileNotFoundError:
        return Written()
    except OSError:
        return Written(problem=f"{folder} is no directory")
    try:
        opened = os.open(name, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC, dir_fd=directory)
    except FileNotFoundError:
        return Written()
    except OSError as error:
        return Written(problem=f"{ANSWER} is no regular file ({error.strerror})")
    finally:
        os.close(directory)
    try:
        found = os.fstat(opened)
        if not stat.S_ISREG(found.st_mode):
            return Written(problem=f"{ANSWER} is no regular file")
        if found.st_size > LONGEST:
            return Written(problem=f"{ANSWER} has {found.st_size:,} bytes, and an answer at most {LONGEST:,}")
        return Written(_all(opened).decode("utf-8", "replace"))
    finally:
        os.close(opened)


def _all(descriptor: int) -> bytes:
    data = b""
    while len(data) <= LONGEST and (more := os.read(descriptor, LONGEST)):
        data += more
    return data
