"""Sources: what came from outside, verbatim."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from memgraph_engine.graph.database import Runner
from memgraph_engine.graph.notes import READABLE
from memgraph_engine.graph.rows import source_from, source_properties
from memgraph_engine.model.candidate import Candidate
from memgraph_engine.model.memory import Source


@dataclass(frozen=True, slots=True)
class Known:
    """A stored source: the hashes of all its versions, newest first, and the note that it is part of."""

    hashes: tuple[str, ...]
    note: str
    status: str


@dataclass(frozen=True, slots=True)
class Seen:
    """What a write was prepared with: nothing of it holds once the version has moved on.

    `tails` is the last turn of each session; `hidden` are those whose note can't be read any more.
    """

    version: int
    language: str
    known: Mapping[str, Known]
    tails: Mapping[str, Source]
    hidden: frozenset[str]
    keywords: Mapping[str, str]


def look_up(tx: Runner, scope: str, ids: Sequence[str], sessions: Sequence[str], keys: Sequence[str]) -> Seen | None:
    """Read all that a write needs to know; None if there is no such scope."""
    rows = tx.run("sources/look_up", scope=scope, ids=ids, sessions=sessions, keys=keys, statuses=READABLE)
    if not rows:
        return None
    row = rows[0]
    return Seen(
        version=row["version"],
        language=row["language"],
        known={k["id"]: Known(tuple(k["hashes"]), k["note"]["id"], k["note"]["status"]) for k in row["known"]},
        tails={tail["session"]: source_from(tail) for tail in row["tails"]},
        hidden=frozenset(tail["id"] for tail in row["tails"] if not tail["readable"]),
        keywords={k["key"]: k["name"] for k in row["keywords"]},
    )


def create(tx: Runner, scope: str, candidates: Sequence[Candidate]) -> None:
    """Store the candidates' sources, each linked to the turn before it."""
    rows: list[dict[str, Any]] = [
        {"id": c.source.id, "previous": c.previous, "properties": source_properties(c.source)} for c in candidates
    ]
    tx.run("sources/create", scope=scope, rows=rows)


def revise(tx: Runner, scope: str, source: Source, now: datetime) -> None:
    """Give a stored source the text and hash of this one; the old text is kept."""
    tx.run("sources/revise", scope=scope, id=source.id, text=source.text, hash=source.hash, now=now)
