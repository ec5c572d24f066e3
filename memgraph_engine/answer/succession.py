"""Which notes found a later one has perhaps outdated: what a question asks for is most often what was said of it last.

The gate ties a change to what it changes where it is worded like that. Most people tell it in other words, and no note
alone shows it: "neighbor gave me four pullets, so that's 13 ladies in the coop". But a question shows what is meant,
and of two statements on it by the same one the later is likely to hold. How likely, a linear model tells, fitted on
chats whose answers are known (docs/benchmarks.md). It hides nothing: a context says "perhaps replaced by" which line.
"""

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from math import log, log1p

from memgraph_engine.answer.relevant import USUAL, chance, raised
from memgraph_engine.language import listed_terms, places, tokenize, word_list, word_values
from memgraph_engine.model.result import Hit
from memgraph_engine.model.tense import happened
from memgraph_engine.model.text import asks, asks_amount
from memgraph_engine.resources import resource

FILE = ("config", "calibration", "succession.json")
FEATURES = (
    "older",
    "newer",
    "both",
    "shared",
    "change",
    "amounts",
    "value",
    "days",
    "place",
    "words",
    "asks",
    "past",
    "rivals",
    "notes",
)
"""What is known of an older hit and a later one.

- older, newer, both: how relevant each is to the question, and the less relevant one
- shared: the words that they share, over all words of the one that has fewer
- change: whether the later one has a word of change ("now", "instead", "swapped"), and shares a word or tells another
  value: else it is another matter that has changed
- amounts: whether it is asked how many, and the later one tells another number
- value: whether each tells a number, a name or a date that the other does not
- days: between them, 30 at most, as log(1 + days) / 5
- place: of the later one among the hits, as 1 / (1 + place)
- words: of the later one, as log(1 + words)
- asks: whether the later one only asks
- past: whether the question is about the past ("What did I have?")
- rivals: the logarithm of how many hits the question has, 6 at least: where much is said of something like it, more of
  it is another matter
- notes: the logarithm of how many the memory has, from 6 to 12: of few, each is found, whatever it is about
"""
LEAST = -2.1
"""Log-odds from which on a note is perhaps outdated, if it is the likeliest one for the later note."""
_MOST_DAYS = 30
_FEWEST = 6  # hits, and notes: of fewer the fit knows little
_FEW = 12  # notes: of so many not each is found
_RELEVANT = 0.05  # one of both is about the question, and the other nearly so, or nothing follows
_NEARLY = 0.03
_CHANGES = ("changes", "endings", "denials", "corrections")
_CLOSED = ("closed-words", "interjections", "question-words")  # tell nothing of what a text is about
_WORDS = re.compile(r"[^\W_]+(?:'[^\W_]+)?")
_NAME = re.compile(r"(?<![\w'’])[^\W\d_][\w]+")
_OPENS = frozenset(("", ".", "!", "?", "…", "\n", "¡", "¿"))  # behind these a capital tells of no name
_DIGITS = re.compile(r"\d+(?:[.,:]\d+)*")


@dataclass(frozen=True, slots=True)
class Weights:
    """A weight for each of FEATURES; with `bias` they add up to log-odds."""

    bias: float
    weights: Mapping[str, float]

    def score(self, features: Sequence[float]) -> float:
        """Return the log-odds that the later one has taken the older one's place."""
        return self.bias + sum(self.weights[name] * one for name, one in zip(FEATURES, features, strict=True))


@cache
def weights() -> Weights:
    """Return the shipped weights.

    >>> set(weights().weights) == set(FEATURES)
    True
    """
    return Weights(**json.loads(resource(*FILE).read_text(encoding="utf-8")))


def outdated(
    question: str,
    hits: Sequence[Hit],
    language: str,
    notes: int = USUAL,
    by: Weights | None = None,
    least: float = LEAST,
) -> dict[str, Hit]:
    """Return for each hit, by its note's id, the later one that has most likely taken its place, if one has.

    `hits` are in their order, best first, of a memory of so many `notes`: of many, a later one is about the same by
    `chance`. Those that are not about the question tell nothing, nor do those of an
    embedder that was never calibrated. What had happened by one day excludes nothing that had by another. The likeliest
    pairs are taken first, and each hit takes the place of one at most: else one stray line would put all that is older
    in doubt. `by` and `least` are the shipped weights and LEAST, but where others are tried.
    """
    known, least = by or weights(), least + log(chance(notes))
    scored = [
        (known.score(features), older, newer) for older, newer, features in pairs(question, hits, language, notes)
    ]
    likely = sorted((one for one in scored if one[0] > least), key=lambda one: -one[0])
    found: dict[str, Hit] = {}
    taken = set[str]()
    for _, older, newer in likely:
        free = older.note.id not in found and newer.note.id not in taken
        if free and not happened(newer.note.text, older.note.text, language):
            found[older.note.id] = newer
            taken.add(newer.note.id)
    return found


def pairs(question: str, hits: Sequence[Hit], language: str, notes: int = USUAL) -> list[tuple[Hit, Hit, list[float]]]:
    """Return each two hits of one speaker that were said on different days, no assistant's, with their FEATURES."""
    nearly, relevant = (raised(least, max(notes, USUAL)) for least in (_NEARLY, _RELEVANT))
    asked = _words(question)
    counts = asks_amount(question, language)
    past = not word_list(language, "past-questions").isdisjoint(asked)
    stated = [
        (place, hit, _Statement.of(hit, language))
        for place, hit in enumerate(hits)
        if (hit.relevance or 0.0) >= nearly and hit.note.role != "assistant" and hit.note.status != "superseded"
    ]
    return [
        (older, newer, _features(older, newer, was, now, place, len(hits), notes, counts=counts, past=past))
        for place, newer, now in stated
        for _, older, was in stated
        if older.note.said_at.date() < newer.note.said_at.date() and older.note.speaker == newer.note.speaker
        if max(older.relevance or 0.0, newer.relevance or 0.0) >= relevant
    ]


@dataclass(frozen=True, slots=True)
class _Statement:
    """What is read of a note's words."""

    terms: frozenset[str]
    numbers: frozenset[str]
    names: frozenset[str]
    dates: frozenset[str]
    words: int
    change: bool
    asks: bool

    @property
    def values(self) -> tuple[frozenset[str], ...]:
        """What it tells of each kind of value."""
        return self.numbers, self.names, self.dates

    @classmethod
    def of(cls, hit: Hit, language: str) -> "_Statement":
        text = hit.note.text
        words = _words(text)
        return cls(
            frozenset(tokenize(text, language)) - listed_terms(language, *_CLOSED),
            frozenset((*_DIGITS.findall(text), *_numbers(language).intersection(words))),
            _names(text, language),
            frozenset(word_values(language, "dates").keys() & set(words)),
            len(words),
            any(places(words, phrase) for phrase in _changes(language)),
            all(map(asks, hit.note.raw)),
        )


@cache
def _changes(language: str) -> frozenset[str]:
    """Return the phrases with which something is another than before."""
    return frozenset[str]().union(*(word_list(language, kind) for kind in _CHANGES))


@cache
def _numbers(language: str) -> frozenset[str]:
    """Return the words for amounts."""
    return frozenset(word for word, value in word_values(language, "numbers").items() if "#" not in value)


def _names(text: str, language: str) -> frozenset[str]:
    """Return the words with a capital inside a sentence, but for dates and words of grammar."""
    inside = (one for one in _NAME.finditer(text) if text[: one.start()].rstrip(" ")[-1:] not in _OPENS)
    found = {one[0].casefold() for one in inside if one[0][0].isupper()}
    return frozenset(found) - _nameless(language)


@cache
def _nameless(language: str) -> frozenset[str]:
    """Return the dates and words of grammar, which have capitals and are no names."""
    return frozenset(word_values(language, "dates")).union(*(word_list(language, kind) for kind in _CLOSED))


def _words(text: str) -> tuple[str, ...]:
    return tuple(_WORDS.findall(text.casefold().replace("’", "'")))


def _exchanged(one: frozenset[str], other: frozenset[str]) -> bool:
    return bool(one - other) and bool(other - one)


def _features(
    older: Hit,
    newer: Hit,
    was: _Statement,
    now: _Statement,
    place: int,
    rivals: int,
    notes: int,
    *,
    counts: bool,
    past: bool,
) -> list[float]:
    relevance = [one.relevance or 0.0 for one in (older, newer)]
    shared = len(was.terms & now.terms) / max(min(len(was.terms), len(now.terms)), 1)
    exchanged = any(_exchanged(*pair) for pair in zip(was.values, now.values, strict=True))
    return [
        *relevance,
        min(relevance),
        shared,
        float(now.change and (shared > 0 or exchanged)),
        float(counts and bool(was.numbers) and not now.numbers <= was.numbers),
        float(exchanged),
        log1p(min((newer.note.said_at - older.note.said_at).days, _MOST_DAYS)) / 5,
        1 / (1 + place),
        log1p(now.words),
        float(now.asks),
        float(past),
        log(max(rivals, _FEWEST)),
        log(min(max(notes, _FEWEST), _FEW)),
    ]
