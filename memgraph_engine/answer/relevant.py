"""What of the hits is about the question: a memory that holds nothing on it has nothing to tell."""

import re
from collections.abc import Sequence
from math import inf, sqrt

from memgraph_engine.answer.places import places as places_of
from memgraph_engine.language import places, word_list
from memgraph_engine.model.echo import only_asks
from memgraph_engine.model.memory import Source
from memgraph_engine.model.result import Hit
from memgraph_engine.rendering import noise

USUAL = 20
"""Notes of the memories that the floors were chosen by."""
_WORDS = re.compile(r"[^\W_]+")
_WRITTEN = re.compile(r"[^\W_]+(?:'[^\W_]+)*")  # "I'd" is one word
_ENDS = re.compile(r"[.!?\n]+")
_AROUND = range(-4, 5)  # turns: so far from a relevant note a talk is still about it
_FEW = 7  # notes of a memory: of fewer each may be what is asked for
_BESIDE = 1 / 10  # of the floor: from there on a note is told where another one reaches it
_DOUBTED = 2.0  # times the floor
_AS_GOOD = 0.95  # of the relevance of what the user stated himself
_BRIEF = 2  # words of a sentence that states nothing
_SAID, _SUPPOSED, _ECHO = "an assistant said it", "it only supposes", "it asks the same"


def chance(notes: int) -> float:
    """Return by how much the odds must be better among so many notes: of many, one is like any question by chance.

    They grow with the square root of the number of notes, from 20 on.

    >>> chance(5), chance(20), chance(2000)
    (1.0, 1.0, 10.0)
    """
    return max(1.0, sqrt(notes / USUAL))


def raised(floor: float, notes: int) -> float:
    """Return the relevance that the best of so many notes has to reach, by `chance`.

    Below 7 notes the odds fall with their number: each may be what is asked for in other words, and to tell one too
    many costs a line.

    >>> [round(raised(0.12, notes), 3) for notes in (1, 5, 10, 20, 200, 2000)]
    [0.019, 0.089, 0.12, 0.12, 0.301, 0.577]
    """
    share = floor * min(notes / _FEW, chance(notes))
    return share / (share + 1 - floor)


def relevant(
    question: str, hits: Sequence[Hit], floor: float, language: str, notes: int = USUAL
) -> tuple[list[Hit], dict[str, str]]:
    """Return the hits that a context tells, and by the ids of the other notes why it does not.

    None is told unless one reaches the `floor`, `raised` for the number of `notes` that were searched, nor where the
    question is small talk. Then what reaches a tenth of the floor is told too, and what was said within a few turns of
    a relevant note. A question asked before tells nothing to the same question. An assistant's words answer a question
    that speaks to it ("What did you recommend?"), and what the user only supposed one that supposes as well. Any other
    they answer if they reach twice the floor: an assistant's where nothing that the user stated is more relevant, and
    what was supposed where nothing that he stated would be enough by itself.
    What took the place of a note that is told is told with it. A hit whose relevance is not known counts as relevant.
    """
    words = {word.casefold() for word in _WORDS.findall(question)}
    if words and (words <= word_list(language, "interjections") or noise(Source("", question, ""), language)):
        return [], {hit.note.id: "the question is small talk" for hit in hits}
    echoes = {hit.note.id: _ECHO for hit in hits if only_asks(hit.note, question, (language,))}
    hits = [hit for hit in hits if hit.note.id not in echoes]
    doubtful = {hit.note.id: why for hit in hits if (why := _doubt(hit, language))}
    least = raised(floor, notes)
    reached = [hit for hit in hits if _relevance(hit) >= min(floor, least)]
    around = {(session, seq + step) for hit in reached for session, seq in places_of(hit.note) for step in _AROUND}
    known = any(_relevance(hit) >= least for hit in hits)
    own = max((_relevance(hit) for hit in hits if hit.note.id not in doubtful), default=0.0)
    asked = {
        _SAID: not words.isdisjoint(word_list(language, "second-person")),
        _SUPPOSED: _supposes(question, language),
    }

    def needed(hit: Hit) -> float:
        why = doubtful.get(hit.note.id)
        if why and not asked[why]:
            return inf if why == _SUPPOSED and own >= least else min(max(floor * _DOUBTED, own * _AS_GOOD), 1.0)
        near = not why and not around.isdisjoint(places_of(hit.note))
        return 0.0 if near else min(floor * _BESIDE, least)

    told = {hit.note.id for hit in hits if known and _relevance(hit) >= needed(hit)}
    told |= {hit.replaced_by for hit in hits if hit.note.id in told and hit.replaced_by}
    kept = [hit for hit in hits if hit.note.id in told]
    rest = [hit for hit in hits if hit.note.id not in told]
    none = "" if known else f"; none of {notes} notes reaches {least:.2f}"
    dropped = {hit.note.id: _why(hit, needed(hit), doubtful.get(hit.note.id, ""), none) for hit in rest}
    return kept, echoes | dropped


def _why(hit: Hit, needed: float, doubt: str, none: str) -> str:
    """Say why a hit is not told."""
    relevance = _relevance(hit)
    if not doubt or relevance >= needed:
        return f"it is not relevant ({relevance:.2f}{none})"
    if needed == inf:
        return f"{doubt}, and what was stated is relevant too"
    return f"{doubt}, and it is not relevant enough for that ({relevance:.2f} of {needed:.2f})"


def _doubt(hit: Hit, language: str) -> str:
    """Say why a note's words are no statement of the user's, or ''."""
    if hit.note.role == "assistant":
        return _SAID
    told = [source.text for source in hit.sources] or [hit.note.text]
    return _SUPPOSED if all(_supposes(text, language) for text in told) else ""


def _supposes(text: str, language: str) -> bool:
    """Tell whether each sentence of more than two words supposes something: "If I won, I'd buy a boat."."""
    sentences = [_WRITTEN.findall(one.casefold().replace("’", "'")) for one in _ENDS.split(text)]
    phrases = word_list(language, "suppositions")
    stated = [words for words in sentences if len(words) > _BRIEF]
    return bool(stated) and all(any(places(words, phrase) for phrase in phrases) for words in stated)


def _relevance(hit: Hit) -> float:
    return 1.0 if hit.relevance is None else hit.relevance
