"""From a network to topics: an engine's communities, brought within bounds."""

from dataclasses import dataclass

import numpy as np

from memgraph_engine.errors import InvalidInput
from memgraph_engine.model.network import Network
from memgraph_engine.model.ports import Partitioner
from memgraph_engine.topics.bounds import Bounds, enforce
from memgraph_engine.topics.measures import Membership, alone, compact, modularity

_WORTH = 0.005  # share of modularity that a rearrangement of known topics must gain
_ROOM = 0.05  # share of the largest size that new topics leave to keywords that are still to come


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
