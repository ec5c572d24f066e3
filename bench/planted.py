"""A keyword graph with planted communities, whose sizes follow a Pareto law, from a seed."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from memgraph_engine.model.ports import Network

_SHAPE = 1.2  # of the Pareto law
_SMALLEST, _LARGEST = 20, 3000
_MIXED = 0.25  # share of edges between any two nodes


@dataclass(frozen=True, slots=True, eq=False)
class Planted:
    """A network, and the community that each node was planted in."""

    graph: Network
    community: NDArray[np.int64]


def planted(nodes: int, edges: int, seed: int) -> Planted:
    """Return a network of about that many edges."""
    chance = np.random.default_rng(seed)
    sizes: list[int] = []
    while sum(sizes) < nodes:
        sizes.append(int(min(_SMALLEST * (1 + chance.pareto(_SHAPE)), _LARGEST)))
    community = np.repeat(np.arange(len(sizes)), sizes)[:nodes]
    first = np.searchsorted(community, community, "left")
    a = chance.integers(0, nodes, int(edges * 1.35))
    within = first[a] + (chance.random(len(a)) * np.bincount(community)[community[a]]).astype(np.int64)
    b = np.where(chance.random(len(a)) > _MIXED, within, chance.integers(0, nodes, len(a)))
    low, high = np.minimum(a, b), np.maximum(a, b)
    pairs = chance.permutation(np.unique((low * nodes + high)[low < high]))[:edges]
    weight = chance.geometric(0.6, len(pairs)).astype(np.float64)
    return Planted(Network(nodes, pairs // nodes, pairs % nodes, weight), community)


def grown(old: Planted, share: float, seed: int) -> tuple[Planted, NDArray[np.bool_]]:
    """Add notes: cliques of three to eight keywords of one community, as many pairs as `share` of the edges.

    One keyword of each is new. Returns the larger network, and which of its keywords no new note carries.
    """
    chance = np.random.default_rng(seed)
    graph, community = old.graph, old.community
    rows: list[tuple[int, int]] = []
    joined: list[int] = []
    while len(rows) < share * graph.edges:
        home = int(community[chance.integers(0, graph.nodes)])
        members = np.flatnonzero(community == home)
        some = chance.choice(members, min(int(chance.integers(2, 8)), len(members)), replace=False).tolist()
        some.append(graph.nodes + len(joined))
        joined.append(home)
        rows += [(some[i], some[j]) for i in range(len(some)) for j in range(i + 1, len(some))]
    nodes = graph.nodes + len(joined)
    new = np.array(rows, dtype=np.int64)
    keys = np.concatenate([graph.a * nodes + graph.b, new.min(axis=1) * nodes + new.max(axis=1)])
    pairs, place = np.unique(keys, return_inverse=True)
    weight = np.bincount(place, np.concatenate([graph.weight, np.ones(len(new))])).astype(np.float64)
    untouched = np.ones(nodes, dtype=bool)
    untouched[new.ravel()] = False
    return Planted(Network(nodes, pairs // nodes, pairs % nodes, weight), np.append(community, joined)), untouched
