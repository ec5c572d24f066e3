"""Which notes only ask what is asked: each was a question to the memory before, and answers nothing.

Who chats asks the same again, and what is asked is remembered as all else is. No note is nearer to a question than the
same question.
"""

from collections.abc import Sequence
from dataclasses import replace

from memgraph_engine.language.terms import CLAUSES, CLOSED, listed_terms, spoken, tokenize, word_list
from memgraph_engine.model.memory import Note
from memgraph_engine.model.result import Hit
from memgraph_engine.model.text import is_question


def echoes(note: Note, question: str, languages: Sequence[str]) -> bool:
    """Tell whether a note asks what is asked, and says nothing besides.

    Each of its sentences opens as questions do and goes on to its end ("Where do I live now?"), and none of its words
    that tell what it is about is missing in the question. "My wife is Eva, no?" tells it, and so does "I live here?".
    """
    told = [source.text for source in note.sources]
    return bool(told) and all(map(is_question, told)) and any(_within(told, question, one) for one in languages)


def last(hits: Sequence[Hit], question: str, languages: Sequence[str]) -> list[Hit]:
    """Put what only asks what is asked behind all other hits, with the least score of them."""
    asks = [echoes(hit.note, question, languages) for hit in hits]
    answers = [hit for hit, one in zip(hits, asks, strict=True) if not one]
    if len(answers) in (0, len(hits)):
        return list(hits)
    least = answers[-1].score
    return [*answers, *(replace(hit, score=min(hit.score, least)) for hit, one in zip(hits, asks, strict=True) if one)]


def _within(told: Sequence[str], question: str, language: str) -> bool:
    opens, text = word_list(language, "question-words"), "\n".join(told)
    if opens and not all(words[0] in opens for one in CLAUSES.split(text) if (words := spoken(one))):
        return False
    said, asked = (set(tokenize(one, language)) for one in (text, question))
    # where the grammar of a language is not known, the words are the same
    return said - listed_terms(language, *CLOSED) <= asked if opens else said == asked
