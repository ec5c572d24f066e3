"""The partition engines: Leiden (Traag, Waltman and van Eck 2019) with modularity, in three libraries.

graspologic-native is the default (MIT). igraph and leidenalg are GPL: they are never shipped, only used where the
user has installed them. Each is imported when it is first asked for.
"""

import random
from importlib import import_module
from typing import Any

import numpy as np
from numpy.typing import NDArray

from memgraph_engine.errors import MissingExtra, SettingsError
from memgraph_engine.model.ports import Network, Partitioner
from memgraph_engine.topics.measures import Membership, compact, rows

_ITERATIONS = 2  # whole cycles: the second brings .05 of modularity, a third nothing that lasts


class GraspologicPartitioner:
    """The default: graspologic's own Leiden, in Rust, without the rest of it."""

    name = "graspologic-native"

    def __init__(self) -> None:
        self._native = _load("graspologic_native", self.name, "topics")

    def partition(
        self, graph: Network, *, resolution: float, seed: int, start: Membership | None = None
    ) -> NDArray[np.int64]:
        """See `Partitioner.partition`. From the start of another partition it takes the edges by name."""
        options = {"resolution": resolution, "seed": seed, "iterations": _ITERATIONS}
        membership = np.arange(graph.nodes, dtype=np.int64) + graph.nodes  # a node without an edge is left out
        if start is None:
            _, found = self._native.leiden_csr(*rows(graph), graph.nodes, **options)
            pairs = list(found.items())
        else:
            names = [str(node) for node in range(graph.nodes)]
            ends = zip(graph.a.tolist(), graph.b.tolist(), graph.weight.tolist(), strict=True)
            edges = [(names[a], names[b], weight) for a, b, weight in ends]
            tied = np.unique(np.concatenate([graph.a, graph.b]))
            first = {
                names[node]: community for node, community in zip(tied, compact(start[tied]).tolist(), strict=True)
            }
            _, named = self._native.leiden(edges, starting_communities=first, **options)
            pairs = [(int(name), community) for name, community in named.items()]
        table = np.array(pairs, dtype=np.int64)
        membership[table[:, 0]] = table[:, 1]
        return compact(membership)


class IgraphPartitioner:
    """igraph's Leiden, in C; GPL."""

    name = "igraph"

    def __init__(self) -> None:
        self._igraph = _load("igraph", "igraph (GPL)", "topics-igraph")

    def partition(
        self, graph: Network, *, resolution: float, seed: int, start: Membership | None = None
    ) -> NDArray[np.int64]:
        """See `Partitioner.partition`."""
        whole = _igraph_of(self._igraph, graph)
        self._igraph.set_random_number_generator(random.Random(seed))  # noqa: S311  repeatable on purpose
        try:
            found = whole.community_leiden(
                "modularity",
                weights=graph.weight.tolist(),
                resolution=resolution,
                n_iterations=_ITERATIONS,
                initial_membership=None if start is None else compact(start).tolist(),
            )
        finally:
            self._igraph.set_random_number_generator(random)
        return compact(np.array(found.membership, dtype=np.int64))


class LeidenalgPartitioner:
    """The authors' own Leiden; GPL, and some ten times slower."""

    name = "leidenalg"

    def __init__(self) -> None:
        self._leidenalg = _load("leidenalg", "leidenalg (GPL)", "topics-leidenalg")
        self._igraph = _load("igraph", "leidenalg (GPL)", "topics-leidenalg")

    def partition(
        self, graph: Network, *, resolution: float, seed: int, start: Membership | None = None
    ) -> NDArray[np.int64]:
        """See `Partitioner.partition`."""
        found = self._leidenalg.find_partition(
            _igraph_of(self._igraph, graph),
            self._leidenalg.RBConfigurationVertexPartition,
            weights=graph.weight.tolist(),
            resolution_parameter=resolution,
            n_iterations=_ITERATIONS,
            initial_membership=None if start is None else compact(start).tolist(),
            seed=seed,
        )
        return compact(np.array(found.membership, dtype=np.int64))


ENGINES: dict[str, type[GraspologicPartitioner] | type[IgraphPartitioner] | type[LeidenalgPartitioner]] = {
    engine.name: engine for engine in (GraspologicPartitioner, IgraphPartitioner, LeidenalgPartitioner)
}


def engine_named(name: str) -> Partitioner:
    """Return the engine of a name; raises MissingExtra where its library is not installed, or SettingsError."""
    if name not in ENGINES:
        raise SettingsError(f"There is no partition engine {name!r}: choose {', '.join(ENGINES)}.")
    return ENGINES[name]()


def _load(module: str, name: str, extra: str) -> Any:
    try:
        return import_module(module)
    except ImportError:
        raise MissingExtra(f"the partition engine {name}", extra) from None


def _igraph_of(igraph: Any, graph: Network) -> Any:
    return igraph.Graph(n=graph.nodes, edges=np.column_stack([graph.a, graph.b]))
