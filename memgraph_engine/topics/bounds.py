"""Bounds on the sizes of communities, enforced on what any engine found (MemFly, equation 12).

No library keeps them: an engine's own limit holds for single moves at most. So the large are partitioned again
and the small join the best tied, both by modularity as far as the bounds allow.
"""

from dataclasses import dataclass
from math import isqrt

import numpy as np
from numpy.typing import NDArray

from memgraph_engine.errors import InvalidInput
from memgraph_engine.model.network import Network
from memgraph_engine.model.ports import Partitioner
from memgraph_engine.topics.measures import Membership, alone, compact, components, parts, rows
from memgraph_engine.topics.merging import Merger

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
    inside = np.flatnonzero(reachable)
    if len(inside):
        whole = Network(len(inside), *_renumbered(graph, inside))
        first = compact(np.asarray(membership)[inside])
        labels[inside] = _bounded(
            whole, first, bounds, engine, resolution, seed, None if start is None else start[inside], room
        )
    if bounds.broken(labels):
        raise AssertionError(f"{bounds.broken(labels)} topics are out of bounds: a mistake in this package")
    return labels


def _renumbered(
    graph: Network, inside: NDArray[np.int64]
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.float64]]:
    place = np.full(graph.nodes, -1, dtype=np.int64)
    place[inside] = np.arange(len(inside))
    kept = place[graph.a] >= 0
    return place[graph.a[kept]], place[graph.b[kept]], graph.weight[kept]


def _bounded(
    graph: Network,
    membership: Membership,
    bounds: Bounds,
    engine: Partitioner,
    resolution: float,
    seed: int,
    start: Membership | None,
    room: float,
) -> Membership:
    labels = _divide(graph, membership, bounds, engine, seed, start)
    for _ in range(_SLACK):
        merger = Merger(graph, labels, resolution)
        merger.grow(bounds.largest - int(bounds.largest * room))
        merger.fill(bounds.smallest, bounds.largest)
        labels = _cut_all(graph, merger.membership(labels), bounds)
        if not bounds.broken(labels):
            break
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
