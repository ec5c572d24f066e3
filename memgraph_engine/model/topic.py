"""Topics, and the runs that find them (MemFly, sections 3.2 and 3.3.3)."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime

from memgraph_engine.cost import NOTHING, Cost
from memgraph_engine.interface.results import Result


@dataclass(frozen=True, slots=True, repr=False)
class Topic(Result):
    """Keywords that occur together; `keywords` are its most central ones first, `size` counts all of them.

    `labelled_by` is the chat model that found the label, and `labelled_from` the keywords that it was shown; without
    one the label is the three most central keywords.
    """

    brief = ("id", "label", "size")

    id: str
    label: str
    size: int
    keywords: tuple[str, ...] = ()
    labelled_by: str = ""
    labelled_from: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, repr=False)
class TopicTie(Result):
    """Two topics, by id, that occur together: in `pairs` of keywords, one on either side.

    `weight` is the sum over these pairs of the active notes that carry both keywords.
    """

    one: str
    other: str
    weight: int
    pairs: int


@dataclass(frozen=True, slots=True, repr=False)
class Move(Result):
    """A keyword that a run took from one topic to another; '' where it left without one."""

    keyword: str
    source: str
    target: str


@dataclass(frozen=True, slots=True, repr=False)
class TopicRun(Result):
    """One run of the topics job over a scope: what it found, and what it changed.

    `modularity_before` and `modularity_after` are those before and after the bounds were enforced. `moved` counts
    keywords that changed their topic or lost it, `joined` those that had none; `moves` names the first of those that
    moved. `splits` tells for an old topic which it went to, `merges` for a topic which it came from; an id on both
    sides is the one that goes on. `changed_since` counts the writes that came while it ran. `labelled` counts
    the labels that a chat model gave, `fallbacks` says why it gave none, `cost` is what it took; of a run that is read
    again `fallbacks` are the kinds of failures alone. `seconds` are by phase.
    """

    brief = ("id", "scope", "at", "engine", "topics", "keywords")

    id: str
    scope: str
    at: datetime
    engine: str
    seed: int = 0
    resolution: float = 1.0
    keywords: int = 0
    pairs: int = 0
    topics: int = 0
    smallest: int = 0
    largest: int = 0
    modularity_before: float = 0.0
    modularity_after: float = 0.0
    moved: int = 0
    joined: int = 0
    created: tuple[str, ...] = ()
    ended: tuple[str, ...] = ()
    splits: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    merges: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    moves: tuple[Move, ...] = ()
    changed_since: int = 0
    labelled: int = 0
    fallbacks: tuple[str, ...] = ()
    cost: Cost = NOTHING
    seconds: Mapping[str, float] = field(default_factory=dict)


def label(keywords: Sequence[str]) -> str:
    """Return a topic's label from its central keywords.

    >>> label(["boat", "sea", "tide", "moon"])
    'boat, sea, tide'
    """
    return ", ".join(keywords[:3])
