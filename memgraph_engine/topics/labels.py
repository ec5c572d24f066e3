"""What is central to a topic: its keywords with the most ties inside, and the mean of all vectors."""

from collections.abc import Iterable, Sequence

import numpy as np
from numpy.typing import NDArray

from memgraph_engine.model.network import Network
from memgraph_engine.topics.measures import Membership

CENTRAL = 10  # keywords kept with a topic


def central(graph: Network, membership: Membership, names: Sequence[str]) -> list[tuple[str, ...]]:
    """Return the keywords of each community with the largest weighted degree inside it, the largest first.

    >>> from memgraph_engine.topics.measures import network
    >>> central(network(3, [(0, 1, 2.0), (1, 2, 1.0)]), np.zeros(3, dtype=np.int64), ["sea", "boat", "tax"])
    [('boat', 'sea', 'tax')]
    """
    inside = membership[graph.a] == membership[graph.b]
    both = np.concatenate([graph.a[inside], graph.b[inside]])
    degree = np.bincount(both, np.concatenate([graph.weight[inside]] * 2), graph.nodes)
    found: list[list[str]] = [[] for _ in range(int(membership.max(initial=-1)) + 1)]
    for node in sorted(np.flatnonzero(membership >= 0).tolist(), key=lambda i: (-degree[i], names[i])):
        if len(found[membership[node]]) < CENTRAL:
            found[membership[node]].append(names[node])
    return [tuple(one) for one in found]


def centroids(
    vectors: Iterable[tuple[str, Sequence[float]]], topic_of: dict[str, str]
) -> dict[str, NDArray[np.float32]]:
    """Return the normalised mean of the vectors of each topic's keywords.

    >>> vectors = [("sea", [3.0, 0.0]), ("boat", [0.0, 4.0])]
    >>> centroids(vectors, {"sea": "t", "boat": "t"})["t"].round(1).astype(str).tolist()
    ['0.6', '0.8']
    """
    sums: dict[str, NDArray[np.float64]] = {}
    for name, vector in vectors:
        topic, numbers = topic_of[name], np.asarray(vector, dtype=np.float64)
        if topic in sums:
            sums[topic] += numbers
        else:
            sums[topic] = numbers
    found = {}
    for topic, total in sums.items():
        length = float(np.linalg.norm(total))
        if length:  # vectors that cancel out have no middle
            found[topic] = (total / length).astype(np.float32)
    return found
