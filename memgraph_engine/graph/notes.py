"""Notes: stored, found, listed, revised, and their past."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any

from memgraph_engine.errors import InvalidInput
from memgraph_engine.graph.database import Row, Runner
from memgraph_engine.graph.rows import moment, note_from, source_from
from memgraph_engine.model.candidate import Candidate
from memgraph_engine.model.memory import NEVER, UNKNOWN_PAST, Note, Source
from memgraph_engine.model.result import Decision, Version
from memgraph_engine.model.scope import Scope

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

READABLE = ("active", "pending")
_PAGE = 500


@dataclass(frozen=True, slots=True)
class Found:
    """A note as a change of it needs it: with the lengths of its texts in terms."""

    note: Note
    by: str
    raw_length: int
    context_length: int


@dataclass(frozen=True, slots=True)
class Follower:
    """A note whose context repeats a turn of another: its own source, and its context's length in terms."""

    id: str
    source: Source
    context: str
    context_length: int


@dataclass(frozen=True, slots=True)
class Revision:
    """New properties of a note, and new vectors where its texts changed."""

    id: str
    properties: Mapping[str, Any]
    role: str = "changed"
    raw_vector: "NDArray[np.float32] | None" = None
    context_vector: "NDArray[np.float32] | None" = None


@dataclass(frozen=True, slots=True)
class NewNote:
    """A candidate with the ids that its note and decision get, when it is recorded, and its place in time."""

    id: str
    decision: str
    candidate: Candidate
    at: datetime
    created_at: datetime


def create(tx: Runner, scope: Scope, notes: Sequence[NewNote]) -> None:
    """Store new notes with their provenance and decisions."""
    rows = [
        {
            "id": new.id,
            "source": new.candidate.source.id,
            "properties": _properties(new, scope),
            "raw_vector": new.candidate.raw_vector.tolist(),
            "context_vector": new.candidate.context_vector.tolist(),
            "decision": {"id": new.decision, "kind": "append", "at": new.at},
        }
        for new in notes
    ]
    tx.run("notes/create", scope=scope.name, rows=rows)


def _properties(new: NewNote, scope: Scope) -> Row:
    candidate, source = new.candidate, new.candidate.source
    said_at = source.said_at or new.at
    return {
        "raw": [candidate.raw],
        "context": candidate.context,
        "raw_terms": " ".join(candidate.raw_terms),
        "context_terms": " ".join(candidate.context_terms),
        "scope_token": scope.token,
        "status": "active",
        "revision": 1,
        "session": source.session,
        "seq": source.seq,
        "speaker": source.speaker,
        "role": source.role,
        "agent_id": source.agent,
        "said_at": said_at,
        "created_at": new.created_at,
        "recorded_at": new.at,
        "superseded_at": NEVER,
        "valid_from": said_at,
        "valid_to": NEVER,
        "expires_at": NEVER,
        "tags": sorted({*source.tags, *metadata_tags(source.metadata)}),
    }


def metadata_tags(metadata: Mapping[str, object]) -> Iterator[str]:
    """Yield the scalar entries of a source's metadata as tags.

    >>> list(metadata_tags({"room": "blue", "floor": 2, "doors": [1, 2]}))
    ['room=blue', 'floor=2']
    """
    return (f"{key}={value}" for key, value in metadata.items() if isinstance(value, str | int | float | bool))


def find(tx: Runner, scope: str, id: str) -> Found | None:  # noqa: A002  the graph's own word
    """Return the note of this id, its own or that of a source it comes from; raises InvalidInput if these are two."""
    found = {row["note"]["id"]: _found(row["note"], row["by"]) for row in tx.run("notes/find", scope=scope, id=id)}
    if len(found) > 1:
        raise InvalidInput(f"{id!r} is the id of a note and that of another note's source: name {list(found)} instead.")
    return next(iter(found.values()), None)


def newest(tx: Runner, scope: str, limit: int) -> list[Found]:
    """Return the readable notes that were created last."""
    rows = tx.run("notes/newest", scope=scope, statuses=READABLE, limit=limit)
    return [_found(row["note"], "note") for row in rows]


def _found(row: Row, by: str) -> Found:
    return Found(note_from(row), by, len(row["raw_terms"].split()), len(row["context_terms"].split()))


def pages(tx: Runner, scope: str) -> Iterator[list[Note]]:
    """Yield all readable notes, oldest first, a page at a time."""
    after, after_id = UNKNOWN_PAST, ""
    while True:
        rows = tx.run("notes/page", scope=scope, statuses=READABLE, after=after, after_id=after_id, limit=_PAGE)
        if not rows:
            return
        notes = [note_from(row["note"]) for row in rows]
        yield notes
        after, after_id = notes[-1].created_at, notes[-1].id


def neighbours(tx: Runner, scope: str, note: str) -> tuple[Source | None, list[Follower]]:
    """Return the turn before a note, and the readable notes whose context repeats it."""
    rows = tx.run("notes/neighbours", scope=scope, note=note, statuses=READABLE)
    previous = [source_from(row) for row in rows[0]["previous"]]
    followers = [
        Follower(
            row["note"]["id"],
            source_from(row["source"]),
            row["note"]["context"],
            len(row["note"]["context_terms"].split()),
        )
        for row in rows[0]["followers"]
    ]
    return (previous[0] if previous else None), followers


def revise(tx: Runner, scope: str, decision: Decision, revisions: Sequence[Revision]) -> None:
    """Change notes, keeping the closing state of each as a Past node."""
    rows = [
        {
            "id": revision.id,
            "properties": dict(revision.properties),
            "role": revision.role,
            "raw_vector": None if revision.raw_vector is None else revision.raw_vector.tolist(),
            "context_vector": None if revision.context_vector is None else revision.context_vector.tolist(),
        }
        for revision in revisions
    ]
    tx.run(
        "notes/revise",
        scope=scope,
        rows=rows,
        decision={"id": decision.id, "kind": decision.kind, "at": decision.at},
    )


def history(tx: Runner, scope: str, id: str) -> list[Version]:  # noqa: A002  the graph's own word
    """Return all versions of a note, oldest first; the note keeps its id in each."""
    return [
        Version(
            note_from(row["note"]),
            Decision(row["decision"]["id"], row["decision"]["kind"], moment(row["decision"]["at"]), id)
            if row["decision"]
            else None,
        )
        for row in tx.run("notes/history", scope=scope, id=id)
    ]


def recall(tx: Runner, **parameters: Any) -> Row:
    """Fetch the pool for a question, and the sums of the scopes read, in one round trip."""
    return tx.run("notes/recall", **parameters)[0]
