"""How a memory's database is: what answers, what waits to be done, and what a worker did."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Literal

from memgraph_engine.cost import NOTHING, Cost
from memgraph_engine.interface.results import Result


@dataclass(frozen=True, slots=True, repr=False)
class Undone(Result):
    """Work that waits for a worker, by the name of its job: in how many memories, and since when in the first of them.

    `since` is None where that is not known: a memory is over its cap as long as it is. `notes` counts those that wait
    to be constructed.
    """

    job: str
    memories: int
    since: datetime | None
    notes: int = 0


@dataclass(frozen=True, slots=True, repr=False)
class Health(Result):
    """How the database of a tenant's memories is. It is `ok` if there are no `faults`, each a sentence.

    `server` is its address. `schema` is that of the database, 0 for a new one, `expected` that of this process.
    `clock` is by how many seconds the server's clock is ahead of this machine's. `undone` is what waits.
    `fresh` counts the notes with keywords that came since topics were found, in the memory that has most of them: the
    setting `worker.topics_after` says of how many on a worker finds topics anew.
    """

    brief = ("ok", "faults", "undone")
    derived = ("ok",)

    server: str
    faults: tuple[str, ...] = ()
    schema: int = 0
    expected: int = 0
    clock: float = 0.0
    undone: tuple[Undone, ...] = ()
    fresh: int = 0

    @property
    def ok(self) -> bool:
        """Whether nothing is wrong."""
        return not self.faults


@dataclass(frozen=True, slots=True, repr=False)
class JobRun(Result):
    """One run of a job over one memory: when it ended, and how. `kind` is the job's name in the worker's table.

    erase      an erasure that was cut off was done: `counts` has erased notes
    expire     what had ended was swept: `counts` has notes archived and erased, and pieces of history pruned
    construct  pending notes were constructed: `counts` says what became of how many
    embed      another embedder's vectors were made, or removed: `counts` has texts embedded, switched, dropped
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
