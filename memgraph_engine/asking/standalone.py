"""A question that stands alone: what it refers back to is named (LightMem with small models, section 3.3).

"What did she buy?" shares no word with what is looked for, and is near to anybody's shopping. A chat model that is
given the last turns knows who she is; so does a memory that reads them.
"""

import re
from collections import Counter
from collections.abc import Sequence

from memgraph_engine.ingest.keywords import candidates
from memgraph_engine.language import APOSTROPHES, CLOSED, listed_terms, places, tokenize, word_list, word_values
from memgraph_engine.model.memory import Source

TURNS = 8
"""Of a session, the last turns that are read."""
_MOST = 3  # names and phrases that a question is given
_BRIEF = 2  # words with content of which a question that goes on from another has fewer
_ASSISTANT = 0.5  # what a phrase of an assistant's counts beside one of the user's
_WORD = re.compile(r"[^\W_]+(?:'[^\W_]+)*")


def standalone(question: str, turns: Sequence[Source], language: str) -> str:
    """Return a question with the names and phrases behind it that its pronouns may stand for, if there are any.

    `turns` are the last ones before it, the oldest first. Of a person names are taken, of a thing any phrase: at most
    three, those of the newest turns first, and the user's before an assistant's. A pronoun behind a name or a phrase of
    the question itself stands for that. A question that only goes on ("And on Sunday?") is about what was asked before.

    >>> said = Source("1", "How is Maria doing?", "", role="user"), Source("2", "She is well.", "", role="assistant")
    >>> standalone("What did she buy?", said, "english")
    'What did she buy? (Maria)'
    >>> standalone("What did Tom buy for his boat?", said, "english")
    'What did Tom buy for his boat?'
    """
    kinds = _referred(question, language)
    if not kinds:
        return question
    told = _told(turns, language)
    held = set(tokenize(question, language))
    new = [phrase for phrase in told if not held.issuperset(tokenize(phrase, language))]
    names = [phrase for phrase in new if any(map(str.isupper, phrase))]
    wanted = names if kinds == {"person"} and names else [*names, *new] if kinds <= {"person", "any"} else new
    found = list(dict.fromkeys(wanted))[:_MOST]
    return f"{question} ({', '.join(found)})" if found else question


def _referred(question: str, language: str) -> set[str]:
    """Return what kinds of things a question refers back to: a person, a thing, a place, or any."""
    said = question.translate(APOSTROPHES)
    references = word_values(language, "back-references")
    words = [match[0].casefold() for match in _WORD.finditer(said)]
    closed = listed_terms(language, *CLOSED)
    content = [term for term in tokenize(said, language) if term not in closed]
    if len(content) < _BRIEF and any(0 in places(words, phrase) for phrase in word_list(language, "follow-ups")):
        return {"thing"}
    kinds = set[str]()
    for match in _WORD.finditer(said):
        kind = references.get(match[0].casefold().partition("'")[0])
        if kind and not candidates(said[: match.start()], language, speaker=""):
            kinds.add(kind)
    return kinds


def _told(turns: Sequence[Source], language: str) -> list[str]:
    """Return the names and phrases of turns, those first that were told of last and most."""
    weights: Counter[str] = Counter()
    for age, turn in enumerate(reversed(turns)):
        share = _ASSISTANT if turn.role == "assistant" else 1.0
        for phrase in candidates(turn.text, language, speaker=turn.speaker):
            weights[phrase] += share / (1 + age)
    return sorted(weights, key=lambda phrase: -weights[phrase])
