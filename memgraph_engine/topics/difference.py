"""The keywords of a scope as a network, and what a new partition of it changes of the topics that are stored."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from uuid import uuid4

import numpy as np

from memgraph_engine.graph.database import Row
from memgraph_engine.model.ports import Network
from memgraph_engine.model.topic import Move, Topic
from memgraph_engine.topics.measures import Membership
from memgraph_engine.topics.naming import central, relabelled

_PART = 0.25  # of an old topic: what goes elsewhere below that is a few moves, no split
_MOST = 0.5  # of an old topic: what gives that much to another has gone into it


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


@dataclass(frozen=True, slots=True)
class Matching:
    """The id of each community; old topics that were split, and those that were merged.

    `splits` are from an old id to the ids that took a part of it, `merges` from an id to the old ones that it is
    made of, largest part first.
    """

    ids: tuple[str, ...]
    splits: Mapping[str, tuple[str, ...]]
    merges: Mapping[str, tuple[str, ...]]


def match(before: Sequence[str | None], after: Sequence[int], fresh: Sequence[str]) -> Matching:
    """Match by members: the pair with the largest overlap first, each old id and each community once.

    `before` and `after` are the old topic (None for none) and the new community (-1 for none) of each keyword;
    `fresh` holds an id for each community, used where none goes on. Equal overlaps go by the smaller id.

    >>> match(["t", "t", "t", "u", None], [1, 1, 0, 0, 0], ["x", "y"]).ids
    ('u', 't')
    """
    overlap = Counter((old, new) for old, new in zip(before, after, strict=True) if old is not None and new >= 0)
    ids, used = dict(enumerate(fresh)), set[str]()
    taken = set[int]()
    for (old, new), _ in sorted(overlap.items(), key=lambda pair: (-pair[1], pair[0])):
        if old not in used and new not in taken:
            ids[new] = old
            used.add(old)
            taken.add(new)
    sizes = Counter(old for old in before if old is not None)
    parts: dict[str, list[str]] = {}
    origins: dict[str, list[str]] = {}
    for (old, new), common in sorted(overlap.items(), key=lambda pair: (-pair[1], pair[0])):
        if common >= _PART * sizes[old]:
            parts.setdefault(old, []).append(ids[new])
        if common >= _MOST * sizes[old]:
            origins.setdefault(ids[new], []).append(old)
    return Matching(
        tuple(ids[community] for community in range(len(fresh))),
        {old: tuple(news) for old, news in parts.items() if len(news) > 1},
        {new: tuple(olds) for new, olds in origins.items() if len(olds) > 1},
    )


@dataclass(frozen=True, slots=True)
class Difference:
    """All topics, those whose members changed, those that end, and who moves where.

    `before` are the topics as the last run wrote them. `topic_of` holds the keywords of all changed topics, from which
    their centroids are made.
    """

    topics: tuple[Topic, ...]
    before: Mapping[str, Topic]
    changed: frozenset[str]
    created: tuple[str, ...]
    ended: tuple[str, ...]
    leaving: tuple[str, ...]
    joining: tuple[tuple[str, str], ...]
    moves: tuple[Move, ...]
    topic_of: dict[str, str]
    matching: Matching

    def to_write(self, topics: Iterable[Topic]) -> list[Topic]:
        """Return those of the topics, labelled by now, that are not stored like that, by their ids."""
        other = (topic for topic in topics if topic.id in self.changed or self.before.get(topic.id) != topic)
        return sorted(other, key=lambda topic: topic.id)


def difference(found: Keywords, membership: Membership, stored: Sequence[Topic]) -> Difference:
    """Compare a partition with the topics of the keywords, and with the topics as they are stored."""
    communities = int(membership.max(initial=-1)) + 1
    matching = match(found.topics, membership.tolist(), [uuid4().hex for _ in range(communities)])
    after = [matching.ids[community] if community >= 0 else None for community in membership.tolist()]
    switched = [(name, old, new) for name, old, new in zip(found.names, found.topics, after, strict=True) if old != new]
    changed = frozenset(topic for _, old, new in switched for topic in (old, new) if topic is not None)
    sizes = np.bincount(membership[membership >= 0], minlength=communities).tolist()
    names = central(found.graph, membership, found.names)
    before = {topic.id: topic for topic in stored}
    topics = [
        relabelled(Topic(one, "", size, some), before.get(one))
        for one, some, size in zip(matching.ids, names, sizes, strict=True)
    ]
    shrunk = {topic.id for topic in topics if topic.id in before and before[topic.id].size != topic.size}
    changed = frozenset((changed | shrunk) & set(matching.ids))  # a keyword that was deleted leaves no other trace
    return Difference(
        tuple(topics),
        before,
        changed,
        tuple(topic.id for topic in topics if topic.id not in before),
        tuple(sorted(before.keys() - set(matching.ids))),
        tuple(name for name, old, _ in switched if old is not None),
        tuple((name, new) for name, _, new in switched if new is not None),
        tuple(Move(name, old, new or "") for name, old, new in switched if old is not None),
        {name: topic for name, topic in zip(found.names, after, strict=True) if topic in changed and topic},
        matching,
    )
