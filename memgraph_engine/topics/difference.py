"""What a new partition changes of the one that is stored: only that is written."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from uuid import uuid4

import numpy as np

from memgraph_engine.model.topic import Move, Topic
from memgraph_engine.topics.labels import central
from memgraph_engine.topics.matching import Matching, match
from memgraph_engine.topics.measures import Membership
from memgraph_engine.topics.naming import relabelled
from memgraph_engine.topics.reading import Keywords


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
        """Return those of the topics, labelled by now, that are not stored like that."""
        return [topic for topic in topics if topic.id in self.changed or self.before.get(topic.id) != topic]


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
