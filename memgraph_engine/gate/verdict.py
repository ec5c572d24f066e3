"""What shall become of a candidate, and why."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from memgraph_engine.cost import NOTHING, Cost
from memgraph_engine.model.result import Considered, Relation

RIGHTS: Mapping[Relation, tuple[Relation, Relation]] = {
    "same": ("related", "related"),
    "update": ("conflict", "update"),
    "change": ("conflict", "change"),
    "before": ("before", "conflict"),
}
"""What is left of a relation of a new note to a known one where the new one is trusted less, and where it is more.

Notes join within one class, and a lower class ends nothing of a higher one: it stands beside it, tied.
"""

Kind = Literal["append", "link", "merge", "reinforce", "supersede", "discard", "defer"]


@dataclass(frozen=True, slots=True)
class Tie:
    """A known note that the new one is tied to: a link, a conflict, or a change that the new one tells.

    `former` are the words of the older one that are true no more; '' for all of them. `back` tells that the new one is
    this older one: it was said before the note that tells its change.
    """

    note: str
    kind: Literal["link", "change", "conflict"]
    score: float
    former: str = ""
    back: bool = False

    def between(self, new: str) -> tuple[str, str]:
        """Return the newer and the older note, given the new one."""
        return (self.note, new) if self.back else (new, self.note)


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


@dataclass(frozen=True, slots=True)
class Opinion:
    """What a model holds of a pair; `cost` is the pair's share of the request.

    `second` is one on what the local judgement found: the scores are its own, and passed the thresholds already.
    """

    redundancy: float
    complementarity: float
    relation: Relation
    evidence: str
    model: str
    cost: Cost
    second: bool = False

    def considered(self, note: str, similarity: float, thresholds: Mapping[str, float]) -> Considered:
        """Return it as a decision records it: "same" and "related" hold only above the thresholds."""
        relation = self.relation
        if not self.second and relation == "same" and self.redundancy <= thresholds["merge"]:
            relation = "related"
        elif not self.second and relation == "related" and self.complementarity <= thresholds["link"]:
            relation = "none"
        scores = round(self.redundancy, 4), round(self.complementarity, 4), round(similarity, 4)
        return Considered(note, *scores, relation, self.evidence)
