"""A state as lines for a terminal: a pure function of the state, the time and the size.

From above: the experiment, its progress, its slots; the domains, what runs, what waits on what; what was spent and
lost, what is held back. Small terminals keep what comes first of each.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from rich.console import Group
from rich.text import Text

from .layout import BLOCKS, Glyphs, Row, bar, clock, cut, ends, first, foreign, grid, shares
from .state import ELSEWHERE, QUEUED, RUNNING, WAITING, Domain, Piece, Spend, State

_HEADINGS_FROM: Final = 18
"""Lines of a terminal from which sections have headings."""
_BAR: Final = 24
_KINDS: Final = {"rollout": "rollouts", "session": "sessions", "grade": "gradings"}


def picture(state: State, now: float, width: int, height: int, glyphs: Glyphs = BLOCKS, note: str = "") -> Group:
    """The lines as one rich renderable."""
    return Group(*lines_of(state, now, width, height, glyphs, note))


def lines_of(state: State, now: float, width: int, height: int, glyphs: Glyphs = BLOCKS, note: str = "") -> list[Text]:
    """At most `height` lines of at most `width` cells; none before anything has begun. `now` in seconds since the
    epoch; `note` is shown last, whatever must give way to it."""
    last = [cut(Text(foreign(note), "bold yellow"), width, glyphs)] if note and height > 0 else []
    height = max(height - len(last), 0)
    if not state.doing:
        return last
    head = [ends(line, right, width, glyphs) for line, right in _head(state, now, width, glyphs)]
    tail = [cut(line, width, glyphs) for line in _tail(state, glyphs)]
    sections = {
        "domains": grid([_domain(state, item, glyphs) for item in state.domains], width, (1, 3), glyphs),
        "running": grid([_running(state, item, now) for item in state.in_state(RUNNING)], width, (3, 1, 2), glyphs),
        "waiting": grid(list(_waiting(state, now)), width, (1, 2), glyphs),
    }
    sections = {name: lines for name, lines in sections.items() if lines}
    headed = height >= _HEADINGS_FROM
    room = height - len(head) - len(tail) - (len(sections) if headed else 0)
    body: list[Text] = []
    for (name, lines), count in zip(sections.items(), shares([*map(len, sections.values())], room), strict=True):
        if headed:
            body.append(cut(Text(name, "bold dim"), width, glyphs))
        body += first(lines, count, width, glyphs)
    return [*head, *body, *tail][:height] + last


def _head(state: State, now: float, width: int, glyphs: Glyphs) -> Iterator[tuple[Text, str]]:
    doing = "" if state.doing in ("", "sweep") else f" {state.doing}"
    title = Text.assemble((foreign(state.namespace) or "harness2", "bold"), (doing, "dim"))
    modes = f" {glyphs.dot} ".join(map(foreign, state.modes.values()))
    if modes:
        title.append(f"  {modes}", "dim")
    ended = state.latest if state.exit is not None else now
    yield title, clock(ended - state.began) if state.began else ""
    if state.steps:
        done, total = state.tasks_done
        words = [f"{done}/{total} tasks"] if total else []
        words.append(f"{state.steps_done}/{state.steps} steps")
        line = bar(state.steps_done, len(state.in_state(RUNNING)), state.steps, min(_BAR, width // 3), glyphs)
        yield Text.assemble(line, "  ", f" {glyphs.dot} ".join(words)), ""
    yield _slots(state, glyphs), ""


def _slots(state: State, glyphs: Glyphs) -> Text:
    running = state.in_state(RUNNING)
    limit = f"/{state.slots}" if state.slots else ""
    parts = [f"{len(running)}{limit} slots"]
    for kind in dict.fromkeys(piece.kind for piece in running if piece.kind):
        count = sum(piece.kind == kind for piece in running)
        parts.append(f"{count} {foreign(kind) if count == 1 else _KINDS.get(kind, foreign(kind))}")
    queued = len(state.in_state(QUEUED))
    if queued:
        parts.append(f"{queued} waiting for a slot")
    if state.exit is not None:
        parts = [f"ended with exit code {state.exit}"]
    return Text(f" {glyphs.dot} ".join(parts))


def _domain(state: State, domain: Domain, glyphs: Glyphs) -> Row:
    """Its bar counts the modes of each task, for tasks are long."""
    done = domain.before + sum(task in state.finished for task in domain.tasks)
    begun = [task for task in domain.tasks if task in state.opened]
    total, modes = domain.before + len(domain.tasks), max(len(state.modes), 1)
    through = sum((task, mode) in state.closed for task in begun for mode in state.modes)
    return Row(
        (
            Text(foreign(domain.name)),
            bar(done * modes + through, len(begun) * modes - through, total * modes, 12, glyphs),
            Text(f"{done}/{total}"),
            Text(f"{len(begun)} begun" if begun else "", "cyan"),
        )
    )


def _running(state: State, piece: Piece, now: float) -> Row:
    what = piece.role if piece.kind == "session" else piece.kind
    return Row((*_named(state, piece), Text(foreign(what), "dim")), clock(now - piece.since))


def _waiting(state: State, now: float) -> Iterator[Row]:
    for piece in state.in_state(WAITING):
        again = f"again in {clock(piece.until - now)}" if piece.until > now else "again soon"
        yield Row((*_named(state, piece), Text(foreign(piece.cause), "yellow")), again)
    for piece in state.in_state(ELSEWHERE):
        yield Row((*_named(state, piece), Text("another process has it", "yellow")), clock(now - piece.since))
    for task, before, modes in state.waits_for():
        names = ", ".join(_mode(state, mode) for mode in modes)
        yield Row((Text(foreign(task)), Text(names, "magenta"), Text(""), Text(f"for {foreign(before)}", "dim")))


def _named(state: State, piece: Piece) -> tuple[Text, Text, Text]:
    return (
        Text(foreign(piece.task)),
        Text(_mode(state, piece.mode), "magenta"),
        Text(foreign(piece.label or piece.step), "cyan"),
    )


def _mode(state: State, token: str) -> str:
    return foreign(state.modes.get(token, token))


def _tail(state: State, glyphs: Glyphs) -> Iterator[Text]:
    spent = dict(state.spent)
    for piece in state.pieces.values():
        if piece.usd and piece.role:
            former = spent.get(piece.role, Spend())
            spent[piece.role] = Spend(former.requests, former.usd + piece.usd, former.unpriced, True)
    if spent and not any(item.model for item in spent.values()):
        yield Text.assemble(("spent  ", "bold"), "nothing: no model took part")
    elif spent:
        yield Text.assemble(
            ("spent  ", "bold"),
            f" {glyphs.dot} ".join(f"{foreign(role)} {_usd(item)}" for role, item in spent.items()),
        )
    if state.losses:
        yield Text.assemble(
            ("lost  ", "bold red"), ", ".join(f"{count} {foreign(cause)}" for cause, count in state.losses.items())
        )
    for why, count in state.held.items():
        steps = "1 step" if count == 1 else f"{count} steps"
        yield Text.assemble(("held  ", "bold yellow"), f"{steps}: {foreign(why)}")


def _usd(spend: Spend) -> str:
    """An amount for people; no model is no price, unknown is not zero."""
    if not spend.model:
        return "no model"
    amount = f"{spend.usd:.2f} USD" if spend.usd >= 1 or not spend.usd else f"{spend.usd:.4f} USD"
    if not spend.unpriced:
        return amount
    return f"{amount} + {spend.unpriced} unpriced" if spend.usd else "price unknown"
