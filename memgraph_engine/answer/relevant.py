"""What of the hits is about the question: a memory that holds nothing on it has nothing to tell."""

import re
from collections.abc import Sequence

from memgraph_engine.answer.places import places
from memgraph_engine.language import word_list
from memgraph_engine.model.memory import Source
from memgraph_engine.model.result import Hit
from memgraph_engine.rendering import noise

_WORDS = re.compile(r"[^\W_]+")
_AROUND = range(-6, 7)  # turns: so far from a relevant note a talk is still about it
_BESIDE = 1 / 3  # of the floor: from there on a note is told where another one reaches it
_ASSISTANT = 2.0  # times the floor
_AS_GOOD = 0.95  # of the relevance of what the user himself said


def relevant(question: str, hits: Sequence[Hit], floor: float, language: str) -> tuple[list[Hit], dict[str, str]]:
    """Return the hits that a context tells, and by the ids of the other notes why it does not.

    None is told unless one reaches the `floor`, nor where the question is small talk. Then what is a third as relevant
    is told too, and what was said within a few turns of a relevant note. An assistant's words answer a question that
    speaks to it ("What did you recommend?"). Any other they answer if they reach twice the floor and nobody else said
    what is more relevant: most of them are suggestions. A hit whose relevance is not known counts as relevant.
    """
    words = {word.casefold() for word in _WORDS.findall(question)}
    if words and (words <= word_list(language, "interjections") or noise(Source("", question, ""), language)):
        return [], {hit.note.id: "the question is small talk" for hit in hits}
    reached = [hit for hit in hits if _relevance(hit) >= floor]
    around = {(session, seq + step) for hit in reached for session, seq in places(hit.note) for step in _AROUND}
    own = max((_relevance(hit) for hit in hits if not _assistant(hit)), default=0.0)
    addressed = not words.isdisjoint(word_list(language, "second-person"))
    least = floor * _BESIDE if addressed else max(floor * _ASSISTANT, own * _AS_GOOD)
    kept = [
        hit
        for hit in hits
        if reached
        and (
            _relevance(hit) >= min(least, 1.0)
            if _assistant(hit)
            else not around.isdisjoint(places(hit.note)) or _relevance(hit) >= floor * _BESIDE
        )
    ]
    told = {hit.note.id for hit in kept}
    return kept, {hit.note.id: _why(hit, least) for hit in hits if hit.note.id not in told}


def _why(hit: Hit, least: float) -> str:
    """Say why a hit is not told; `least` is what an assistant's words need."""
    found = f"it is not relevant ({_relevance(hit):.2f})"
    if not _assistant(hit) or _relevance(hit) >= least:
        return found
    return (
        f"an assistant said it, and it is not relevant enough for that ({_relevance(hit):.2f} of {min(least, 1.0):.2f})"
    )


def _assistant(hit: Hit) -> bool:
    return hit.note.role == "assistant"


def _relevance(hit: Hit) -> float:
    return 1.0 if hit.relevance is None else hit.relevance
