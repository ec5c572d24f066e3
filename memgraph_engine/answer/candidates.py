"""Which of the hits a context may tell: what an assistant said and what was supposed gives way to what was stated."""

from collections.abc import Sequence

from memgraph_engine.answer.facts import relevance
from memgraph_engine.answer.lines import text
from memgraph_engine.language.terms import places, sentences, spoken, word_list
from memgraph_engine.model.echo import echoes
from memgraph_engine.model.memory import Source
from memgraph_engine.model.result import Hit
from memgraph_engine.model.text import BRIEF, only_asks, words
from memgraph_engine.rendering.context import noise

_SAID, _SUPPOSED, _ASKS = "an assistant said it", "it only supposes", "it only asks"


def candidates(question: str, hits: Sequence[Hit], language: str) -> tuple[list[Hit], dict[str, str]]:
    """Return the hits that a context may tell, and for all others why not, by their notes' ids.

    None answers small talk, and what only asks the same, or agrees to no question, answers nothing. What an assistant
    said is told to a question that speaks to the assistant ("What did you recommend?"), and what the user only supposed
    ("if I won, I'd buy a boat") to one that supposes as well; else where nothing that he stated is more relevant. What
    only asks something else is told, and states nothing.
    """
    if hits and noise(Source("", question, ""), language, answers=False):
        return [], {hit.note.id: "the question is small talk" for hit in hits}
    out = {hit.note.id: "it asks the same" for hit in hits if echoes(hit.note, question, (language,))}
    out |= {hit.note.id: "it is small talk" for hit in hits if _idle(hit, language)}
    hits = [hit for hit in hits if hit.note.id not in out]
    meant = {
        _SAID: not word_list(language, "second-person").isdisjoint(spoken(question)),
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


def _idle(hit: Hit, language: str) -> bool:
    """Tell whether a hit says no more than "ok" or "great", behind no question that this may answer."""
    if not _only_polite(hit.note.text, hit, language):
        return False
    told, asked = text(hit.note, language)
    return not asked and _only_polite(words(told, hit.note.sources)[0], hit, language)  # a model may have written more


def _only_polite(said: str, hit: Hit, language: str) -> bool:
    return bool(noise(Source("", said, "", role=hit.note.role), language, answers=False))


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
    stated = [said for one in sentences(text, language) if len(said := spoken(one)) > BRIEF]
    return bool(stated) and all(any(places(said, phrase) for phrase in phrases) for said in stated)
