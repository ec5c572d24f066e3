"""How sure a difference is between two variants that were asked the same questions."""

from collections.abc import Sequence
from dataclasses import dataclass

from memgraph_engine.arrays import np

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
