"""What a topic is called, by a chat model or its most central keywords."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from memgraph_engine.llm.roles import Roles
from memgraph_engine.llm.spent import Spent
from memgraph_engine.model.ports import Network
from memgraph_engine.model.topic import Topic, label
from memgraph_engine.topics.measures import Membership

CENTRAL = 10  # keywords kept with a topic
_SAME = 0.5  # share of the keywords that a label was made from which must still be central for it to hold


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


def relabelled(topic: Topic, before: Topic | None) -> Topic:
    """Give a topic the label that a model gave it, as long as it is about the same, else that of its keywords.

    >>> before = Topic("t", "The sea", 3, labelled_by="some/model", labelled_from=("sea", "boat", "tide"))
    >>> relabelled(Topic("t", "", 3, ("boat", "sea", "rope")), before).label
    'The sea'
    >>> relabelled(Topic("t", "", 3, ("boat", "dock", "rope")), before).label
    'boat, dock, rope'
    """
    if before and before.labelled_by:
        same = set(before.labelled_from) & set(topic.keywords)
        if len(same) >= _SAME * len(before.labelled_from):
            return replace(
                topic, label=before.label, labelled_by=before.labelled_by, labelled_from=before.labelled_from
            )
    return replace(topic, label=label(topic.keywords))


class Labeller:
    """Asks the role `labelling`, several topics at once; what was asked about, or failed, is not asked about again."""

    def __init__(self, roles: Roles, spent: Spent) -> None:
        self._roles, self.spent = roles, spent
        self._known: dict[tuple[str, ...], tuple[str, str] | None] = {}

    def labelled(self, topics: Sequence[Topic]) -> tuple[Topic, ...]:
        """Give a label to each topic that has none by a model; where that fails, it keeps the one it has."""
        if not self._roles.has("labelling"):
            return tuple(topics)
        asked = dict.fromkeys(topic.keywords for topic in topics if not topic.labelled_by)
        self._ask([keywords for keywords in asked if keywords not in self._known])
        return tuple(self._named(topic) for topic in topics)

    def _named(self, topic: Topic) -> Topic:
        found = None if topic.labelled_by else self._known[topic.keywords]
        if found is None:
            return topic
        return replace(topic, label=found[0], labelled_by=found[1], labelled_from=topic.keywords)

    def _ask(self, topics: Sequence[tuple[str, ...]]) -> None:
        self._known |= dict.fromkeys(topics)
        for group, answer in self._roles.about("labelling", topics, lambda words: {"keywords": words}, self.spent):
            self._known |= {group[one.topic - 1]: (one.label, answer.model) for one in answer.items}
