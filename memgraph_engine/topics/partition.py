"""From a network to topics: communities of any engine, brought within bounds on their sizes (MemFly, equation 12).

No library keeps bounds: an engine's own limit holds for single moves at most. So the large are partitioned again
and the small join the best tied, both by modularity as far as the bounds allow.
"""

import heapq
from collections import defaultdict
from dataclasses import dataclass
from math import isqrt

import numpy as np
from numpy.typing import NDArray

from memgraph_engine.errors import InvalidInput
from memgraph_engine.model.ports import Network, Partitioner
from memgraph_engine.topics.measures import (
    Membership,
    alone,
    compact,
    components,
    degrees,
    modularity,
    parts,
    rows,
)

_WORTH = 0.005  # share of modularity that a rearrangement of known topics must gain
_ROOM = 0.05  # share of the largest size that new topics leave to keywords that are still to come
_ROUNDS = 6  # of the same community's re-partition; what is still too large is cut
_SLACK = 4  # how often a cut may make room for what did not fit: once is enough unless many small ones meet


@dataclass(frozen=True, slots=True)
class Bounds:
    """The sizes that a topic may have, both included."""

    smallest: int
    largest: int

    def __post_init__(self) -> None:
        """Refuse bounds that some numbers of nodes can't be divided by."""
        if self.smallest < 1 or self.largest < 2 * self.smallest:
            raise InvalidInput(
                f"The largest topic ({self.largest}) must be at least twice the smallest ({self.smallest})."
            )

    @classmethod
    def of(cls, nodes: int, smallest: int = 3, largest: int = 0) -> "Bounds":
        """Return the bounds for a number of keywords; 0 stands for max(100, 2√n).

        >>> Bounds.of(10_000)
        Bounds(smallest=3, largest=200)
        """
        return cls(smallest, largest or max(100, isqrt(4 * nodes), 2 * smallest))

    def broken(self, membership: Membership) -> int:
        """Count the communities out of bounds.

        >>> Bounds(2, 4).broken(np.array([0, 0, 1, -1]))
        1
        """
        sizes = np.bincount(membership[membership >= 0])
        sizes = sizes[sizes > 0]
        return int(((sizes < self.smallest) | (sizes > self.largest)).sum())


def enforce(
    graph: Network,
    membership: Membership,
    bounds: Bounds,
    engine: Partitioner,
    *,
    resolution: float,
    seed: int,
    start: Membership | None = None,
    room: float = 0.0,
) -> Membership:
    """Return a partition within bounds; -1 for the nodes of components that are too small for any.

    A community that is too large is first divided along `start`, so that what was divided before stays so. Where
    communities are joined, a share of the largest size is left as `room`.
    """
    of = components(graph)
    reachable = np.bincount(of, minlength=1)[of] >= bounds.smallest if graph.nodes else np.zeros(0, dtype=bool)
    labels = np.full(graph.nodes, -1, dtype=np.int64)
    if reachable.any():
        ((inside, whole),) = parts(graph, reachable.astype(np.int64), np.ones(1, dtype=np.int64))
        begun = None if start is None else start[inside]
        found = _divide(whole, compact(np.asarray(membership)[inside]), bounds, engine, seed, begun)
        for _ in range(_SLACK):
            merger = Merger(whole, found, resolution)
            merger.grow(bounds.largest - int(bounds.largest * room))
            merger.fill(bounds.smallest, bounds.largest)
            found = _cut_all(whole, merger.membership(found), bounds)
            if not bounds.broken(found):
                break
        labels[inside] = found
    if bounds.broken(labels):
        raise AssertionError(f"{bounds.broken(labels)} topics are out of bounds: a mistake in this package")
    return labels


def _divide(
    graph: Network, membership: Membership, bounds: Bounds, engine: Partitioner, seed: int, start: Membership | None
) -> Membership:
    """Divide what is too large, along `start` and then by the engine, each time at twice the resolution."""
    labels = membership
    if start is not None:
        sizes = np.bincount(labels)
        large = (sizes > bounds.largest)[labels]
        known = start.max(initial=-1) + 1
        pieces = labels * (known + graph.nodes) + np.where(large, alone(start), 0)
        labels = compact(pieces)
    for turn in range(_ROUNDS):
        beyond = np.flatnonzero(np.bincount(labels) > bounds.largest)
        if not len(beyond):
            return labels
        labels = labels.copy()
        for nodes, piece in parts(graph, labels, beyond):
            if piece.edges:
                found = engine.partition(piece, resolution=float(2**turn), seed=seed)
                labels[nodes] = labels.max() + 1 + found
        labels = compact(labels)
    return _cut_all(graph, labels, bounds)


def _cut_all(graph: Network, membership: Membership, bounds: Bounds) -> Membership:
    """Cut what is too large into equal pieces: a clique, say, that modularity will not divide."""
    large = np.flatnonzero(np.bincount(membership, minlength=1) > bounds.largest)
    if not len(large):
        return membership
    labels = membership.copy()
    for nodes, piece in parts(graph, membership, large):
        pieces = -(-len(nodes) // bounds.largest)
        labels[nodes[_walk(piece)]] = labels.max() + 1 + np.arange(len(nodes)) * pieces // len(nodes)
    return compact(labels)


def _walk(graph: Network) -> NDArray[np.int64]:
    """Return the nodes breadth first, from the least tied on, so that neighbours are near each other."""
    starts, ends, _ = rows(graph)
    order: list[int] = []
    seen = np.zeros(graph.nodes, dtype=bool)
    for root in np.argsort(np.diff(starts), kind="stable").tolist():
        if seen[root]:
            continue
        seen[root] = True
        queue = [root]
        for node in queue:
            near = ends[starts[node] : starts[node + 1]]
            new = near[~seen[near]]
            seen[new] = True
            queue += new.tolist()
        order += queue
    return np.array(order, dtype=np.int64)


class Merger:
    """Communities as nodes of a small network, which shrinks with each join."""

    def __init__(self, graph: Network, membership: Membership, resolution: float) -> None:
        """Begin with a partition that gives every node a community."""
        count = int(membership.max(initial=-1)) + 1
        self.sizes: dict[int, int] = dict(enumerate(np.bincount(membership, minlength=count).tolist()))
        self._strength: list[float] = np.bincount(membership, degrees(graph), count).tolist()
        self._factor = resolution / max(2 * float(graph.weight.sum()), 1e-300)
        self._ties: dict[int, dict[int, float]] = defaultdict(dict)
        self._into = np.arange(count, dtype=np.int64)
        low = np.minimum(membership[graph.a], membership[graph.b])
        high = np.maximum(membership[graph.a], membership[graph.b])
        apart = low != high
        pairs, place = np.unique(low[apart] * max(count, 1) + high[apart], return_inverse=True)
        for pair, weight in zip(pairs.tolist(), np.bincount(place, graph.weight[apart]).tolist(), strict=True):
            a, b = divmod(pair, count)
            self._ties[a][b] = self._ties[b][a] = weight

    def gain(self, a: int, b: int) -> float:
        """Return what joining two brings, in units of half the total weight; weight alone decides among equals."""
        return self._ties[a].get(b, 0.0) - self._factor * self._strength[a] * self._strength[b]

    def join(self, a: int, b: int) -> None:
        """Make `b` a part of `a`."""
        self.sizes[a] += self.sizes.pop(b)
        self._strength[a] += self._strength[b]
        self._into[b] = a
        for other, weight in self._ties.pop(b).items():
            del self._ties[other][b]
            if other != a:
                self._ties[a][other] = self._ties[other][a] = self._ties[a].get(other, 0.0) + weight

    def grow(self, largest: int) -> None:
        """Join what modularity gains by, the best gain first, as long as nothing grows beyond the largest size."""
        heap = [(-self.gain(a, b), a, b) for a, near in self._ties.items() for b in near if a < b]
        heapq.heapify(heap)
        while heap:
            gain, a, b = heapq.heappop(heap)
            if gain >= 0:
                return
            if a not in self.sizes or b not in self.sizes or self.sizes[a] + self.sizes[b] > largest:
                continue
            if -gain != self.gain(a, b):  # one of them has grown, and the pair stands elsewhere in the heap
                continue
            self.join(a, b)
            for other in self._ties[a]:
                low, high = min(a, other), max(a, other)
                heapq.heappush(heap, (-self.gain(a, other), low, high))

    def fill(self, smallest: int, largest: int) -> None:
        """Join each one below the smallest size with the one that it is best tied to among those with room.

        Where none has room, the best tied one is taken all the same: the result is cut in two afterwards.
        """
        heap = [(size, one) for one, size in self.sizes.items() if size < smallest]
        heapq.heapify(heap)
        while heap:
            size, one = heapq.heappop(heap)
            near = self._ties.get(one)
            if self.sizes.get(one) != size or not near:
                continue
            other = max(near, key=lambda b: (self.sizes[b] + size <= largest, near[b], self.gain(one, b), -b))
            self.join(other, one)
            if self.sizes[other] < smallest:
                heapq.heappush(heap, (self.sizes[other], other))

    def membership(self, before: Membership) -> Membership:
        """Return the partition that the joins have made of the one at the beginning."""
        into = self._into
        while not np.array_equal(jumped := into[into], into):
            into = jumped
        return compact(into[before])


@dataclass(frozen=True, slots=True, eq=False)
class Partition:
    """The topic of each node, -1 for none, and the modularity before and after the bounds were enforced."""

    membership: Membership
    before: float
    after: float

    @property
    def topics(self) -> int:
        """How many topics there are."""
        return int(self.membership.max(initial=-1)) + 1


def partition(
    graph: Network,
    engine: Partitioner,
    bounds: Bounds,
    *,
    resolution: float = 1.0,
    seed: int = 0,
    start: Membership | None = None,
) -> Partition:
    """Divide a network into topics within bounds: the same for the same arguments.

    `start` is a former partition, -1 for nodes that were in none. It is kept, with new nodes put where they are tied
    best, as long as the engine finds none that is more than half a percent better: topics are names that people and
    programs remember. Raises InvalidInput when an engine's answer is none.
    """
    if not graph.edges:
        return Partition(np.full(graph.nodes, -1, dtype=np.int64), 0.0, 0.0)
    found = engine.partition(graph, resolution=resolution, seed=seed, start=None if start is None else alone(start))
    found = _checked(np.asarray(found), graph.nodes, engine.name)
    before = modularity(graph, found, resolution)
    bounded = enforce(graph, found, bounds, engine, resolution=resolution, seed=seed, start=start, room=_ROOM)
    after = modularity(graph, bounded, resolution)
    if start is not None:
        kept = enforce(graph, alone(start), bounds, engine, resolution=resolution, seed=seed, start=start)
        if (same := modularity(graph, kept, resolution)) >= (1 - _WORTH) * after:
            bounded, after = kept, same
    return Partition(bounded, before, after)


def _checked(found: Membership, nodes: int, name: str) -> Membership:
    if found.shape != (nodes,) or found.dtype.kind not in "iu" or (found < 0).any():
        raise InvalidInput(f"The partition engine {name!r} must give each of the {nodes} nodes a number from 0 on.")
    return compact(found.astype(np.int64))
