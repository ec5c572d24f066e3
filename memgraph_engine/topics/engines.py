"""The partition engines: Leiden (Traag, Waltman and van Eck 2019) with modularity, in three libraries.

graspologic-native is the default (MIT): graspologic's own Leiden, in Rust, without the rest of it. igraph, in C, and
leidenalg, the authors' own and some ten times slower, are GPL: they are never shipped, only used where the user has
installed them. Each is imported when it is first asked for.
"""

import random
from collections.abc import Callable, Mapping
from importlib import import_module
from typing import Any

import numpy as np
from numpy.typing import NDArray

from memgraph_engine.errors import SettingsError, needed
from memgraph_engine.model.ports import Network, Partitioner
from memgraph_engine.topics.measures import Membership, compact, rows

_ITERATIONS = 2  # whole cycles: the second brings .05 of modularity, a third nothing that lasts


class Leiden:
    """One of ENGINES, by its name; raises MissingExtra where its libraries are not installed."""

    def __init__(self, name: str) -> None:
        self.name = name
        self._find, licence, extra, modules = ENGINES[name]
        with needed(f"the partition engine {name}{licence}", extra):
            self._libraries = [import_module(module) for module in modules]

    def partition(
        self, graph: Network, *, resolution: float, seed: int, start: Membership | None = None
    ) -> NDArray[np.int64]:
        """See `Partitioner.partition`."""
        first = None if start is None else compact(start)
        return compact(self._find(graph, first, resolution, seed, *self._libraries))


def _by_graspologic(
    graph: Network, start: Membership | None, resolution: float, seed: int, native: Any
) -> NDArray[np.int64]:
    """From the start of another partition it takes the edges by name."""
    options = {"resolution": resolution, "seed": seed, "iterations": _ITERATIONS}
    membership = np.arange(graph.nodes, dtype=np.int64) + graph.nodes  # a node without an edge is left out
    if start is None:
        _, found = native.leiden_csr(*rows(graph), graph.nodes, **options)
        pairs = list(found.items())
    else:
        names = [str(node) for node in range(graph.nodes)]
        ends = zip(graph.a.tolist(), graph.b.tolist(), graph.weight.tolist(), strict=True)
        edges = [(names[a], names[b], weight) for a, b, weight in ends]
        tied = np.unique(np.concatenate([graph.a, graph.b]))
        first = {names[node]: community for node, community in zip(tied, compact(start[tied]).tolist(), strict=True)}
        _, named = native.leiden(edges, starting_communities=first, **options)
        pairs = [(int(name), community) for name, community in named.items()]
    table = np.array(pairs, dtype=np.int64)
    membership[table[:, 0]] = table[:, 1]
    return membership


def _by_igraph(
    graph: Network, start: Membership | None, resolution: float, seed: int, igraph: Any
) -> NDArray[np.int64]:
    igraph.set_random_number_generator(random.Random(seed))  # noqa: S311  repeatable on purpose
    try:
        found = _igraph_of(igraph, graph).community_leiden(
            "modularity",
            weights=graph.weight.tolist(),
            resolution=resolution,
            n_iterations=_ITERATIONS,
            initial_membership=None if start is None else start.tolist(),
        )
    finally:
        igraph.set_random_number_generator(random)
    return np.array(found.membership, dtype=np.int64)


def _by_leidenalg(
    graph: Network, start: Membership | None, resolution: float, seed: int, leidenalg: Any, igraph: Any
) -> NDArray[np.int64]:
    found = leidenalg.find_partition(
        _igraph_of(igraph, graph),
        leidenalg.RBConfigurationVertexPartition,
        weights=graph.weight.tolist(),
        resolution_parameter=resolution,
        n_iterations=_ITERATIONS,
        initial_membership=None if start is None else start.tolist(),
        seed=seed,
    )
    return np.array(found.membership, dtype=np.int64)


def _igraph_of(igraph: Any, graph: Network) -> Any:
    return igraph.Graph(n=graph.nodes, edges=np.column_stack([graph.a, graph.b]))


ENGINES: Mapping[str, tuple[Callable[..., NDArray[np.int64]], str, str, tuple[str, ...]]] = {
    "graspologic-native": (_by_graspologic, "", "topics", ("graspologic_native",)),
    "igraph": (_by_igraph, " (GPL)", "topics-igraph", ("igraph",)),
    "leidenalg": (_by_leidenalg, " (GPL)", "topics-leidenalg", ("leidenalg", "igraph")),
}
"""What finds communities by each library, its licence where that is none of ours, its extra, and its modules."""


def engine_named(name: str) -> Partitioner:
    """Return the engine of a name; raises MissingExtra where its library is not installed, or SettingsError."""
    if name not in ENGINES:
        raise SettingsError(f"There is no partition engine {name!r}: choose {', '.join(ENGINES)}.")
    return Leiden(name)
