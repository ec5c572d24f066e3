"""What shall become of a candidate, and why."""

from dataclasses import dataclass
from typing import Literal

from memgraph_engine.cost import NOTHING, Cost
from memgraph_engine.model.result import Considered

Kind = Literal["append", "link", "merge", "reinforce", "supersede", "discard", "defer"]


@dataclass(frozen=True, slots=True)
class Tie:
    """An older note that the new one is tied to; `kind` is link or conflict."""

    note: str
    kind: Literal["link", "conflict"]
    score: float


@dataclass(frozen=True, slots=True)
class Verdict:
    """One candidate's fate. `target` is the note that it joins (merge, reinforce) or replaces (supersede).

    `context` is a merged note's, where a chat model wrote it.
    """

    kind: Kind
    target: str = ""
    ties: tuple[Tie, ...] = ()
    considered: tuple[Considered, ...] = ()
    evidence: str = ""
    model: str = ""
    context: str = ""
    cost: Cost = NOTHING


APPEND = Verdict("append")
