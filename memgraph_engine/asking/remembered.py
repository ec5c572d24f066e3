"""What was found for a question, by a search or by blocks: contexts are made of it, of any length."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace

from memgraph_engine.answer.context import GENERAL, compose
from memgraph_engine.blocks import reading
from memgraph_engine.cost import Cost
from memgraph_engine.engine.wiring import Engine
from memgraph_engine.graph import scopes
from memgraph_engine.interface.defaults import MOST
from memgraph_engine.model.answer import Context
from memgraph_engine.model.claim import Claim
from memgraph_engine.model.memory import Source, line
from memgraph_engine.model.result import Contrary, Hit, Hits
from memgraph_engine.recall.fusion import cosines, counted
from memgraph_engine.recall.question import terms
from memgraph_engine.recall.relevance import covered
from memgraph_engine.recall.search import Query
from memgraph_engine.settings import AnswerSettings
from memgraph_engine.trust import below, marked


@dataclass(frozen=True, slots=True)
class Remembered:
    """The hits of a question that may be told, with their ties; `left_out` says why others are not among them.

    `asked` is the question as the memory was asked it, with what it refers back to.
    `sure` tells whether the hits most likely answer the question. `facts` has by their ids what notes tell in facts, if
    they are to be told by them. `claims` are told behind them, in their `share` of a budget, and `above` them what
    blocks tell, in lines.
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
    claims: Sequence[Claim] = ()
    share: float = GENERAL
    above: Sequence[str] = ()

    def context(self, budget: int, beside: Collection[Source] = ()) -> Context:
        """Return a context without the notes that say nothing but what the turns `beside` it do, word for word."""
        shown = {(turn.id, turn.hash) for turn in beside}
        repeated = [hit.note.id for hit in self.hits if self._repeats(hit, shown)]
        hits = [hit for hit in self.hits if hit.note.id not in repeated]
        given = self.asked, hits, self.ties, budget, self.settings, self.language, self.claims
        context = compose(*given, clauses=self.facts, share=self.share, above=self.above, sure=self.sure)
        left_out = {**context.left_out, **self.left_out, **dict.fromkeys(repeated, "it is among the last turns")}
        asked = self.asked if self.asked != self.question else ""
        told = replace(context, query=self.question, asked=asked, left_out=left_out)
        return replace(told, cost=self.cost, fallbacks=self.fallbacks)

    def _repeats(self, hit: Hit, shown: Collection[tuple[str, str]]) -> bool:
        """Tell whether the turns say all of a note; they don't if the user gave it another text since."""
        sources = hit.sources
        return (
            bool(sources)
            and all((source.id, source.hash) in shown for source in sources)
            and set(hit.note.raw) <= {line(source, self.language) for source in sources}
        )


_TOKENS = 100  # of a budget: one block more is chosen for each, two or three times as many as there is room for


def most_blocks(budget: int) -> int:
    """Return how many blocks are chosen for a context of so many tokens: the paper's 10, and more where it is large.

    >>> most_blocks(500), most_blocks(4000)
    (10, 40)
    """
    return min(max(10, budget // _TOKENS), MOST)


def by_blocks(engine: Engine, query: Query, languages: Sequence[str], k: int) -> tuple[Hits, list[str]]:
    """Return the notes of k blocks, the best first, each as relevant as one that a search finds; and these' fields.

    By the setting `blocks.context` it is one of these, or both; then fields are told that a model wrote: others only
    repeat the notes.
    """
    told = engine.settings.blocks.context
    chosen = reading.selected(engine, query.scope_names, query.vector, k)
    above = list[str]()
    if told != "notes":
        shown, _, lines = reading.told(engine, query.scope_names, chosen, languages[0], query.vector)
        classes = reading.trusted(engine, query.scope_names, query.vector, shown)
        above = [
            f"(Partly {mark}) {text}" if (mark := marked(trust)) else text
            for one, text, trust in zip(shown, lines, classes, strict=True)
            if (one.described_by or told == "fields") and not below(trust, query.filters.trust)
        ]
    found = reading.scored(engine, query.scope_names, query.vector, chosen if told != "fields" else [])
    notes = [note for note, _ in found]
    engine.notes.complete(engine.db, query.scope_names, notes)
    words = terms(query.text, languages)
    states = (scopes.state(engine.db, name) for name in query.scope_names)
    among = sum(state.notes for state in states if state)
    asked = [range(len(words))]
    shares = covered(words, counted(notes, words), asked, notes, among, query.scopes[0], languages)[0, :, 0]
    near = cosines(notes, query.vector)[0]
    hits = []
    for (note, score), share, (own, context) in zip(found, shares, near, strict=True):
        similarity = max(float(own), float(context))
        by = float(own) if note.role == "assistant" else similarity
        relevance = query.weights.relevance(by, float(share)) if query.weights else None
        if note.whole and not below(note.note().trust, query.filters.trust):  # else it was removed meanwhile
            hits.append(Hit(note.note(), (1 + score) / 2, similarity, None, float(share), relevance))
    return Hits(hits, among=among), above
