"""What was found for a question: contexts are made of it, of any length and beside whatever a model is told besides."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace

from memgraph_engine.answer.context import compose
from memgraph_engine.cost import Cost
from memgraph_engine.model.answer import Context
from memgraph_engine.model.claim import Claim
from memgraph_engine.model.memory import Source, line
from memgraph_engine.model.result import Contrary, Hit
from memgraph_engine.settings import AnswerSettings


@dataclass(frozen=True, slots=True)
class Remembered:
    """The hits of a question that may be told, with their ties; `left_out` says why others are not among them.

    `asked` is the question as the memory was asked it, with what it refers back to.
    `sure` tells whether the hits most likely answer the question. `facts` has by their ids what notes tell in facts, if
    they are to be told by them.
    """

    question: str
    asked: str
    hits: Sequence[Hit]
    ties: Sequence[Contrary]
    left_out: Mapping[str, str]
    settings: AnswerSettings
    language: str
    cost: Cost
    fallbacks: tuple[str, ...]
    sure: bool = True
    facts: Mapping[str, str] = field(default_factory=dict)

    def context(self, budget: int, beside: Collection[Source] = (), claims: Sequence[Claim] = ()) -> Context:
        """Return a context without the notes that say nothing but what the turns `beside` it do, word for word."""
        shown = {(turn.id, turn.hash) for turn in beside}
        repeated = [hit.note.id for hit in self.hits if self._repeats(hit, shown)]
        hits = [hit for hit in self.hits if hit.note.id not in repeated]
        given = self.asked, hits, self.ties, budget, self.settings, self.language, claims
        context = compose(*given, clauses=self.facts, sure=self.sure)
        left_out = {**context.left_out, **self.left_out, **dict.fromkeys(repeated, "it is among the last turns")}
        asked = self.asked if self.asked != self.question else ""
        told = replace(context, question=self.question, asked=asked, left_out=left_out)
        return replace(told, cost=self.cost, fallbacks=self.fallbacks)

    def _repeats(self, hit: Hit, shown: Collection[tuple[str, str]]) -> bool:
        """Tell whether the turns say all of a note; they don't if the user gave it another text since."""
        sources = hit.sources
        return (
            bool(sources)
            and all((source.id, source.hash) in shown for source in sources)
            and set(hit.note.raw) <= {line(source, self.language) for source in sources}
        )
