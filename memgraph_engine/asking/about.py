"""Who asks what is known about him shares no word with it: he asks for what his profile tells, and for his topics."""

import re

from memgraph_engine.engine.wiring import Engine
from memgraph_engine.graph import profiles, topics
from memgraph_engine.language.terms import CLOSED, word_list
from memgraph_engine.model.profile import MANY
from memgraph_engine.model.result import QueryPlan
from memgraph_engine.model.scope import Scope
from memgraph_engine.recall.plan import Reading

_VALUES, _TOPICS = 8, 4  # that are looked for, the first of the profile and the largest
_ABOUT = {"english": r"(?:about|of|on) (?:me|myself)|who am i", "spanish": r"(?:de|sobre) m[ií]|quién soy"}
_ASKING = {
    "english": r"know|tell|rem(?:ember|ind)|recall|learn\w*|stored?|have|memory|who|what's|far|anything|currently",
    "spanish": r"sab\w+|recuerd\w+|conoc\w+|aprendido|guarda\w+|tien\w+|memoria|contar|pued\w+|todo|ahora|favor|quién",
}


def asks_about_user(question: str) -> bool:
    """Tell whether a question asks for what is known about the user, in any language, and has no word of aught else.

    >>> asked = "What do you know about me so far?", "What do you know about me and Bo?", "Who am I?", "Am I well?"
    >>> [asks_about_user(one) for one in asked]
    [True, False, True, False]
    """
    said = question.casefold().replace("’", "'")
    return any(_asks(said, language) for language in _ABOUT)


def _asks(said: str, language: str) -> bool:
    if not re.search(rf"\b(?:{_ABOUT[language]})\b", said):  # as most questions
        return False
    words = {*re.findall(r"[^\W_]+(?:'[^\W_]+)?", said)}
    asking = {word for word in words if re.fullmatch(_ASKING[language], word)}
    closed = (word_list(language, kind) for kind in (*CLOSED, "time-words", "courtesies"))
    return bool(asking) and not words.difference(asking, *closed)


def read_about_user(engine: Engine, scope: Scope, question: str) -> Reading | None:
    """Return what a question about the user looks for beside its words, None for any other question.

    That is what the profile tells, or would tell of, and the largest topics. Whatever is found of it answers it.
    """
    if not scope.user or not asks_about_user(question):
        return None
    known = [one.value for one in profiles.find(engine.db, scope.name, "").attributes] or [f"my {one}" for one in MANY]
    labels = [one.label for one in topics.every(engine.db, scope.name)]
    queries = tuple(dict.fromkeys((*known[:_VALUES], *labels[:_TOPICS])))
    return Reading(QueryPlan(queries=queries), queries=[engine.embedder.embed_query(query) for query in queries])
