"""What calls return: hits of a search, receipts of a write, versions of a note, counts."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Literal

from memgraph_engine.model.memory import Note, Source

DecisionKind = Literal["append", "update", "delete"]


@dataclass(frozen=True, slots=True)
class ChannelScore:
    """One channel's view of a hit: its own score, the same between 0 and 1 within the question, its share."""

    raw: float
    normalised: float
    weighted: float


@dataclass(frozen=True, slots=True)
class Explanation:
    """Why a hit stands where it stands.

    `proposed_by` names the channels that brought the note into the pool. The `weighted` scores of all
    `channels`, plus `neighbours` (the turns around) and `session`, add up to the hit's score.
    """

    proposed_by: tuple[str, ...]
    channels: Mapping[str, ChannelScore]
    neighbours: float
    session: float


@dataclass(frozen=True, slots=True)
class Hit:
    """A note found for a question.

    `score` ranks hits of this one question (0 to 1); `similarity` can be compared between questions:
    the larger cosine of the note's two vectors to the question's (-1 to 1).
    """

    note: Note
    score: float
    similarity: float
    explanation: Explanation | None = None

    @property
    def sources(self) -> tuple[Source, ...]:
        """The verbatim sources that the note comes from."""
        return self.note.sources


@dataclass(frozen=True, slots=True)
class Entry:
    """What became of one input: the note it is part of, and the decision, None for a known repeat.

    `status` is the note's: a repeat of what was deleted stays deleted, and says so. (Another id stores it anew.)
    """

    source: str
    note: str
    kind: Literal["append", "repeat"]
    decision: str | None
    status: str = "active"


@dataclass(frozen=True, slots=True)
class Receipt:
    """What a write did, input by input, and the seconds that each stage took."""

    entries: tuple[Entry, ...]
    seconds: Mapping[str, float] = field(default_factory=dict)

    @property
    def added(self) -> int:
        """How many notes are new."""
        return sum(entry.kind == "append" for entry in self.entries)

    @property
    def repeats(self) -> int:
        """How many inputs were known already."""
        return sum(entry.kind == "repeat" for entry in self.entries)


@dataclass(frozen=True, slots=True)
class Decision:
    """One change of the memory, as the audit log holds it."""

    id: str
    kind: DecisionKind
    at: datetime
    note: str


@dataclass(frozen=True, slots=True)
class Version:
    """A note as it was from `note.recorded_at` to `note.superseded_at`, and the decision that made it so."""

    note: Note
    decision: Decision | None


@dataclass(frozen=True, slots=True)
class Stats:
    """How much a memory holds; `notes` counts by status, `past` counts former versions."""

    scope: str
    model: str
    language: str = ""
    version: int = 0
    notes: Mapping[str, int] = field(default_factory=dict)
    sources: int = 0
    sessions: int = 0
    keywords: int = 0
    pairs: int = 0
    topics: int = 0
    decisions: int = 0
    past: int = 0
