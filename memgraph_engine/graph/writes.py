"""One write: all that changes in a scope at once, in one statement."""

from collections.abc import Sequence
from dataclasses import dataclass, fields
from datetime import datetime

from memgraph_engine.graph.database import Database, Row
from memgraph_engine.model.memory import READABLE


@dataclass(frozen=True, slots=True, kw_only=True)
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


@dataclass(frozen=True, slots=True, kw_only=True)
class Write:
    """What changes, in rows as `cypher/writes/commit.cypher` tells them, and in this order."""

    sources: Sequence[Row] = ()
    decisions: Sequence[Row] = ()
    keywords: Sequence[Row] = ()
    reinstated: Sequence[Row] = ()
    notes: Sequence[Row] = ()
    waves: Sequence[Sequence[Row]] = ()
    rewritten: Sequence[Row] = ()
    relations: Sequence[Row] = ()
    cut: Sequence[Row] = ()
    untied: Sequence[Row] = ()
    loosed: Sequence[Row] = ()
    retied: Sequence[Row] = ()
    strengthened: Sequence[Row] = ()
    weakened: Sequence[Row] = ()
    retired: Sequence[Row] = ()
    parted: Sequence[Row] = ()
    leaving: Sequence[str] = ()
    rebuilt: Sequence[Row] = ()
    erased: Sequence[str] = ()
    living: Sequence[Row] = ()
    prolonged: Sequence[Row] = ()
    pairs: Sequence[Row] = ()
    lost: Sequence[str] = ()
    gained: Sequence[str] = ()


_ADDS = ("sources", "decisions", "keywords", "notes", "relations", "pairs", "gained")
_REVISES = ("waves", "lost")
"""Of the parts of a write those that additions have, and those that additions which join notes have besides."""


def commit(db: Database, scope: str, version: int, now: datetime, write: Write, sums: Sums = Sums()) -> bool:
    """Write it all; False, with nothing written, if somebody wrote since `version` was read."""
    parts = {field.name: list(getattr(write, field.name)) for field in fields(write)}
    changed = {field.name: getattr(sums, field.name) for field in fields(sums)}
    more = {name for name, rows in parts.items() if rows and name not in _ADDS}
    corrects = not more.issubset(_REVISES) or (sums.apart and "lost" in more)
    rows = db.commit(
        "writes/commit",
        scope=scope,
        version=version,
        now=now,
        statuses=READABLE,
        sums=changed,
        write=parts,
        revises=bool(more),
        corrects=corrects,
    )
    return bool(rows)
