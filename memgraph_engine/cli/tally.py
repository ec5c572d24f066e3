"""What became of many inputs, in a line."""

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import typer

from memgraph_engine.cli import show
from memgraph_engine.cost import NOTHING, Cost

if TYPE_CHECKING:
    from memgraph_engine.ingest.readers import BadLine
    from memgraph_engine.model.result import Receipt


@dataclass
class Tally:
    """How many inputs made a note, joined one, were known already, or were passed over.

    added      new notes, of which `superseded` replace older ones
    merged     joined a note that says as much       reinforced    joined one that says the same
    discarded  kept without a note                    deferred      a pending note, to be constructed
    repeats    known already                          updated       given a new text
    `fallbacks` says why models were not used.
    """

    added: int = 0
    superseded: int = 0
    merged: int = 0
    reinforced: int = 0
    discarded: int = 0
    deferred: int = 0
    repeats: int = 0
    updated: int = 0
    faults: "list[BadLine]" = field(default_factory=list)
    fallbacks: list[str] = field(default_factory=list)
    cost: Cost = NOTHING

    def count(self, receipt: "Receipt") -> None:
        """Add what a write did."""
        self.deferred += receipt.count("defer")
        self.added += receipt.added - receipt.count("defer")
        self.superseded += receipt.count("supersede")
        self.merged += receipt.count("merge")
        self.reinforced += receipt.count("reinforce")
        self.discarded += receipt.count("discard")
        self.repeats += receipt.repeats
        self.fallbacks += [reason for reason in receipt.fallbacks if reason not in self.fallbacks]
        self.cost += receipt.cost

    def __str__(self) -> str:
        """Say it in a line."""
        new = f"{self.added:,} new" + (f" ({self.superseded:,} in place of an older one)" if self.superseded else "")
        rarely = {
            "merged": self.merged,
            "repeated": self.reinforced,
            "discarded": self.discarded,
            "to be constructed": self.deferred,
        }
        at_times = {"updated": self.updated, "passed over": len(self.faults)}
        said = [[f"{number:,} {what}" for what, number in some.items() if number] for some in (rarely, at_times)]
        return ", ".join([new, *said[0], f"{self.repeats:,} known already", *said[1]])

    def tell(self, *, as_json: bool) -> None:
        """Print it, and what models cost."""
        if as_json:
            show.document(self)
            return
        typer.echo(str(self))
        if self.cost.calls:
            calls, tokens = show.count(self.cost.calls, "call"), show.count(self.cost.tokens, "token")
            typer.echo(f"Chat models: {calls}, {tokens}, {show.money(self.cost)}.")
