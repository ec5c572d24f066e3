"""Which of the hits a context may tell: what an assistant said and what was supposed gives way to what was stated."""

from collections.abc import Sequence

from memgraph_engine.answer.facts import relevance
from memgraph_engine.language.terms import places, sentences, spoken, word_list
from memgraph_engine.model.echo import echoes
from memgraph_engine.model.memory import Source
from memgraph_engine.model.result import Hit
from memgraph_engine.model.text import BRIEF, only_asks
from memgraph_engine.rendering.context import noise

_SAID, _SUPPOSED, _ASKS = "an assistant said it", "it only supposes", "it only asks"


def candidates(question: str, hits: Sequence[Hit], language: str) -> tuple[list[Hit], dict[str, str]]:
    """Return the hits that a context may tell, and for all others why not, by their notes' ids.

    None answers small talk, and what only asks the same answers nothing. What an assistant said is told to a question
    that speaks to the assistant ("What did you recommend?"), and what the user only supposed ("if I won, I'd buy a
    boat") to one that supposes as well; else where nothing that he stated is more relevant. What only asks something
    else is told, and states nothing.
    """
    words = spoken(question)
    agrees = "_".join(words) in word_list(language, "acknowledgements")  # "ok", "sounds good"
    if hits and (agrees or noise(Source("", question, ""), language)):
        return [], {hit.note.id: "the question is small talk" for hit in hits}
    out = {hit.note.id: "it asks the same" for hit in hits if echoes(hit.note, question, (language,))}
    hits = [hit for hit in hits if hit.note.id not in out]
    meant = {
        _SAID: not word_list(language, "second-person").isdisjoint(words),
        _SUPPOSED: _supposes(question, language),
        _ASKS: True,
    }
    doubtful = {hit.note.id: why for hit in hits if (why := _doubt(hit, language))}
    stated = max((relevance(hit) for hit in hits if hit.note.id not in doubtful), default=0.0)
    out |= {
        hit.note.id: f"{why}, and what the user stated is more relevant"
        for hit in hits
        if (why := doubtful.get(hit.note.id, "")) and not meant[why] and relevance(hit) < stated
    }
    return [hit for hit in hits if hit.note.id not in out], out


def _doubt(hit: Hit, language: str) -> str:
    """Say why a note's words are no statement of the user's, or ''."""
    if hit.note.role == "assistant":
        return _SAID
    told = [source.text for source in hit.sources] or [hit.note.text]
    if all(_supposes(text, language) for text in told):
        return _SUPPOSED
    return _ASKS if all(only_asks(text, language) for text in told) else ""


def _supposes(text: str, language: str) -> bool:
    """Tell whether each sentence of more than two words supposes something: "If I won, I'd buy a boat."."""
    phrases = word_list(language, "suppositions")
    stated = [words for one in sentences(text, language) if len(words := spoken(one)) > BRIEF]
    return bool(stated) and all(any(places(words, phrase) for phrase in phrases) for words in stated)
