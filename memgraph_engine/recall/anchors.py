"""Where the pathways of a question begin: a search counts with it, and returns only what they come to."""

from memgraph_engine.graph import notes as note_graph
from memgraph_engine.graph.database import Database
from memgraph_engine.model.result import Anchor
from memgraph_engine.recall.search import Query, parameters
from memgraph_engine.settings import RecallSettings

_TAKEN = ("scopes", "statuses", "vector", "names", "keywords", "topics")


def anchors(db: Database, query: Query, language: str, settings: RecallSettings) -> list[Anchor]:
    """Return the keywords that the pathways of a question lead over, those of each channel best first.

    `language` is what the scopes' is expected to be; where it is another, the graph is asked again.
    """
    languages = [language]
    while True:
        given = parameters(query, languages, settings)
        row = note_graph.anchors(db, **{name: given[name] for name in _TAKEN})
        recorded = sorted(row["languages"])
        if not recorded or recorded == sorted(languages):
            return [Anchor(**{**anchor, "notes": tuple(anchor["notes"])}) for anchor in row["anchors"]]
        languages = recorded
