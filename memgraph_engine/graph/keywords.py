"""Keywords: the anchors between notes and topics, and how often they occur together."""

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from itertools import combinations

from memgraph_engine.graph.database import Runner
from memgraph_engine.graph.rows import packed
from memgraph_engine.model.candidate import Keyword

Pairs = Counter[tuple[str, str]]


def pairs(names: Iterable[str]) -> Pairs:
    """Return each pair of one note's keywords once, the smaller name first.

    >>> pairs(["sea", "boat"])
    Counter({('boat', 'sea'): 1})
    """
    return Counter(combinations(sorted(set(names)), 2))


def create(tx: Runner, scope: str, keywords: Iterable[Keyword]) -> None:
    """Store the keywords that are not there yet."""
    unique = {keyword.name: keyword for keyword in keywords}
    if unique:
        rows = [{"name": k.name, "key": k.key, "vector": packed(k.vector)} for _, k in sorted(unique.items())]
        tx.run("keywords/create", scope=scope, rows=rows)


def attach(tx: Runner, scope: str, names_of: Mapping[str, Sequence[str]]) -> None:
    """Give notes (by id) their keywords (by name)."""
    rows = sorted(({"note": note, "name": name} for note, names in names_of.items() for name in names), key=str)
    if rows:
        tx.run("keywords/attach", scope=scope, rows=rows)


def detach(tx: Runner, scope: str, notes: Sequence[str]) -> None:
    """Take all keywords from notes."""
    tx.run("keywords/detach", scope=scope, notes=notes)


def co_occur(tx: Runner, scope: str, change: Pairs) -> None:
    """Add to the number of active notes that carry both names of each pair."""
    rows = [{"a": a, "b": b, "change": n} for (a, b), n in sorted(change.items()) if n]
    if rows:
        tx.run("keywords/co_occur", scope=scope, rows=rows)


def join_topics(tx: Runner, scope: str, names: Collection[str]) -> None:
    """Put those of these keywords that have no topic into the one that they occur with most, if it has room."""
    if names:
        tx.run("keywords/join_topics", scope=scope, names=sorted(names))


def prune(tx: Runner, scope: str, names: Collection[str]) -> None:
    """Remove those of these keywords that no note carries any more."""
    if names:
        tx.run("keywords/prune", scope=scope, names=sorted(names))
