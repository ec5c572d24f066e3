"""Sources: what came from outside, verbatim."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from memgraph_engine.graph import schema
from memgraph_engine.graph.database import Database, Row, Runner
from memgraph_engine.graph.notes import QUOTABLE, quotable
from memgraph_engine.graph.rows import source_from, source_properties
from memgraph_engine.model.candidate import Candidate
from memgraph_engine.model.memory import READABLE, TRUE_ONCE, Source


@dataclass(frozen=True, slots=True)
class Known:
    """A stored source: the hashes of all its versions, newest first, and the note that it is part of, if any."""

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
    notes: int
    known: Mapping[str, Known]
    tails: Mapping[str, Source]
    hidden: frozenset[str]
    keywords: Mapping[str, str]


def look_up(db: Database, scope: str, ids: Sequence[str], sessions: Sequence[str], keys: Sequence[str]) -> Seen | None:
    """Read all that a write needs to know; None if there is no such scope.

    A commit shows itself piece by piece, what its indexes find last: what is seen is whole only if the version was
    known before, from an earlier transaction. Raises StoreMismatch where a newer process has upgraded the database
    meanwhile.
    """
    arriving = {"ids": ids, "sessions": sessions, "keys": keys}
    rows = db.run("sources/look_up", scope=scope, arriving=arriving, statuses=QUOTABLE)
    if not rows:
        return None
    row = rows[0]
    schema.check(db, row["schema"])
    return Seen(
        version=row["version"],
        language=row["language"],
        notes=row["notes"],
        known={
            k["id"]: Known(tuple(k["hashes"]), *((k["note"]["id"], k["note"]["status"]) if k["note"] else ("", "none")))
            for k in row["known"]
        },
        tails={tail["session"]: source_from(tail) for tail in row["tails"]},
        hidden=frozenset(tail["id"] for tail in row["tails"] if not tail["readable"]),
        keywords={k["key"]: k["name"] for k in row["keywords"]},
    )


@dataclass(frozen=True, slots=True)
class Passage:
    """A stored passage of a document: the hashes of all its versions, newest first, and its note, if any.

    `status` is the note's, "none" without one; `sources` is from how many the note comes, `evidence` that of the
    decision that made it what it is. One that was `taken` out of a note that others tell too has none any more.
    """

    source: Source
    hashes: tuple[str, ...]
    note: str
    status: str
    sources: int
    evidence: str
    taken: bool


def document(tx: Runner, scope: str, id: str) -> list[Passage]:  # noqa: A002  the graph's own word
    """Return the passages of a document, in the order in which they came."""
    found = []
    for row in tx.run("sources/document", scope=scope, document=id):
        note = row["note"] or {"id": "", "status": "none", "sources": 0}
        source, hashes, evidence = source_from(row["source"]), tuple(row["hashes"]), note.get("evidence") or ""
        found.append(Passage(source, hashes, note["id"], note["status"], note["sources"], evidence, row["taken"]))
    return found


def documents(tx: Runner, scope: str, folder: str) -> list[str]:
    """Return the ids of the documents of a folder that still say something."""
    rows = tx.run("sources/documents", scope=scope, folder=folder, statuses=READABLE)
    return [row["document"] for row in rows]


def stored(tx: Runner, scope: str, id: str) -> bool:  # noqa: A002  the graph's own word
    """Tell whether there is a source of this id, with or without a note."""
    return bool(around(tx, scope, [id]))


def arriving(candidates: Iterable[Candidate]) -> list[Row]:
    """Return the rows that store the candidates' sources, each after the turn before it."""
    return [{"id": c.source.id, "previous": c.previous, "properties": source_properties(c.source)} for c in candidates]


@dataclass(frozen=True, slots=True)
class Around:
    """The turn before a source, if a context may repeat it, its id, and the notes (ids) of the turns after it."""

    previous: Source | None
    previous_id: str | None
    followers: tuple[str, ...]


def around(tx: Runner, scope: str, ids: Sequence[str]) -> dict[str, Around]:
    """Return what stands around sources in their conversations."""
    rows = tx.run("sources/turns", scope=scope, ids=sorted(ids), statuses=QUOTABLE, followers=TRUE_ONCE) if ids else []
    return {
        row["id"]: Around(quotable(row["previous"]), (row["previous"] or {}).get("id"), tuple(row["followers"]))
        for row in rows
    }
