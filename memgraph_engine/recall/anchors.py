"""Where the pathways of a question begin: a search counts with it, and returns only what they come to."""

from memgraph_engine.graph.database import Database
from memgraph_engine.graph.note_cache import NoteCache
from memgraph_engine.model.result import Anchor
from memgraph_engine.recall.pool import ANCHORED, anchors_of
from memgraph_engine.recall.search import Query, followed, propose
from memgraph_engine.settings import RecallSettings


def anchors(db: Database, cache: NoteCache, query: Query, language: str, settings: RecallSettings) -> list[Anchor]:
    """Return the keywords that the pathways of a question lead over, those of each channel best first."""
    answer, _, reading = propose(db, query, [language], settings)
    answer = followed(db, query, answer, reading, settings, traced=True)
    stamps = [stamp for entry in answer["proposed"] if entry[0] in ANCHORED for stamp in entry[1]]
    notes, _ = cache.read(db, query.scope_names, list(dict.fromkeys(stamps)), len(query.vector))
    return anchors_of(answer, notes)
