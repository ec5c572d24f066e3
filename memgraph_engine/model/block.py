"""Blocks, and the runs that build their tree (LightMem, sections 3.2 to 3.5)."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime

from memgraph_engine.cost import NOTHING, Cost
from memgraph_engine.interface.results import Result

LONGEST = 40
"""Notes of a unit, and so of a leaf, at most: longer sessions are cut. No block of so few is too large to be found."""


@dataclass(frozen=True, slots=True, repr=False)
class SalientNote(Result):
    """One thing that notes tell: `event_time` is when it happened, as YYYY, YYYY-MM or YYYY-MM-DD, '' if none is told.

    `note_time` is when it was said, the last time if several `notes`, by their ids, say it.
    """

    brief = ("text", "event_time", "note_time")

    text: str
    event_time: str
    note_time: datetime
    notes: tuple[str, ...]

    def __str__(self) -> str:
        """Return its text with both times."""
        return f"{self.text} ({self.event_time}{', ' if self.event_time else ''}said {self.note_time:%Y-%m-%d})"


@dataclass(frozen=True, slots=True, repr=False)
class Block(Result):
    """Notes that belong together: a leaf of a memory's tree, or the two blocks below it.

    `notes` and `leaves` count what it holds, `level` is 0 of a leaf, and `distance` (0 to 2) is how far its two parts
    are from each other on the mean, by cosine. It holds each block whose `entered` and `left` lie within its own.
    `score` (-1 to 1) is the cosine of its vector to the question's, None where nothing was asked. `fields` are told as
    the schema says (`blocks.schema_file`): texts, lists of texts, two times, notes, the nearest first, salient notes,
    or a mapping of such. Where a chat model wrote texts, lists and salient notes, it is `described_by` that one, else
    '': they are made of its notes. A `stale` one has notes that changed since; no question finds it until the tree is
    built anew.
    """

    brief = ("id", "notes", "first_at", "last_at", "score", "fields")

    id: str
    scope: str
    parent: str | None
    level: int
    leaves: int
    notes: int
    entered: int
    left: int
    distance: float
    first_at: datetime
    last_at: datetime
    stale: bool = False
    score: float | None = None
    fields: Mapping[str, object] = field(default_factory=dict)
    described_by: str = ""


@dataclass(frozen=True, slots=True, repr=False)
class BlockRun(Result):
    """One run that built the tree of a scope: what it found, and what it changed.

    Of its `blocks` it `kept` those that were there with the same notes, `created` new ones, wrote `renewed` ones anew
    since their notes had changed, and `ended` those that are no more. `depth` is the level of the root. `linkage` is
    average or paper; `exact` is false where there were too many leaves to compare each with each. `changed_since`
    counts the writes that came while it ran. A chat model `described` so many now, and others `described_before`;
    `undescribed` counts those that one could have described, and did not: `fallbacks` says why, `cost` is what was
    paid; of a run that is read again `fallbacks` are the kinds of failures alone. `seconds` are by phase.
    """

    brief = ("id", "scope", "at", "notes", "blocks", "created", "ended")

    id: str
    scope: str
    at: datetime
    notes: int = 0
    leaves: int = 0
    blocks: int = 0
    depth: int = 0
    kept: int = 0
    created: int = 0
    renewed: int = 0
    ended: int = 0
    linkage: str = "average"
    exact: bool = True
    changed_since: int = 0
    described: int = 0
    described_before: int = 0
    undescribed: int = 0
    fallbacks: tuple[str, ...] = ()
    cost: Cost = NOTHING
    seconds: Mapping[str, float] = field(default_factory=dict)
