"""Keywords: the anchors between notes and topics, and how often they occur together."""

from collections import Counter
from collections.abc import Collection, Iterable
from itertools import combinations

from memgraph_engine.graph.database import Row, Runner
from memgraph_engine.graph.rows import packed
from memgraph_engine.model.candidate import Keyword

Pairs = Counter[tuple[str, str]]


def pairs(names: Iterable[str]) -> Pairs:
    """Return each pair of one note's keywords once, the smaller name first.

    >>> pairs(["sea", "boat"])
    Counter({('boat', 'sea'): 1})
    """
    return Counter(combinations(sorted(set(names)), 2))


def named(keyword: Keyword) -> Row:
    """Return the row that stores a keyword."""
    return {"name": keyword.name, "key": keyword.key, "vector": packed(keyword.vector)}


def changed(pairs: Pairs) -> list[Row]:
    """Return the rows that change how many active notes carry both names of each pair."""
    return [{"a": a, "b": b, "change": n} for (a, b), n in sorted(pairs.items()) if n]


def join_topics(tx: Runner, scope: str, names: Collection[str]) -> None:
    """Put those of these keywords that have no topic into the one that they occur with most, if it has room."""
    if names:
        tx.run("keywords/join_topics", scope=scope, names=sorted(names))
