"""How good a ranking of sources is by the turns that answer a question, and how sure a difference of two variants."""

from collections.abc import Sequence
from dataclasses import dataclass

from memgraph_engine.arrays import np


def recall_at(k: int, found: Sequence[str], evidence: Sequence[str]) -> float:
    """Return the share of the evidence among the first `k` sources found (MemFly, section 4.1).

    >>> recall_at(2, ["D1:1", "D1:2", "D1:3"], ["D1:2", "D1:3"])
    50.0
    """
    wanted = set(evidence)
    return 100 * len(wanted & set(_first(found, k))) / len(wanted)


def hit_at(k: int, found: Sequence[str], evidence: Sequence[str]) -> float:
    """Return 100 if any of the evidence is among the first `k` sources found, else 0: the hit rate of one question.

    >>> hit_at(2, ["D1:1", "D1:2", "D1:3"], ["D1:2", "D1:3"])
    100.0
    """
    return 100.0 * bool(set(evidence) & set(_first(found, k)))


def _first(found: Sequence[str], k: int) -> list[str]:
    return list(dict.fromkeys(found))[:k]


RESAMPLES = 1000
"""As many as LightMem with small models has (table 5)."""
_LOW, _HIGH = 2.5, 97.5


@dataclass(frozen=True, slots=True)
class Difference:
    """The mean difference over so many questions, its 95 % interval from `low` to `high`, and a two-sided p."""

    mean: float
    low: float
    high: float
    p: float
    questions: int


def paired(one: Sequence[float], other: Sequence[float]) -> Difference:
    """Compare the scores of the same questions, at least one, in the same order, by a paired bootstrap.

    The questions are drawn anew 1,000 times, with a fixed seed. p is twice the share of draws whose mean is not on the
    side of the difference (at least 2 of 1,001). Questions count as independent, though some are of one conversation.

    >>> paired([50.0, 60.0, 70.0], [40.0, 50.0, 60.0])
    Difference(mean=10.0, low=10.0, high=10.0, p=0.002, questions=3)
    >>> paired([50.0, 60.0], [50.0, 60.0]).p
    1.0
    """
    differences = np.subtract(one, other, dtype=np.float64)
    chance, size = np.random.default_rng(0), len(differences)
    means = differences[chance.integers(size, size=(RESAMPLES, size))].mean(axis=1)
    least = min(int((means <= 0).sum()), int((means >= 0).sum()))
    low, high = np.percentile(means, (_LOW, _HIGH)).tolist()
    p = min(1.0, 2 * (1 + least) / (1 + RESAMPLES))
    return Difference(float(differences.mean()), low, high, round(p, 3), size)
