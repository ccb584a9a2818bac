"""The mode `hedge`: grow, then cut."""

from importlib.resources import files

from harness2_core.api import Plan, Provider, Roll, Stage, Templates, hookimpl


@hookimpl
def harness2_modes():
    return [Provider("hedge", "k pairs of edits, each cut back afterwards", "hedge_mode:Hedge")]


class Hedge:
    def plan(self, k):
        steps = []
        for number in range(1, k + 1):
            base = f"base{number}"
            for part in ("inv", "dom"):
                grown, cut = f"{part}{number}", f"{part}cut{number}"
                steps.append(Stage(grown, part, "base", (base,), index=number, of=k))
                steps.append(Roll(grown, grown))
                steps.append(Stage(cut, "cut", grown, (base, grown), pool=(grown,), decisions=(grown,)))
                steps.append(Roll(cut, cut))
        finals = [step.label for step in steps if isinstance(step, Roll)]
        return Plan(tuple(steps), finals, rollouts=5 * k, sessions=4 * k)

    def templates(self):
        text = files("hedge_mode").joinpath("missions/cut.md.jinja").read_text(encoding="utf-8")
        return Templates({"cut": text})
