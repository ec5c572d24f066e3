"""Hits by blocks (LightMem, section 3.5): the notes of the blocks chosen for a question, in place of a search's."""

from collections.abc import Sequence

from memgraph_engine.blocks.reading import scored
from memgraph_engine.engine.wiring import Engine
from memgraph_engine.graph import scopes
from memgraph_engine.interface.defaults import MOST
from memgraph_engine.model.result import Hit, Hits
from memgraph_engine.recall.fusion import cosines, counted
from memgraph_engine.recall.question import terms
from memgraph_engine.recall.relevance import covered
from memgraph_engine.recall.search import Query

_TOKENS = 100  # of a budget: one block more is chosen for each, two or three times as many as there is room for


def most_blocks(budget: int) -> int:
    """Return how many blocks are chosen for a context of so many tokens: the paper's 10, and more where it is large.

    >>> most_blocks(500), most_blocks(4000)
    (10, 40)
    """
    return min(max(10, budget // _TOKENS), MOST)


def by_blocks(engine: Engine, query: Query, languages: Sequence[str], k: int) -> Hits:
    """Return the notes of k blocks, the best first: each is as relevant as one that a search finds."""
    found = scored(engine, query.scope_names, query.vector, k)
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
        if note.whole:  # else it was removed meanwhile
            hits.append(Hit(note.note(), (1 + score) / 2, similarity, None, float(share), relevance))
    return Hits(hits, among=among)
