"""A scope's keywords as a network, read by pages."""

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from memgraph_engine.graph.database import Row
from memgraph_engine.model.network import Network
from memgraph_engine.topics.measures import Membership


@dataclass(frozen=True, slots=True, eq=False)
class Keywords:
    """Names in order, the topic that each is in, and how they occur together."""

    names: tuple[str, ...]
    topics: tuple[str | None, ...]
    graph: Network

    @property
    def start(self) -> Membership | None:
        """The present topics as a partition; None where there is none."""
        numbers: dict[str, int] = {}
        for topic in self.topics:
            if topic is not None:
                numbers.setdefault(topic, len(numbers))
        if not numbers:
            return None
        return np.array([-1 if topic is None else numbers[topic] for topic in self.topics], dtype=np.int64)


def keywords(pages: Iterable[list[Row]]) -> Keywords:
    """Put pages of keywords together: rows of name, topic, near. Both ends of a pair must have come to count.

    >>> rows = [{"name": "boat", "topic": None, "near": [["sea", 2]]}, {"name": "sea", "topic": "t", "near": []}]
    >>> keywords([rows]).graph.weight.tolist()
    [2.0]
    """
    names: list[str] = []
    topics: list[str | None] = []
    starts: list[int] = []
    ends: list[str] = []
    weights: list[float] = []
    for page in pages:
        for row in page:
            starts += [len(names)] * len(row["near"])
            ends += [name for name, _ in row["near"]]
            weights += [weight for _, weight in row["near"]]
            names.append(row["name"])
            topics.append(row["topic"])
    place = {name: number for number, name in enumerate(names)}
    a = np.array(starts, dtype=np.int64)
    b = np.array([place.get(name, -1) for name in ends], dtype=np.int64)
    weight = np.array(weights, dtype=np.float64)
    kept = (b >= 0) & (weight > 0)
    return Keywords(tuple(names), tuple(topics), Network(len(names), a[kept], b[kept], weight[kept]))
