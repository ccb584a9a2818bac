from harness2_core.api import Ballot, Choice, Dialogue


class Shortest:
    """Decides by length alone. The content decides between equal lengths, so that ids never do."""

    def select(self, ballot: Ballot) -> Dialogue[Choice]:
        yield from ()

        def size(id: str) -> tuple[int, list[tuple[str, str]]]:
            views = sorted(ballot.candidates[id].items())
            return sum(len(text) for _, text in views), views

        best = min(ballot.ids, key=size)
        return Choice(best, f"{size(best)[0]} characters")
