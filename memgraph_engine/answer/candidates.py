"""Which of the hits a context may tell: what an assistant said and what was supposed gives way to what was stated."""

from collections.abc import Sequence

from memgraph_engine.answer.facts import relevance
from memgraph_engine.answer.lines import text
from memgraph_engine.language.questions import asks_again, asks_assistant, only_asks, small_talk, supposes
from memgraph_engine.model.memory import words
from memgraph_engine.model.result import Hit

_SAID, _SUPPOSED, _ASKS = "an assistant said it", "it only supposes", "it only asks"


def candidates(question: str, hits: Sequence[Hit], language: str) -> tuple[list[Hit], dict[str, str]]:
    """Return the hits that a context may tell, and for all others why not, by their notes' ids.

    None answers small talk, and what only asks the same, or agrees to no question, answers nothing. What an assistant
    said is told to a question that speaks to the assistant ("What did you recommend?"), and what the user only supposed
    ("if I won, I'd buy a boat") to one that supposes as well; else where nothing that he stated is more relevant. What
    only asks something else is told, and states nothing.
    """
    if hits and small_talk(question, language, answers=False):
        return [], {hit.note.id: "the question is small talk" for hit in hits}
    out = {hit.note.id: "it asks the same" for hit in hits if asks_again(_said(hit), question, language)}
    out |= {hit.note.id: "it is small talk" for hit in hits if _idle(hit, language)}
    hits = [hit for hit in hits if hit.note.id not in out]
    meant = {_SAID: asks_assistant(question, language), _SUPPOSED: supposes(question, language), _ASKS: True}
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
    return small_talk(said, language, assistant=hit.note.role == "assistant", answers=False)


def _doubt(hit: Hit, language: str) -> str:
    """Say why a note's words are no statement of the user's, or ''."""
    if hit.note.role == "assistant":
        return _SAID
    told = _said(hit) or [hit.note.text]
    if all(supposes(text, language) for text in told):
        return _SUPPOSED
    return _ASKS if all(only_asks(text, language) for text in told) else ""


def _said(hit: Hit) -> list[str]:
    return [source.text for source in hit.sources]
