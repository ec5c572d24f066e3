"""A summary without a model: of what was said the sentences that tell most, in their order.

No name, number, date or denial is lost: whatever else is left out, each stands in a sentence that is kept.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import fsum, log

from memgraph_engine.language.details import Detail, details, held
from memgraph_engine.language.terms import sentences, tokenize

_SHORT = 3  # words that each sentence counts more: else what says least would be told first


@dataclass(frozen=True, slots=True)
class _Sentence:
    place: int
    text: str
    length: int
    terms: frozenset[str]
    details: frozenset[Detail]


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
    wanted = {detail for one in sentences for detail in one.details}
    known: set[str] = set()
    chosen: set[int] = set()
    taken = 0
    while left := [at for at in range(len(sentences)) if at not in chosen]:
        told = [at for at in left if sentences[at].details & wanted]
        fits = told or [at for at in left if taken + sentences[at].length <= room or not chosen]
        gains = {at: fsum(rare.get(term, 0.0) for term in sentences[at].terms - known) for at in fits}
        best = max(fits, key=lambda at: (gains[at] / (sentences[at].length + _SHORT), -at), default=-1)
        if best < 0 or (chosen and not told and not gains[best]):
            break
        chosen.add(best)
        taken += sentences[best].length
        wanted -= sentences[best].details
        known |= sentences[best].terms
    kept: list[list[str]] = [[] for _ in texts]
    for at in sorted(chosen):
        kept[sentences[at].place].append(sentences[at].text)
    return [" ".join(some) for some in kept]


def unfaithful(summary: str, lines: Sequence[str], said: Iterable[str], language: str) -> str:
    """Say what keeps a model's summary of lines from being used: what it lacks of the words `said`, or adds; else ''.

    >>> unfaithful("Ana moved.", ["Ana: I moved to Porto. (8 May, 2023)"], ["I moved to Porto."], "english")
    "it lacks 'porto'"
    """
    own, known = held(summary, language), held(" ".join(lines), language)
    named = sorted({word for text in said for kind, word in details(text, language) if kind != "denial"} - own)
    added = sorted({word for kind, word in details(summary, language) if kind != "denial"} - known)
    return f"it lacks {named[0]!r}" if named else f"it adds {added[0]!r}" if added else ""


def _cut(place: int, text: str, language: str) -> Iterator[_Sentence]:
    for one in sentences(text, language):
        terms = frozenset(tokenize(one, language))
        yield _Sentence(place, one, max(len(one.split()), 1), terms, details(one, language))
