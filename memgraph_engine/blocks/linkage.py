"""Average linkage of unit vectors by cosine distance, without a matrix of distances (LightMem, section 3.4).

The mean distance between the members of two clusters of unit vectors is 1 - a·b, where a and b are their plain means:
so n means are all that it needs. The linkage is reducible: what is merged comes no nearer to any other cluster. So all
reciprocal nearest neighbours can be merged at once, and only those whose neighbour was merged look for another.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Vectors = NDArray[np.float64]
Numbers = NDArray[np.int64]

PLACES = 9
"""Decimals of a distance: what differs less is a tie."""

_SURE = 1e-5  # what two distances in float32 may be wrong by
_CELLS = 8_000_000  # distances at a time: 32 MB
_PAIRS = 20_000  # at a time: 120 MB at 384 dimensions
_PART = 4096  # vectors of a part, at most, where there are too many to compare each with each
_TURNS = 20  # of k-means, at most


def rounded(distances: Vectors) -> Vectors:
    """Return distances to so many decimals; that of equal vectors is never -0, which a server takes for less than 0."""
    return np.round(distances, PLACES) + 0.0


@dataclass(frozen=True, slots=True)
class Dendrogram:
    """Which two clusters each merge joined (n - 1, 2), and at what mean distance (n - 1).

    Clusters 0 to n - 1 are the vectors; n + i is what merge i made, which comes behind both of its parts.
    """

    pairs: Numbers
    heights: Vectors


def average_linkage(vectors: NDArray[np.floating], *, exact: int = 25_000, seed: int = 0) -> Dendrogram:
    """Return the dendrogram of vectors (n, d), n > 0, of any length above 0; ties go to the smaller numbers.

    Above `exact` vectors are divided by k-means first, linked in each part, and then the parts are: an approximation.
    The time grows with n², the memory with n.

    >>> average_linkage(np.array([[1.0, 0.0], [0.0, 1.0], [0.9, 0.1]])).pairs.tolist()
    [[0, 2], [1, 3]]
    """
    found = _Linkage(normalised(vectors))
    every = np.arange(len(vectors))
    parts = [every] if len(every) <= exact else _divided(found.means[: len(every)], np.random.default_rng(seed))
    found.link(np.array([found.link(part) for part in parts]))
    return Dendrogram(found.pairs[: found.merges], found.heights[: found.merges])


def normalised(vectors: NDArray[np.floating]) -> Vectors:
    """Return vectors (n, d) at length 1; one of length 0 stays.

    >>> normalised(np.array([[3.0, 4.0], [0.0, 0.0]])).tolist()
    [[0.6, 0.8], [0.0, 0.0]]
    """
    given = np.asarray(vectors, dtype=np.float64)
    lengths = np.linalg.norm(given, axis=1, keepdims=True)
    return given / np.where(lengths == 0, 1, lengths)


class _Linkage:
    """Clusters with their means and sizes, as far as they are linked."""

    def __init__(self, unit: Vectors) -> None:
        n, d = unit.shape
        self.merges = 0
        self.pairs = np.zeros((max(n - 1, 0), 2), dtype=np.int64)
        self.heights = np.zeros(max(n - 1, 0))
        self._n = n
        self.means = np.zeros((max(2 * n - 1, n), d))
        self.means[:n] = unit
        self._short = self.means.astype(np.float32)
        self._sizes = np.ones(len(self.means))

    def link(self, clusters: Numbers) -> int:
        """Merge clusters until one is left, and return its number."""
        live = np.sort(clusters)
        nearest = np.full(len(self.means), -1, dtype=np.int64)
        distance = np.full(len(self.means), np.inf)
        asking = live
        while len(live) > 1:
            nearest[asking], distance[asking] = self._nearest(asking, live)
            first = self._reciprocal(live, nearest, distance)
            second = nearest[first]
            made = self._merge(first, second, distance[first])
            gone = np.zeros(len(self.means), dtype=bool)
            gone[first] = gone[second] = True
            left = live[~gone[live]]
            asking = np.concatenate([left[gone[nearest[left]]], made])
            live = np.concatenate([left, made])
        return int(live[0])

    def _nearest(self, asking: Numbers, live: Numbers) -> tuple[Numbers, Vectors]:
        """Return whom each is nearest to, and how near: looked for in float32, and told apart in float64."""
        others = self._short[live]
        at = np.searchsorted(live, asking)
        found, distances = np.empty(len(asking), dtype=np.int64), np.empty(len(asking))
        step = max(1, _CELLS // len(live))
        for start in range(0, len(asking), step):
            some = slice(start, start + step)
            alike = self._short[asking[some]] @ others.T
            alike[np.arange(len(alike)), at[some]] = -np.inf
            rows, columns = np.nonzero(alike >= alike.max(axis=1, keepdims=True) - _SURE)
            far = self._apart(asking[some][rows], live[columns])
            order = np.lexsort((columns, far, rows))
            best = order[np.searchsorted(rows[order], np.arange(len(alike)))]
            found[some], distances[some] = live[columns[best]], far[best]
        return found, distances

    def _apart(self, first: Numbers, second: Numbers) -> Vectors:
        parts = (slice(start, start + _PAIRS) for start in range(0, len(first), _PAIRS))
        far = [1 - np.einsum("ij,ij->i", self.means[first[some]], self.means[second[some]]) for some in parts]
        return rounded(np.concatenate(far))

    def _reciprocal(self, live: Numbers, nearest: Numbers, distance: Vectors) -> Numbers:
        """Return of each pair of reciprocal nearest neighbours the smaller number, the nearest pairs first."""
        first = live[(nearest[nearest[live]] == live) & (live < nearest[live])]
        if not len(first):  # the two distances of a pair were rounded differently: the nearest pair is one
            closest = live[distance[live].argmin()]
            other = nearest[closest]
            nearest[other], distance[other] = closest, distance[closest]
            first = np.array([min(closest, other)])
        ordered: Numbers = first[np.lexsort((first, distance[first]))]
        return ordered

    def _merge(self, first: Numbers, second: Numbers, heights: Vectors) -> Numbers:
        made: Numbers = self._n + np.arange(self.merges, self.merges + len(first))
        ours, theirs = self._sizes[first], self._sizes[second]
        self._sizes[made] = ours + theirs
        weighed = self.means[first] * ours[:, None] + self.means[second] * theirs[:, None]
        self.means[made] = weighed / self._sizes[made][:, None]
        self._short[made] = self.means[made]
        done = slice(self.merges, self.merges + len(first))
        self.pairs[done, 0], self.pairs[done, 1], self.heights[done] = first, second, heights
        self.merges += len(first)
        return made


def _divided(unit: Vectors, chance: np.random.Generator) -> list[Numbers]:
    """Divide vectors in two by spherical k-means, and again, until no part is too large."""
    parts, waiting = [], [np.arange(len(unit))]
    while waiting:
        part = waiting.pop()
        if len(part) <= _PART:
            parts.append(part)
            continue
        side = _halved(unit[part], chance)
        waiting += [part[side], part[~side]]
    return parts


def _halved(unit: Vectors, chance: np.random.Generator) -> NDArray[np.bool_]:
    """Return which vectors are on one side; both sides have some."""
    centres = unit[chance.choice(len(unit), 2, replace=False)]
    side = np.zeros(len(unit), dtype=bool)
    for _ in range(_TURNS):
        before, side = side, unit @ (centres[0] - centres[1]) > 0
        if not 0 < side.sum() < len(side) or (before == side).all():
            break
        centres = normalised(np.stack([unit[side].mean(axis=0), unit[~side].mean(axis=0)]))
    if not 0 < side.sum() < len(side):  # all alike
        side = np.arange(len(unit)) < len(unit) // 2
    return side
