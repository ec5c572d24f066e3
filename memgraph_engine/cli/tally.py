"""What became of many inputs, in a few lines."""

from collections import Counter
from typing import TYPE_CHECKING

import typer

from memgraph_engine.cli import progress, show

if TYPE_CHECKING:
    from memgraph_engine.model.ingested import Ingested


class Shown:
    """Shows on stderr how far an ingest is, and what can't be read or is a link, as it comes."""

    def __init__(self, bar: progress.Bar) -> None:
        from memgraph_engine.model.ingested import Ingested

        self._bar = bar
        self.done = Ingested()

    def __call__(self, done: "Ingested") -> None:
        """Show what came of it so far."""
        for fault in done.faults[len(self.done.faults) :]:
            self._bar.tell(str(fault))
        for remark in done.remarks[len(self.done.remarks) :]:
            self._bar.tell(str(remark))
        for skipped in done.skipped[len(self.done.skipped) :]:
            if skipped.is_link:
                self._bar.tell(f"{skipped}; it is not followed")
        self._bar.advance(done.inputs - self.done.inputs)
        self.done = done


def tell(done: "Ingested") -> None:
    """Print it, what was skipped, and what models cost."""
    typer.echo(str(done))
    if done.skipped:
        reasons = sorted(Counter(one.reason for one in done.skipped).items())
        typer.echo(f"Skipped: {', '.join(f'{number:,} {reason}' for reason, number in reasons)}")
    if done.cost.calls:
        calls, tokens = show.count(done.cost.calls, "call"), show.count(done.cost.tokens, "token")
        typer.echo(f"Chat models: {calls}, {tokens}, {show.money(done.cost)}.")
