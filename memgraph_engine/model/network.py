"""An undirected weighted graph as arrays: what a partition engine is given."""

from dataclasses import dataclass

from memgraph_engine.arrays import NDArray, np


@dataclass(frozen=True, slots=True, eq=False)
class Network:
    """Nodes 0 to `nodes` - 1, and each edge between `a` and `b` exactly once, with a positive weight; no loops.

    Three arrays of one length: two of int64, one of float64.
    """

    nodes: int
    a: "NDArray[np.int64]"
    b: "NDArray[np.int64]"
    weight: "NDArray[np.float64]"

    @property
    def edges(self) -> int:
        """How many edges there are."""
        return len(self.a)
