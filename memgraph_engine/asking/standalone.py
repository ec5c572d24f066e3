"""A question that stands alone: what it refers back to is named (LightMem with small models, section 3.3).

"What did she buy?" shares no word with what is looked for, and is near to anybody's shopping. A chat model that is
given the last turns knows who she is; so does a memory that reads them.
"""

import re
from collections import defaultdict
from collections.abc import Iterator, Sequence

from memgraph_engine.ingest.keywords import candidates
from memgraph_engine.language import APOSTROPHES, CLOSED, listed_terms, places, tokenize, word_list, word_values
from memgraph_engine.model.memory import Source

_MOST = 3  # phrases that a question is given for a thing
_BRIEF = 2  # words with content of which a question that goes on from another has fewer
_ASSISTANT = 0.5  # what a phrase of an assistant's counts beside one of the user's
_WORD = re.compile(r"[^\W_]+(?:'[^\W_]+)*")


def standalone(question: str, turns: Sequence[Source], language: str) -> str:
    """Return a question that tells by itself what its pronouns stand for in the last turns, the oldest first.

    In the place of the first that stands for a person comes the name told of last and most; for a thing at most three
    phrases follow the question, since which one is meant is less sure. The user's turns count twice as much as an
    assistant's. A pronoun behind a name or a known thing of the question itself stands for that. A question that only
    goes on ("And on Sunday?") is about what was told of before. What refers back to nothing is returned as it is.

    >>> said = [Source("1", "How is Maria's boat?", "", role="user"), Source("2", "Fine.", "", role="assistant")]
    >>> standalone("What did she buy?", said, "english"), standalone("Where is it?", said, "english")
    ('What did Maria buy?', 'Where is it? (Maria, boat)')
    >>> standalone("What did Tom buy for his boat?", said, "english")
    'What did Tom buy for his boat?'
    """
    said = question.translate(APOSTROPHES)
    found = [*_references(said, language)]
    goes_on = _goes_on(said, language)
    if not (found or goes_on):
        return question
    told = [phrase for phrase in _told(turns, language) if phrase.casefold() not in question.casefold()]
    names = [phrase for phrase in told if phrase[0].isupper()]
    person = next((match for match, kind in found if kind == "person"), None)
    if person and names:
        return f"{question[: person.start()]}{names[0]}{question[person.end() :]}"
    behind = ", ".join(told[:_MOST]) if goes_on or not person else ""
    return f"{question} ({behind})" if behind else question


def _references(said: str, language: str) -> Iterator[tuple[re.Match[str], str]]:
    """Yield the pronouns that stand for nothing in the question itself, each with the kind of what it stands for.

    "That recipe" names a thing, and "is there" a place of none.
    """
    listed = word_values(language, "back-references")
    closed = listed_terms(language, *CLOSED)
    words = [*_WORD.finditer(said)]
    known = False  # whether somebody or something known is told of before
    for at, match in enumerate(words):
        word = match[0].casefold()
        kind = listed.get(word.partition("'")[0], "")
        if kind and not known and _stands_alone(words, at, kind, closed, language):
            told = candidates(said[: match.start()], language, speaker="")
            if not [phrase for phrase in told if kind != "person" or phrase[0].isupper()]:
                yield match, kind
        known = known or (word in word_list(language, "determiners") and not kind)


def _stands_alone(words: Sequence[re.Match[str]], at: int, kind: str, closed: frozenset[str], language: str) -> bool:
    """Tell whether a word is a pronoun where it stands: no article of a noun, and not there to say that one exists."""
    if kind == "place":
        return not at or words[at - 1][0].casefold() not in word_list(language, "question-words")
    if kind != "pointed":
        return True
    return at + 1 == len(words) or closed.issuperset(tokenize(words[at + 1][0], language))


def _goes_on(said: str, language: str) -> bool:
    """Tell whether a question says too little by itself, and begins as one that goes on from another: "And Tom?"."""
    words = [match[0].casefold() for match in _WORD.finditer(said)]
    closed = listed_terms(language, *CLOSED)
    content = [term for term in tokenize(said, language) if term not in closed]
    return len(content) < _BRIEF and any(0 in places(words, phrase) for phrase in word_list(language, "follow-ups"))


def _told(turns: Sequence[Source], language: str) -> list[str]:
    """Return the names and phrases of turns, those first that were told of last and most."""
    weights: defaultdict[str, float] = defaultdict(float)
    for age, turn in enumerate(reversed(turns)):
        share = _ASSISTANT if turn.role == "assistant" else 1.0
        for phrase in candidates(turn.text, language, speaker=turn.speaker):
            weights[phrase] += share / (1 + age)
    return sorted(weights, key=lambda phrase: -weights[phrase])
