"""How much a new note repeats a stored one, and how much it completes it, without an LLM.

Derived in docs/gate.md from the agglomerative information bottleneck (Slonim & Tishby 1999; MemFly, section 3.1,
equations 3 and 4). Pure functions: what they need comes with the candidates, and no other scope's data is used.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from math import log, log2
from typing import TYPE_CHECKING

from memgraph_engine.gate.calibration import Calibration
from memgraph_engine.gate.words import function_terms
from memgraph_engine.language import tokenize, word_list
from memgraph_engine.model.text import Said, read_line

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

SPEAKER = 0.2  # share of the relevant variable that tells who speaks; the rest tells the words
LIGHT = 0.5  # weight of a word of grammar, of one that is as rare among the candidates
# what a repeat has to share, else its redundancy falls short in proportion: "Wow, great!" is in many a turn
KNOWN = 0.5  # of the weight of the new note's words
PROOF = 3.0  # words that no other candidate has


@dataclass(frozen=True, slots=True)
class Line:
    """One thing said: by whom, in which words, and its distinct terms without speaker and date."""

    said: Said
    terms: frozenset[str]


@dataclass(frozen=True, slots=True)
class Features:
    """What the scores compare of a note: its lines, keywords (by key) and two unit vectors."""

    lines: tuple[Line, ...]
    keywords: frozenset[str]
    raw_vector: "NDArray[np.float32] | None" = None
    context_vector: "NDArray[np.float32] | None" = None

    @property
    def terms(self) -> frozenset[str]:
        """The terms of all lines."""
        return self.lines[0].terms if len(self.lines) == 1 else frozenset().union(*(line.terms for line in self.lines))


@dataclass(frozen=True, slots=True)
class Statistics:
    """How common terms and keywords are: document frequencies over the candidates of one look-up.

    `notes` is the scope's number of notes. What no candidate holds counts as held by one. `light` are the terms of
    the language's words of grammar.
    """

    notes: int
    terms: Mapping[str, int]
    keywords: Mapping[str, int]
    light: frozenset[str] = frozenset()

    @classmethod
    def of(cls, notes: int, candidates: Sequence[Features], language: str = "") -> "Statistics":
        """Count over the candidates; `notes` may be behind by what the batch itself adds."""
        return cls(
            max(notes, len(candidates)),
            Counter(term for one in candidates for term in one.terms),
            Counter(keyword for one in candidates for keyword in one.keywords),
            function_terms(language),
        )

    def idf(self, df: int) -> float:
        """Return the weight of a term that `df` notes hold: above 0, as in BM25."""
        return log(1 + (self.notes - df + 0.5) / (df + 0.5))


@dataclass(frozen=True, slots=True)
class Scores:
    """Of a pair: calibrated `redundancy` and `complementarity`, and what they were made from. All 0…1.

    `words` is 1 − Jensen-Shannon divergence of the term distributions, `overlap` the keywords' shared weight,
    `cosine` the larger one of raw and context. `line` is the candidate's line that is repeated most.
    """

    redundancy: float
    complementarity: float
    words: float
    overlap: float
    cosine: float
    line: int


def features(
    raw: Sequence[str],
    *,
    speaker: str,
    keywords: Iterable[str],
    raw_vector: "NDArray[np.float32] | None" = None,
    context_vector: "NDArray[np.float32] | None" = None,
    language: str,
) -> Features:
    """Prepare a note: `raw` are its rendered lines, `speaker` stands in front of the first, or ''."""
    said = [read_line(line, speaker) for line in raw]
    return Features(
        tuple(Line(one, frozenset(tokenize(f"{one.text} {one.caption}", language))) for one in said),
        frozenset(keywords),
        raw_vector,
        context_vector,
    )


def score(
    new: Features,
    candidates: Sequence[Features],
    statistics: Statistics,
    calibration: Calibration,
    cosines: Sequence[float] | None = None,
) -> list[Scores]:
    """Score a new note against each candidate, in order.

    `cosines` are the larger ones of raw and context; without them they are computed from the vectors.
    A merged note is compared line by line and its best line counts: what one of its sources says is known.
    """
    if not candidates:
        return []
    cosines = _cosines(new, candidates) if cosines is None else cosines
    idf = _Weights(statistics, statistics.terms, statistics.light)
    keyword_idf = _Weights(statistics, statistics.keywords)
    own = [(line, idf.total(line.terms)) for line in new.lines]
    scored = []
    for candidate, cosine in zip(candidates, cosines, strict=True):
        raw, words, line = _most_repeated(own, candidate, idf)
        redundancy = calibration.redundancy(raw)
        overlap = _overlap(new.keywords, candidate.keywords, keyword_idf)
        complementarity = (1 - redundancy) * calibration.relation(max(overlap, cosine))
        scored.append(Scores(redundancy, complementarity, words, overlap, cosine, line))
    return scored


def repeated(shared: float, one: float, other: float) -> float:
    """Return 1 − Jensen-Shannon divergence of two notes, in units of what their merge could lose at most.

    A note's distribution gives each distinct term its idf, divided by their sum: `one` and `other` are these sums,
    `shared` that over common terms. The merged parts weigh as the sums do, as clusters of the agglomerative
    information bottleneck weigh by their mass. Then a common term costs nothing and every other its whole share,
    so entropy of the parts − divergence = 2 · shared / (one + other), which is divided by that entropy.

    >>> repeated(2.0, 2.0, 2.0), repeated(0.0, 2.0, 5.0), round(repeated(2.0, 2.0, 6.0), 3)
    (1.0, 0.0, 0.616)
    """
    if shared <= 0:
        return 0.0
    part = one / (one + other)
    entropy = -(part * log2(part) + (1 - part) * log2(1 - part))
    return min(2 * shared / (one + other) / entropy, 1.0)


class _Weights(dict[str, float]):
    """Term → idf; `rare` is that of a term which one note holds, and of one that none does."""

    def __init__(
        self, statistics: Statistics, frequencies: Mapping[str, int], light: frozenset[str] = frozenset()
    ) -> None:
        self.rare = statistics.idf(1)
        self._light = light
        by_frequency = {df: statistics.idf(max(df, 1)) for df in set(frequencies.values())}
        super().__init__({term: by_frequency[df] for term, df in frequencies.items()})
        for term in light.intersection(frequencies):
            self[term] *= LIGHT

    def __missing__(self, term: str) -> float:
        self[term] = weight = LIGHT * self.rare if term in self._light else self.rare
        return weight

    def total(self, terms: Iterable[str]) -> float:
        return sum([self[term] for term in terms])


def _most_repeated(own: Sequence[tuple[Line, float]], candidate: Features, idf: _Weights) -> tuple[float, float, int]:
    """Return the highest redundancy before calibration, the words' part of it, and the candidate's line."""
    best = (0.0, 0.0, 0)
    for place, line in enumerate(candidate.lines):
        for mine, weight in own:
            if common := mine.terms & line.terms:
                shared = idf.total(common)
                words = repeated(shared, weight, idf.total(line.terms))
                enough = min(shared / (KNOWN * weight), shared / (PROOF * idf.rare), 1.0)
            elif mine.terms or line.terms:
                continue
            else:  # nothing but stop words or signs
                words = float(mine.said.text.casefold() == line.said.text.casefold())
                enough = 1.0
            same = same_speaker(mine, line)
            raw = words if same is None else (1 - SPEAKER) * words + SPEAKER * same
            best = max(best, (raw if mine.terms == line.terms else raw * enough, words, -place))
    return best[0], best[1], -best[2]


def same_speaker(one: Line, other: Line) -> bool | None:
    """Tell whether two lines are of one person; None if that can't be told.

    "I moved" is another fact from another mouth. A line that nobody speaks is about whom it names.
    """
    speakers = [line.said.speaker.casefold() for line in (one, other)]
    if all(speakers):
        return speakers[0] == speakers[1]
    text = (one if not speakers[0] else other).said.text.casefold()
    return True if any(speakers) and max(speakers) in text else None


def says_as_much(one: Line, other: Line, language: str) -> bool:
    """Tell whether two lines differ in no more than detail.

    Of content words they share at least one, and half as many again as the one with fewer of its own has: "I live in
    Lisbon" and "I work in Lisbon" are two facts, however alike, and in a small memory no word is known to be common.
    """
    terms, others = _content(one, language), _content(other, language)
    shared = len(terms & others)
    return shared >= max(1, 1.5 * (min(len(terms), len(others)) - shared))


def exchanges(one: Line, other: Line, language: str) -> bool:
    """Tell whether a content word has another in its place: "the left knee" and "the right knee".

    It may be one of the same line: "the train from Rome to Milan" and "from Milan to Rome". What only moves, "in May"
    to the front, is in nobody's place.
    """
    terms, others = _content(one, language), _content(other, language)
    if terms != others:
        return len(terms - others) == len(others - terms) == 1
    order, other_order = _order(one, terms, language), _order(other, terms, language)
    moved = sum(term != other_term for term, other_term in zip(order, other_order, strict=False))
    return len(order) > 2 and moved == 2


def tells(line: Line, language: str) -> bool:
    """Tell whether a line has a content word: "Yes, I did." has none."""
    return bool(_content(line, language))


def _order(line: Line, terms: frozenset[str], language: str) -> list[str]:
    return list(dict.fromkeys(term for term in tokenize(line.said.text, language) if term in terms))


def _content(line: Line, language: str) -> frozenset[str]:
    return line.terms - _common(language) - set(tokenize(line.said.speaker, language))


@cache
def _common(language: str) -> frozenset[str]:
    """Return the terms of words that tell nothing of what a line is about; none for a language without lists."""
    kinds = ("closed-words", "question-words", "interjections")
    words = frozenset[str]().union(*(word_list(language, kind) for kind in kinds))
    return frozenset(term for word in words for term in tokenize(word, language))


def _overlap(one: frozenset[str], other: frozenset[str], idf: _Weights) -> float:
    """Return the share of the keywords' weight that both carry."""
    shared = idf.total(one & other)
    return shared / idf.total(one | other) if shared else 0.0


def _cosines(new: Features, candidates: Sequence[Features]) -> list[float]:
    """Return for each candidate the larger cosine of raw and context, at least 0."""
    import numpy as np

    raw = np.stack([given(one.raw_vector) for one in candidates]) @ given(new.raw_vector)
    context = np.stack([given(one.context_vector) for one in candidates]) @ given(new.context_vector)
    larger: list[float] = np.clip(np.maximum(raw, context), 0.0, 1.0).tolist()
    return larger


def given(vector: "NDArray[np.float32] | None") -> "NDArray[np.float32]":
    """Return the vector of features that have one."""
    if vector is None:
        raise ValueError("Features without vectors need cosines.")
    return vector
