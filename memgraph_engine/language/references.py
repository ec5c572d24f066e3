"""A question that stands alone: what it refers back to is named (LightMem with small models, section 3.3).

"What did she buy?" shares no word with what is looked for, and is near to anybody's shopping. A chat model that is
given the last turns knows who she is; so does a memory that reads them.
"""

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby
from typing import Protocol

from memgraph_engine.language.keywords import candidates
from memgraph_engine.language.terms import (
    APOSTROPHES,
    closed_terms,
    places,
    sentences,
    spoken,
    tokenize,
    word_list,
    word_pattern,
    word_values,
)

_MOST = 3  # phrases that a question is given for a thing
_BRIEF = 2  # words with content of which a question that goes on from another has fewer
_ASSISTANT = 0.5  # what an assistant's turn counts beside one of the user's
_BEHIND = 0.5  # what a name counts behind what its sentence begins with
_UNSURE = 0.01  # what a name counts that only opens sentences: any other goes before it
_OWNED = "'s"
_ENDS = ".!"


def as_own(text: str, language: str) -> str:
    """Return what is said to somebody as he would say it of himself.

    >>> as_own("Your train leaves at 9, so you're late.", "english")
    "My train leaves at 9, so i'm late."
    """
    others, said = word_values(language, "addressed"), text.translate(APOSTROPHES)
    phrases = sorted((one.replace("_", " ") for one in others), key=len, reverse=True)
    if not phrases:
        return text
    told = re.compile(rf"(?<![\w'])(?:{'|'.join(map(re.escape, phrases))})(?![\w'])", re.IGNORECASE)

    def own(match: re.Match[str]) -> str:
        mine = others[match[0].casefold().replace(" ", "_")].replace("_", " ")
        return mine.capitalize() if match[0][0].isupper() else mine

    return told.sub(own, said)


def as_of_now(sentence: str, language: str) -> str:
    """Return a sentence as if it told how things are now.

    >>> as_of_now("My train leaves at 9.", "english")
    'My train leaves at 9 now'
    """
    return " ".join((sentence.rstrip(_ENDS), *word_list(language, "at-present")))


class Turn(Protocol):
    """What was said, and by whom."""

    @property
    def text(self) -> str:
        """What was said."""

    @property
    def speaker(self) -> str:
        """Who said it, '' where that is not known."""

    @property
    def role(self) -> str:
        """Whether a user or an assistant said it."""


def standalone(question: str, turns: Sequence[Turn], language: str) -> str:
    """Return a question that tells by itself what its pronouns stand for in the last turns, the oldest first.

    In the place of the first that stands for a person comes who was told of last and most: by a name that stands behind
    no word of place ("in Leeds"), or as a sentence begins ("my mother", "the dog"). Where one sentence names several,
    all of them follow the question, as do at most three phrases for a thing, since which one is meant is less sure. The
    user's turns count twice as much as an assistant's. A pronoun behind a name or a known thing of the question itself
    stands for that. A question that only goes on ("And on Sunday?") is about what was told of before. What refers back
    to nothing is returned as it is.

    >>> from types import SimpleNamespace as Turn
    >>> told = ("user", "How is Maria's boat?"), ("assistant", "In Faro.")
    >>> said = [Turn(text=text, speaker="", role=role) for role, text in told]
    >>> standalone("What did she buy?", said, "english"), standalone("Where is it?", said, "english")
    ('What did Maria buy?', 'Where is it? (Maria, boat, Faro)')
    >>> standalone("What did Tom buy for his boat?", said, "english")
    'What did Tom buy for his boat?'
    """
    said = question.translate(APOSTROPHES)
    found = [*_references(said, language)]
    person = next((match for match, kind in found if kind == "person"), None)
    if person:
        meant = _persons(turns, language)
        if len(meant) == 1:
            return f"{said[: person.start()]}{_as(meant[0], person, said, language)}{said[person.end() :]}"
        return _with(question, meant)
    return _with(question, _told(turns, language)) if found or _goes_on(said, language) else question


def _with(question: str, phrases: Iterable[str]) -> str:
    """Return a question with the first phrases behind it that it does not have."""
    new = [phrase for phrase in phrases if phrase.casefold() not in question.casefold()][:_MOST]
    return f"{question} ({', '.join(new)})" if new else question


def _as(name: str, pronoun: re.Match[str], said: str, language: str) -> str:
    """Return a name as a pronoun stands in a question: "her" of "her dog" tells whose it is."""
    if "'" in pronoun[0]:
        return name + pronoun[0][pronoun[0].index("'") :]
    owns = word_list(language, "determiners")
    behind = word_pattern().match(said, pronoun.end() + 1)
    led = behind is not None and not closed_terms(language).issuperset(tokenize(behind[0], language))
    return name + _OWNED if led and pronoun[0].casefold() in owns else name


def _references(said: str, language: str) -> Iterator[tuple[re.Match[str], str]]:
    """Yield the pronouns that stand for nothing in the question itself, each with the kind of what it stands for.

    "That recipe" names a thing, and "is there" a place of none.
    """
    listed = word_values(language, "back-references")
    closed = closed_terms(language)
    words = [*word_pattern().finditer(said)]
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
    words, closed = spoken(said), closed_terms(language)
    content = [term for term in tokenize(said, language) if term not in closed]
    return len(content) < _BRIEF and any(0 in places(words, phrase) for phrase in word_list(language, "follow-ups"))


def _weighed(turns: Sequence[Turn]) -> list[tuple[float, Turn]]:
    """Return turns with what each counts: the most first, and of equal ones the user's."""
    shares = ((_ASSISTANT if turn.role == "assistant" else 1.0) / age for age, turn in enumerate(reversed(turns), 1))
    return sorted(zip(shares, reversed(turns), strict=True), key=lambda one: (-one[0], one[1].role == "assistant"))


def _told(turns: Sequence[Turn], language: str) -> list[str]:
    """Return the names and phrases of turns, those first that were told of last and most."""
    weights: defaultdict[str, float] = defaultdict(float)
    spelt: dict[str, str] = {}
    for share, turn in _weighed(turns):
        for phrase in candidates(turn.text, language, speaker=turn.speaker):
            weights[phrase.casefold()] += share
            # of one that opens a sentence the capital tells nothing
            spelt[phrase.casefold()] = min(phrase, spelt.get(phrase.casefold(), phrase))
    return [spelt[phrase] for phrase in sorted(weights, key=lambda phrase: -weights[phrase])]


def _persons(turns: Sequence[Turn], language: str) -> list[str]:
    """Return who was told of last and most; several where one sentence names them side by side, none for nobody."""
    weights: defaultdict[str, float] = defaultdict(float)
    said = [
        (share, _named(sentence, language))
        for share, turn in _weighed(turns)
        for sentence in sentences(turn.text.translate(APOSTROPHES), language)
    ]
    # the capital with which a sentence begins tells nothing: such a name counts where there is no other
    sure = {name for _, (subject, others) in said for name in (subject, *others) if name in others or name.islower()}
    for share, (subject, others) in said:
        first = [subject] if subject else others
        for name in dict.fromkeys((*first, *others)):
            part = share if name in first else share * _BEHIND
            weights[name] += part if name in sure else part * _UNSURE
    best = max(weights, key=lambda name: weights[name], default="")
    beside = next((others for _, (subject, others) in said if best in others and not subject), [])
    return [best, *(one for one in beside if one != best and weights[one] >= weights[best])] if best else []


def _named(sentence: str, language: str) -> tuple[str, list[str]]:
    """Return whom or what a sentence begins with, '' for neither, and the names in it behind no word of place."""
    closed, owned = closed_terms(language), word_list(language, "determiners")
    words = [match[0].removesuffix(_OWNED) for match in word_pattern().finditer(sentence)]
    empty = [closed.issuperset(tokenize(word, language)) or word[0].isdigit() for word in words]
    known = len(words) > 1 and words[0].casefold() in owned and not empty[1]
    subject, start = (f"{words[0].casefold()} {words[1]}", 2) if known else ("", 0)
    names, before = list[str](), ""
    runs = groupby(range(start, len(words)), key=lambda at: words[at][0].isupper() and not empty[at])
    for named, run in runs:
        at = [*run]
        name = " ".join(words[place] for place in at)
        if named and not at[0]:
            kept = {phrase.casefold() for phrase in candidates(sentence, language, speaker="")}
            subject = name if name.casefold() in kept else ""
        elif named and before not in word_list(language, "place-words"):
            names.append(name)
        before = words[at[-1]].casefold()
    return subject, names
