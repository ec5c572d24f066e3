"""Who asks what is known about him shares no word with it: he asks for what his profile tells, and for his topics."""

from memgraph_engine.engine.wiring import Engine
from memgraph_engine.graph import decisions, topics
from memgraph_engine.language.questions import asks_about_user
from memgraph_engine.model.profile import MANY
from memgraph_engine.model.result import QueryPlan
from memgraph_engine.model.scope import Scope
from memgraph_engine.recall.plan import Reading

_VALUES, _TOPICS = 8, 4  # that are looked for, the first of the profile and the largest


def read_about_user(engine: Engine, scope: Scope, question: str) -> Reading | None:
    """Return what a question about the user looks for beside its words, None for any other question.

    That is what the profile tells, or would tell of, and the largest topics. Whatever is found of it answers it.
    """
    if not scope.user or not asks_about_user(question):
        return None
    known = [one.value for one in decisions.profile(engine.db, scope.name, "").attributes] or [
        f"my {one}" for one in MANY
    ]
    labels = [one.label for one in topics.every(engine.db, scope.name)]
    queries = tuple(dict.fromkeys((*known[:_VALUES], *labels[:_TOPICS])))
    return Reading(QueryPlan(queries=queries), queries=[engine.embedder.embed_query(query) for query in queries])
