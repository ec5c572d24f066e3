"""One write: all that changes in a scope at once, in one statement; and its rows of keywords and their pairs."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import datetime
from itertools import combinations
from typing import Any

from memgraph_engine.graph.database import Database, Row
from memgraph_engine.graph.rows import packed
from memgraph_engine.graph.statements import BrokenStatement, statements
from memgraph_engine.model.candidate import Keyword
from memgraph_engine.model.memory import READABLE

Pairs = Counter[tuple[str, str]]

_COMMIT = "writes/commit"


@dataclass(slots=True, kw_only=True)
class Sums:
    """By how much a write changes a scope's sums: readable notes, and their lengths in terms.

    `joined` are notes whose keywords were not in the graph of keywords before: topics are found anew after so many.
    `ends` is when the first of what is written ends, in milliseconds since 1970; None if nothing does. `apart` tells
    that some of it is kept apart.
    """

    notes: int = 0
    raw_length: int = 0
    context_length: int = 0
    joined: int = 0
    ends: int | None = None
    apart: bool = False


def commit(
    db: Database,
    scope: str,
    version: int,
    now: datetime,
    write: Mapping[str, Sequence[Any]],
    sums: Sums | None = None,
) -> bool:
    """Write the rows of each operation; False, with nothing written, if somebody wrote since `version` was read.

    `cypher/writes/commit.cypher` lists the operations, and the file of each (`cypher/fragments/writes/`) says what its
    rows hold. One of three texts is sent, so that the server plans no more: additions alone, with what revises notes,
    or all of it.
    """
    needs = statements()[_COMMIT].needs("write")
    if unknown := write.keys() - needs.keys():
        raise BrokenStatement(f"{_COMMIT}: it uses no operation {sorted(unknown)}")
    needed = {needs[operation] for operation, rows in write.items() if rows} - {""}
    rows = db.commit(
        _COMMIT,
        scope=scope,
        version=version,
        now=now,
        statuses=READABLE,
        sums=asdict(sums or Sums()),
        write={operation: list(write.get(operation, ())) for operation in needs},
        revises=bool(needed),
        corrects="corrects" in needed,
    )
    return bool(rows)


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
