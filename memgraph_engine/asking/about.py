"""Who asks what is known about him, or for his name, shares no word with it: it is what his profile and topics tell."""

from memgraph_engine.engine.wiring import Engine
from memgraph_engine.graph import decisions, topics
from memgraph_engine.language.questions import asked_attributes, asks_about_user
from memgraph_engine.model.profile import MANY
from memgraph_engine.model.result import QueryPlan
from memgraph_engine.model.scope import Scope
from memgraph_engine.recall.plan import Reading

_VALUES, _TOPICS = 8, 4  # that are looked for, the first of the profile and the largest


def read_about_user(engine: Engine, scope: Scope, question: str) -> Reading | None:
    """Return what a question about the user looks for beside its words, None for any other question.

    That is what the profile tells, or would tell of, and the largest topics; or the values of the attributes that it
    asks for, which the notes that tell them answer. Whatever is found of it answers it.
    """
    if not scope.user:
        return None
    whole, names = asks_about_user(question), asked_attributes(question, engine.language_of(scope))
    known = decisions.profile(engine.db, scope.name, "").attributes if whole or names else ()
    some = [one for one in known if one.predicate in names]
    told = [one.value for one in some]
    if whole:
        told = [one.value for one in known][:_VALUES] or [f"my {one}" for one in MANY][:_VALUES]
        told += [one.label for one in topics.every(engine.db, scope.name)][:_TOPICS]
    if not (queries := tuple(dict.fromkeys(told))):
        return None
    vectors = [engine.embedder.embed_query(query) for query in queries]
    return Reading(QueryPlan(queries=queries), queries=vectors, answers=frozenset(one.note for one in some if one.note))
