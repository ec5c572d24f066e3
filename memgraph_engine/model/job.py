"""What a worker did."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Literal

from memgraph_engine.cost import NOTHING, Cost
from memgraph_engine.interface.results import Result


@dataclass(frozen=True, slots=True, repr=False)
class JobRun(Result):
    """One run of a job over one memory: when it ended, and how. `kind` is the job's name in the worker's table.

    erase      an erasure that was cut off was done: `counts` has erased notes
    expire     what had ended was swept: `counts` has notes archived and erased, and pieces of history pruned
    construct  pending notes were constructed: `counts` says what became of how many
    topics     topics were found anew: `counts` has topics, keywords, created, ended, moved, joined, labelled
    look       the database could not be asked what is due; such a run has always failed

    `why` says what made it due, `error` why it failed, `fallbacks` where it did without a chat model, and why.
    """

    brief = ("kind", "scope", "outcome", "why", "counts", "error")

    kind: str
    scope: str
    at: datetime
    outcome: Literal["done", "stopped", "failed"]
    seconds: float = 0.0
    why: str = ""
    counts: Mapping[str, int] = field(default_factory=dict)
    error: str = ""
    fallbacks: tuple[str, ...] = ()
    cost: Cost = NOTHING
