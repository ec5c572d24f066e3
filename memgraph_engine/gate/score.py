"""How much a new note repeats a stored one, and how much it completes it, without an LLM.

Derived in docs/gate.md from the agglomerative information bottleneck (Slonim & Tishby 1999; MemFly, section 3.1,
equations 3 and 4). Pure functions: what they need comes with the candidates, and no other scope's data is used.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import fsum, log, log2

from memgraph_engine.gate.calibration import Calibration
from memgraph_engine.gate.known import Known, Line
from memgraph_engine.language.wording import aligned

PROOF = 2.0  # words that no other candidate has, below which a repeat's redundancy falls short in proportion


@dataclass(frozen=True, slots=True)
class Statistics:
    """How common terms and keywords are: document frequencies over the candidates of one look-up.

    `notes` is the scope's number of notes. What no candidate holds counts as held by one.
    """

    notes: int
    terms: Mapping[str, int]
    keywords: Mapping[str, int]

    @classmethod
    def of(cls, notes: int, candidates: Sequence[Known]) -> "Statistics":
        """Count over the candidates; `notes` may be behind by what the batch itself adds."""
        return cls(
            max(notes, len(candidates)),
            Counter(term for one in candidates for term in one.terms),
            Counter(keyword for one in candidates for keyword in one.keywords),
        )

    def idf(self, df: int) -> float:
        """Return the weight of a term that `df` notes hold: above 0, as in BM25."""
        return log(1 + (self.notes - df + 0.5) / (df + 0.5))


@dataclass(frozen=True, slots=True)
class Scores:
    """Of a pair: calibrated `redundancy`, `complementarity` and `related`, and what they were made from. All 0…1.

    `words` is 1 − Jensen-Shannon divergence of the term distributions, `known` the share of the new note's weight in
    the candidate's `line` that is repeated most, `order` the share of their tokens in the same order, and `proof` how
    far this is enough; `overlap` is the keywords' shared weight, `cosine` that of the texts; `related` maps the larger,
    `meant` the cosine alone.
    """

    redundancy: float
    complementarity: float
    related: float
    words: float
    known: float
    order: float
    proof: float
    overlap: float
    cosine: float
    meant: float
    line: int


def score(
    new: Known, candidates: Sequence[Known], cosines: Sequence[float], statistics: Statistics, calibration: Calibration
) -> list[Scores]:
    """Score a new note against each candidate, in order; `cosines` are those of what was said.

    A merged note is compared line by line and its best line counts: what one of its sources says is known.
    """
    idf = _Weights(statistics, statistics.terms)
    keyword_idf = _Weights(statistics, statistics.keywords)
    own = [(line, idf.total(line.terms)) for line in new.lines]
    scored = []
    for candidate, cosine in zip(candidates, cosines, strict=True):
        shared = keyword_idf.total(new.keywords & candidate.keywords)
        overlap = shared / keyword_idf.total(new.keywords | candidate.keywords) if shared else 0.0  # of their weight
        related = calibration.relation(max(overlap, cosine))
        known, words, proof, place, mine = _most_repeated(own, candidate, idf)
        order = aligned(new.lines[-mine].tokens, candidate.lines[-place].tokens)[0] if words else 0.0
        if order == 1:  # "3 kids" is all of "three kids"
            words = known = proof = 1.0
        red = proof * calibration.redundancy(words, known, related, order)
        meant = calibration.relation(cosine)
        scored.append(
            Scores(red, (1 - red) * related, related, words, known, order, proof, overlap, cosine, meant, -place)
        )
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

    def __init__(self, statistics: Statistics, frequencies: Mapping[str, int]) -> None:
        self.rare = statistics.idf(1)
        by_frequency = {df: statistics.idf(max(df, 1)) for df in set(frequencies.values())}
        super().__init__({term: by_frequency[df] for term, df in frequencies.items()})

    def __missing__(self, term: str) -> float:
        self[term] = self.rare
        return self.rare

    def total(self, terms: Iterable[str]) -> float:
        return fsum([self[term] for term in terms])  # exact, so that the order of a set does not tell


def _most_repeated(
    own: Sequence[tuple[Line, float]], candidate: Known, idf: _Weights
) -> tuple[float, float, float, int, int]:
    """Return `known`, `words` and `proof` of a candidate's line and a new one, and, negated, the places of both."""
    best = (0.0, 0.0, 0.0, 0, 0)
    for place, line in enumerate(candidate.lines):
        for at, (mine, weight) in enumerate(own):
            if mine.terms == line.terms:
                words = known = proof = float(bool(line.terms) or mine.written == line.written)
            elif common := mine.terms & line.terms:
                shared = idf.total(common)
                words, known = repeated(shared, weight, idf.total(line.terms)), shared / weight
                proof = min(shared / (PROOF * idf.rare), 1.0)
            else:
                continue
            best = max(best, (known, words, proof, -place, -at))
    return best
