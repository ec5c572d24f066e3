"""Join communities, by what modularity gains or by force, and never past a size."""

import heapq
from collections import defaultdict

import numpy as np

from memgraph_engine.model.network import Network
from memgraph_engine.topics.measures import Membership, compact, degrees


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
