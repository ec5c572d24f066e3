"""What can be said of a network and a partition of it, by arrays alone."""

import numpy as np
from numpy.typing import NDArray

from memgraph_engine.model.ports import Network

Membership = NDArray[np.int64]
"""The community of each node, from 0 on; -1 for none."""


def network(nodes: int, edges: "list[tuple[int, int, float]]") -> Network:
    """Return a small network from a list of (node, node, weight).

    >>> network(3, [(0, 1, 2.0), (1, 2, 1.0)]).edges
    2
    """
    a, b, weight = (np.array([edge[i] for edge in edges]) for i in range(3))
    return Network(nodes, a.astype(np.int64), b.astype(np.int64), weight.astype(np.float64))


def degrees(graph: Network) -> NDArray[np.float64]:
    """Return the sum of weights at each node."""
    both = np.bincount(graph.a, graph.weight, graph.nodes) + np.bincount(graph.b, graph.weight, graph.nodes)
    return np.asarray(both, dtype=np.float64)


def modularity(graph: Network, membership: Membership, resolution: float = 1.0) -> float:
    """Return Newman's modularity; a node without a community counts as one of its own.

    >>> round(modularity(network(4, [(0, 1, 1.0), (2, 3, 1.0)]), np.array([0, 0, 1, 1])), 3)
    0.5
    """
    total = float(graph.weight.sum())
    if not total:
        return 0.0
    labels = alone(membership)
    inside = float(graph.weight[labels[graph.a] == labels[graph.b]].sum())
    strength = np.bincount(labels, degrees(graph))
    return inside / total - resolution * float(((strength / (2 * total)) ** 2).sum())


def alone(membership: Membership) -> Membership:
    """Give each node that has no community one of its own, behind all others."""
    labels = np.asarray(membership, dtype=np.int64).copy()
    without = np.flatnonzero(labels < 0)
    labels[without] = labels.max(initial=-1) + 1 + np.arange(len(without))
    return labels


def compact(membership: Membership) -> Membership:
    """Renumber the communities from 0, in the order in which their first nodes come.

    >>> compact(np.array([7, -1, 7, 3])).tolist()
    [0, -1, 0, 1]
    """
    labels = np.full(len(membership), -1, dtype=np.int64)
    inside = np.flatnonzero(membership >= 0)
    _, first, inverse = np.unique(membership[inside], return_index=True, return_inverse=True)
    labels[inside] = np.argsort(np.argsort(first))[inverse]
    return labels


def components(graph: Network) -> Membership:
    """Return the connected component of each node, in a number of rounds that grows with the logarithm of the size.

    Each round hooks the larger of two roots onto the smaller, then lets every node point to its root
    (Shiloach and Vishkin 1982).

    >>> components(network(4, [(2, 3, 1.0)])).tolist()
    [0, 1, 2, 2]
    """
    root = np.arange(graph.nodes, dtype=np.int64)
    a, b = graph.a, graph.b
    while len(a):
        low, high = np.minimum(root[a], root[b]), np.maximum(root[a], root[b])
        apart = low != high
        a, b, low, high = a[apart], b[apart], low[apart], high[apart]
        np.minimum.at(root, high, low)
        while not np.array_equal(jumped := root[root], root):
            root = jumped
    return compact(root)


def parts(graph: Network, membership: Membership, chosen: NDArray[np.int64]) -> list[tuple[NDArray[np.int64], Network]]:
    """Return the nodes and the network of each chosen community, with one pass over the edges for all of them."""
    index = np.full(int(membership.max(initial=0)) + 2, -1, dtype=np.int64)
    index[chosen] = np.arange(len(chosen))
    of = index[membership]  # -1, the last, stays -1
    members = np.flatnonzero(of >= 0)
    members = members[np.argsort(of[members], kind="stable")]
    inside = np.flatnonzero((of[graph.a] >= 0) & (of[graph.a] == of[graph.b]))
    inside = inside[np.argsort(of[graph.a[inside]], kind="stable")]
    node_cuts = np.searchsorted(of[members], np.arange(1, len(chosen)))
    edge_cuts = np.searchsorted(of[graph.a[inside]], np.arange(1, len(chosen)))
    place = np.zeros(graph.nodes, dtype=np.int64)
    found = []
    for nodes, edges in zip(np.split(members, node_cuts), np.split(inside, edge_cuts), strict=True):
        place[nodes] = np.arange(len(nodes))
        found.append((nodes, Network(len(nodes), place[graph.a[edges]], place[graph.b[edges]], graph.weight[edges])))
    return found


def rows(graph: Network) -> tuple[NDArray[np.int64], NDArray[np.int32], NDArray[np.float64]]:
    """Return the symmetric matrix of weights by compressed rows: starts, columns, values."""
    start = np.concatenate([graph.a, graph.b])
    end = np.concatenate([graph.b, graph.a])
    order = np.lexsort((end, start))
    counts = np.bincount(start, minlength=graph.nodes)
    starts = np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)
    return starts, end[order].astype(np.int32), np.concatenate([graph.weight, graph.weight])[order]
