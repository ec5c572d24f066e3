"""What became of many inputs, in a line."""

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import typer

from memgraph_engine.cli import show
from memgraph_engine.model.cost import NOTHING, Cost

if TYPE_CHECKING:
    from memgraph_engine.ingest.readers import BadLine
    from memgraph_engine.model.result import Receipt


@dataclass
class Tally:
    """Notes that are new, joined others, or wait to be constructed; inputs known, given a new text, passed over.

    `dropped` are kept as sources without a note; `fallbacks` says why models were not used.
    """

    added: int = 0
    repeats: int = 0
    joined: int = 0
    deferred: int = 0
    dropped: int = 0
    updated: int = 0
    faults: "list[BadLine]" = field(default_factory=list)
    fallbacks: list[str] = field(default_factory=list)
    cost: Cost = NOTHING

    def count(self, receipt: "Receipt") -> None:
        """Add what a write did."""
        deferred = receipt.count("defer")
        self.added += receipt.added - deferred
        self.repeats += receipt.repeats
        self.joined += receipt.count("merge") + receipt.count("reinforce")
        self.deferred += deferred
        self.dropped += receipt.count("discard")
        self.fallbacks += [reason for reason in receipt.fallbacks if reason not in self.fallbacks]
        self.cost += receipt.cost

    def __str__(self) -> str:
        """Say it in a line."""
        rest = {
            "joined others": self.joined,
            "to be constructed": self.deferred,
            "kept without a note": self.dropped,
            "updated": self.updated,
            "passed over": len(self.faults),
        }
        said = [f"{self.added:,} new", f"{self.repeats:,} known already"]
        return ", ".join(said + [f"{number:,} {what}" for what, number in rest.items() if number])

    def tell(self, *, as_json: bool) -> None:
        """Print it, and what models cost."""
        if as_json:
            show.document(self)
            return
        typer.echo(str(self))
        if self.cost.calls:
            calls, tokens = show.count(self.cost.calls, "call"), show.count(self.cost.tokens, "token")
            typer.echo(f"Chat models: {calls}, {tokens}, {show.money(self.cost)}.")
