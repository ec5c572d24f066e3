"""A summary without a model: of what was said the sentences that tell most, in their order.

No name, number, date or denial is lost: whatever else is left out, each stands in a sentence that is kept.
"""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, partial
from math import fsum, log

from memgraph_engine.language.terms import (
    APOSTROPHES,
    CLOSED,
    listed_terms,
    sentences,
    tokenize,
    word_list,
    word_values,
)

_WORDS = re.compile(r"\d+(?:[.,:/-]\d+)*|[^\W\d_]+(?:'[^\W\d_]+)*")
_COMMON = ("common-words", "weak-words", "content-words", "time-words", "changes", "change-adverbs", *CLOSED)
_SHORT = 3  # words that each sentence counts more: else what says least would be told first
Fact = tuple[str, str]
"""A name, number, date or denial that a text holds: of which kind, and the word."""


@dataclass(frozen=True, slots=True)
class _Sentence:
    place: int
    text: str
    length: int
    terms: frozenset[str]
    facts: frozenset[Fact]


def rarity(texts: Iterable[str], language: str) -> dict[str, float]:
    """Return how rare each term is among texts: its idf."""
    every = [frozenset(tokenize(text, language)) for text in texts]
    counts = Counter(term for terms in every for term in terms)
    return {term: log(1 + len(every) / count) for term, count in counts.items()}


def extract(texts: Sequence[str], rare: Mapping[str, float], keep: float, language: str) -> list[str]:
    """Return each text with those of its sentences that tell most of all, about the share `keep` of all words.

    First those by which no name, number, date and denial is lost; then, as far as there is room, those whose words are
    rarest (`rare`) and not told yet. A text of which nothing is left is ''.

    >>> said = "Hello there, how are you?", "I moved to Porto. What a day it is!", "I moved to Porto."
    >>> extract(said, rarity(said, "english"), 0.3, "english")
    ['', 'I moved to Porto.', '']
    """
    sentences = [one for place, text in enumerate(texts) for one in _cut(place, text, language)]
    room = keep * sum(one.length for one in sentences)
    wanted = {fact for one in sentences for fact in one.facts}
    known: set[str] = set()
    chosen: set[int] = set()
    taken = 0
    while left := [at for at in range(len(sentences)) if at not in chosen]:
        told = [at for at in left if sentences[at].facts & wanted]
        fits = told or [at for at in left if taken + sentences[at].length <= room or not chosen]
        gains = {at: fsum(rare.get(term, 0.0) for term in sentences[at].terms - known) for at in fits}
        best = max(fits, key=lambda at: (gains[at] / (sentences[at].length + _SHORT), -at), default=-1)
        if best < 0 or (chosen and not told and not gains[best]):
            break
        chosen.add(best)
        taken += sentences[best].length
        wanted -= sentences[best].facts
        known |= sentences[best].terms
    kept: list[list[str]] = [[] for _ in texts]
    for at in sorted(chosen):
        kept[sentences[at].place].append(sentences[at].text)
    return [" ".join(some) for some in kept]


def facts(text: str, language: str) -> frozenset[Fact]:
    """Return the names, numbers, dates and denials of a text; a denial is known by the word that it denies.

    >>> sorted(facts("In May Ana did not take 2 trains.", "english"))
    [('date', 'may'), ('denial', 'take'), ('name', 'ana'), ('number', '2')]
    """
    return frozenset(fact for one in sentences(text, language) for fact in _facts(one, language))


def unfaithful(summary: str, lines: Sequence[str], said: Iterable[str], language: str) -> str:
    """Say what keeps a model's summary of lines from being used: what it lacks of the words `said`, or adds; else ''.

    >>> unfaithful("Ana moved.", ["Ana: I moved to Porto. (8 May, 2023)"], ["I moved to Porto."], "english")
    "it lacks 'porto'"
    """
    held, known = _words(summary, language), _words(" ".join(lines), language)
    named = sorted({word for text in said for kind, word in facts(text, language) if kind != "denial"} - held)
    added = sorted({word for kind, word in facts(summary, language) if kind != "denial"} - known)
    return f"it lacks {named[0]!r}" if named else f"it adds {added[0]!r}" if added else ""


def _words(text: str, language: str) -> frozenset[str]:
    numbers = _lists(language).numbers
    found = (word.casefold().removesuffix("'s") for word in _WORDS.findall(text.translate(APOSTROPHES)))
    return frozenset(numbers.get(word, word) for word in found)


def _cut(place: int, text: str, language: str) -> Iterator[_Sentence]:
    for one in sentences(text, language):
        terms = frozenset(tokenize(one, language))
        yield _Sentence(place, one, max(len(one.split()), 1), terms, frozenset(_facts(one, language)))


def _facts(sentence: str, language: str) -> Iterator[Fact]:
    lists = _lists(language)
    words = _WORDS.findall(sentence.translate(APOSTROPHES))
    stems = partial(tokenize, language=language)
    denied = False
    for place, word in enumerate(words):
        lower = word.casefold()
        plain = lower.replace("'", "")
        if word[0].isdigit():
            yield "number", word
        elif lower in lists.numbers:
            yield "number", lists.numbers[lower]
        elif lower in lists.dates and (lists.surely[lower] or word[0].isupper()):
            yield "date", lower
        elif plain in lists.negations:
            denied = True
            continue
        elif (
            word[0].isupper()
            and lower not in lists.closed
            and (place or (lists.common and not lists.common.issuperset(stems(lower))))
        ):
            yield "name", lower.removesuffix("'s")
        if denied and lower not in lists.closed and (terms := stems(word)):
            yield "denial", terms[0]
            denied = False
    if denied:
        yield "denial", ""


@dataclass(frozen=True)
class _Lists:
    """Words of a language; all empty for one without lists."""

    numbers: Mapping[str, str]
    dates: frozenset[str]
    surely: Mapping[str, bool]
    negations: frozenset[str]
    closed: frozenset[str]
    common: frozenset[str]


@cache
def _lists(language: str) -> _Lists:
    numbers = word_values(language, "numbers")
    dates = {
        word: kind for word, kind in word_values(language, "dates").items() if kind.startswith(("month", "weekday"))
    }
    return _Lists(
        {word: number for word, number in numbers.items() if not number.startswith("#")},
        frozenset(dates),
        {word: "?" not in kind for word, kind in dates.items()},
        frozenset(word for word in word_list(language, "negations") if "_" not in word),
        frozenset(("i",)).union(word_values(language, "spellings"), *(word_list(language, kind) for kind in CLOSED)),
        listed_terms(language, *_COMMON),
    )
