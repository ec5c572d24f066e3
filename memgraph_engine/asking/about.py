"""Who asks what is known about him shares no word with it: he asks for what his profile tells, and for his topics."""

import re

from memgraph_engine.engine.wiring import Engine
from memgraph_engine.graph import profiles, topics
from memgraph_engine.model.profile import MANY
from memgraph_engine.model.result import QueryPlan
from memgraph_engine.model.scope import Scope
from memgraph_engine.recall.plan import Reading

_VALUES, _TOPICS = 8, 4  # that are looked for, the first of the profile and the largest
_ASKED = {
    "english": r"(?:know|remember|recall|learn\w*|stored?|have)(?: \w+){0,3}? (?:about|of|on) (?:me|myself)"
    r"|about myself|who am i",
    "spanish": r"(?:sabes|recuerdas|conoces|aprendido|guardas|tienes)(?: \w+){0,3}? (?:de|sobre) m[ií]"
    r"|quién soy(?: yo)?",
}


def asks_about_user(question: str, language: str) -> bool:
    """Tell whether a question asks for what is known about the user, and for nothing else.

    >>> asked = "What do you know about me?", "What do you know about me and Bo?", "Who am I?", "Am I well?"
    >>> [asks_about_user(one, "english") for one in asked]
    [True, False, True, False]
    """
    pattern = _ASKED.get(language)
    return bool(pattern and re.search(rf"\b(?:{pattern})\W*$", question.casefold()))


def read_about_user(engine: Engine, scope: Scope, question: str, language: str) -> Reading | None:
    """Return what a question about the user looks for beside its words, None for any other question.

    That is what the profile tells, or without one what a profile would tell of, and the largest topics.
    """
    if not scope.user or not asks_about_user(question, language):
        return None
    known = [one.value for one in profiles.find(engine.db, scope.name, "").attributes] or [f"my {one}" for one in MANY]
    labels = [one.label for one in topics.every(engine.db, scope.name)]
    queries = tuple(dict.fromkeys((*known[:_VALUES], *labels[:_TOPICS])))
    return Reading(QueryPlan(queries=queries), queries=[engine.embedder.embed_query(query) for query in queries])
