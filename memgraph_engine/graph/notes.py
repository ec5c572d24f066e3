"""Notes: stored, found, listed, revised, and their past."""

import secrets
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import TYPE_CHECKING, Any, TypeAlias

from memgraph_engine.arrays import NDArray, np
from memgraph_engine.errors import InvalidInput
from memgraph_engine.graph.database import Row, Runner, paged
from memgraph_engine.graph.rows import made, milliseconds, note_from, packed, place_of, source_from
from memgraph_engine.model.candidate import Candidate
from memgraph_engine.model.memory import NEVER, READABLE, UNKNOWN_PAST, Key, Note, Source, Status
from memgraph_engine.model.result import Version
from memgraph_engine.model.scope import Scope

if TYPE_CHECKING:
    from neo4j.vector import Vector

FIELDS = ("raw_scoped", "context_scoped")
_MOST_CLAUSES = 1000
_NOTHING = "+status:none"

QUOTABLE = READABLE
"""Notes that the next turn's context may repeat: what was corrected is no longer true."""
UNSWEPT = ("active", "pending", "superseded", "deleted")
"""Statuses of notes that a sweep archives when they have expired."""
SUMMARY = "extract"
"""Who constructed a summary that no chat model wrote: it follows from what it sums, and quotes no turn before."""
USER = "user"
"""Who constructed a context that is none of the sources' nor a chat model's."""
_PAGE = 500
Floats: TypeAlias = "NDArray[np.float32] | Sequence[float]"
"""A vector."""


@dataclass(frozen=True, slots=True)
class Found:
    """A note as a change of it needs it: with the lengths of its texts in terms, and who wrote its context.

    `constructed_by` is '' for a context that follows from the sources, else a chat model's name, or 'user'.
    The vectors are only there for a former version. `counted`: the scope's sums hold it, also where it has expired.
    `summed_by` are the summaries that stand for it.
    """

    note: Note
    raw_length: int
    context_length: int
    constructed_by: str = ""
    by: str = "note"
    raw_terms: str = ""
    context_terms: str = ""
    counted: bool = True
    raw_vector: "Sequence[float] | None" = None
    context_vector: "Sequence[float] | None" = None
    summed_by: tuple[str, ...] = ()

    @property
    def by_model(self) -> bool:
        """Whether a chat model wrote its context."""
        return self.constructed_by not in ("", SUMMARY, USER)


@dataclass(frozen=True, slots=True)
class Turn:
    """A source, the turn before it in its session, None if there is none or it can't be read, and that turn's key.

    The turn before a later passage of a long message is the passage before it.
    """

    source: Source
    previous: Source | None
    previous_key: Key | None


@dataclass(frozen=True, slots=True)
class Rendering:
    """A note, and the turns that its local context is made of."""

    found: Found
    turns: tuple[Turn, ...]


@dataclass(frozen=True, slots=True)
class Revision:
    """New properties of a note, new keywords where they changed, sources that it gains and loses.

    Its vectors are those of the texts that it gives: known ones, or made when it is written.
    `sums` is what it stands for from now on, None for what it did before.
    A `light` one takes the note out of search: neither it nor its former version keeps vectors, and of its
    keywords only the names are kept.
    """

    id: str
    decision: str
    properties: Mapping[str, Any]
    role: str = "changed"
    raw_vector: "Floats | None" = None
    context_vector: "Floats | None" = None
    keywords: tuple[str, ...] | None = None
    adds: tuple[Key, ...] = ()
    drops: tuple[Key, ...] = ()
    light: bool = False
    sums: tuple[str, ...] | None = None

    @classmethod
    def archived(cls, id: str, decision: str) -> "Revision":
        """Return the one that puts a note into the archive."""
        return cls(id, decision, {"status": "archived"}, keywords=(), light=True)


@dataclass(frozen=True, slots=True)
class NewNote:
    """A candidate with the ids that its note and decision get, when it is recorded, and its place in time."""

    id: str
    decision: str
    candidate: Candidate
    at: datetime
    created_at: datetime
    status: str = "active"


@dataclass(frozen=True, slots=True)
class Evictable:
    """A note that may be evicted, with the terms of its own words; `sums` counts the notes that a summary stands for.

    A `message` may tell it, and so many sources more, by which it is `restated`; a summary has none of its own. `alike`
    is what all notes of a summary have in common: class, whether that keeps it apart, speaker, role, ends and origin.
    """

    id: str
    session: str
    created_at: datetime
    terms: tuple[str, ...]
    role: str
    policy: str
    message: bool
    restated: int
    sums: int
    alike: tuple[object, ...]


@dataclass(frozen=True, slots=True)
class Part:
    """What a summary stands for, as far as it is made of that."""

    note: str
    raw: tuple[str, ...]
    sources: tuple[Source, ...]
    keywords: tuple[str, ...]
    tags: tuple[str, ...]
    session: str
    seq: int
    agent: str
    said_at: datetime
    valid_from: datetime


@dataclass(frozen=True, slots=True)
class Summed:
    """A note that is to be summed, or a summary: with its raw vector, and what it stands for, itself if for nothing."""

    found: Found
    vector: "Vector | None"
    parts: tuple[Part, ...]


@dataclass(frozen=True, slots=True)
class NewSummary:
    """A summary to store: its properties, keywords (names that are stored already), and what it sums."""

    id: str
    decision: str
    properties: Row
    keywords: tuple[str, ...]
    sums: tuple[str, ...]
    created_at: datetime
    ends: tuple[datetime, datetime]


@dataclass(frozen=True, slots=True)
class Relation:
    """A tie from a newer note to an older one: RELATED of kind link, change or conflict, or SUPERSEDES.

    `former` are the words of the older one that a change makes untrue; '' for all of them.
    """

    new: str
    old: str
    kind: str
    score: float
    decision: str
    former: str = ""


@dataclass(frozen=True, slots=True)
class Bound:
    """The tie between a note and another one, or one that was taken back (then its kind is untied)."""

    kind: str
    newer: str
    older: str
    score: float
    strengthened: bool


@dataclass(frozen=True, slots=True)
class Evolving:
    """What an evolution compares a note by: vectors, names of rare keywords, topics, ties by the other note.

    A topic is its id, its label, and how many keywords of the note are in it.
    """

    raw_vector: "Sequence[float]"
    context_vector: "Sequence[float]"
    rare: frozenset[str]
    topics: tuple[tuple[str, str, int], ...]
    ties: Mapping[str, Bound]


@dataclass(frozen=True, slots=True)
class Gathered:
    """A note that a decision is about: as it is now, as it was just before, and who changed it since."""

    id: str
    role: str
    now: Found | None
    before: Found | None
    later: tuple[tuple[str, str], ...]


def created(scope: Scope, new: NewNote) -> Row:
    """Return the row that stores a new note with its provenance and keywords."""
    candidate, source = new.candidate, new.candidate.source
    said_at = source.said_at or new.at
    names = ("session", "seq", "speaker", "role", "policy", "pinned", "apart")
    properties = {
        **texts_of(candidate),
        **{name: getattr(source, name) for name in names},
        "status": new.status,
        "agent_id": source.agent,
        "tags": tags_of([source]),
        "several": False,
    }
    return {
        **_new(scope, properties, said_at, new.created_at, min(said_at, candidate.valid_from or said_at)),
        **ends(source.expires_at, source.erase_at),
        **_packed(candidate.raw_vector, candidate.context_vector),
        "id": new.id,
        "source": source.id,
        "part": source.part or None,
        "sums": [],
        "decision": new.decision,
        "keywords": [keyword.name for keyword in candidate.keywords],
    }


def summary(scope: Scope, new: NewSummary) -> Row:
    """Return the row that stores a new summary."""
    properties = {**new.properties, "status": "active", "pinned": False, "several": True}
    return {
        **_new(scope, properties, new.properties["said_at"], new.created_at, new.properties["valid_from"]),
        **ends(*new.ends),
        **_packed(None, None),
        "id": new.id,
        "source": None,
        "part": None,
        "sums": list(new.sums),
        "decision": new.decision,
        "keywords": list(new.keywords),
    }


def _new(scope: Scope, properties: Row, said_at: datetime, created_at: datetime, valid_from: datetime) -> Row:
    return {
        "properties": {**properties, "scope_token": scope.token, "stamp": new_stamp(), "revision": 1},
        "said_at": milliseconds(said_at),
        "created_at": milliseconds(created_at),
        "valid_from": milliseconds(valid_from),
    }


def _packed(raw: "Floats | None", context: "Floats | None") -> Row:
    return {"raw_vector": packed(raw), "context_vector": packed(context)}


def ends(expires_at: datetime, erase_at: datetime) -> dict[str, int | None]:
    """Return when a source and its note end, in milliseconds since 1970; None for never."""
    given = {"expires_at": expires_at, "erase_at": erase_at}
    return {name: None if at == NEVER else milliseconds(at) for name, at in given.items()}


def new_stamp() -> int:
    """Draw the stamp of a version of a note: 63 random bits, by which it is known wherever it is kept."""
    return secrets.randbits(63)


def scoped(scope: Scope, given: Mapping[str, Any]) -> Row:
    r"""Return the properties of a version of a note that follow from the scope, and a stamp.

    Whatever white space stands between terms, each is behind the scope's own token.

    >>> scoped(Scope("acme", "ana"), {"raw_terms": "blue\tboat", "context_terms": ""})["raw_scoped"]
    'sfbcb39b95blue sfbcb39b95boat'
    """
    token = scope.token
    made = {
        f"{text}_scoped": " ".join(token + term for term in given[f"{text}_terms"].split() or [""])
        for text in ("raw", "context")
    }
    return {"scope_token": token, "stamp": new_stamp(), **made}


def texts_of(candidate: Candidate) -> Row:
    """Return the properties of a candidate's two texts."""
    return {
        "raw": [candidate.raw],
        "context": candidate.context,
        "raw_terms": " ".join(candidate.raw_terms),
        "context_terms": " ".join(candidate.context_terms),
        "constructed_by": candidate.constructed_by,
    }


def tags_of(sources: Iterable[Source]) -> list[str]:
    """Return the tags that a note has by its sources: theirs, and the scalar entries of their metadata.

    >>> tags_of([Source("1", "I moved.", "", tags=("home",), metadata={"room": "blue", "doors": [1]})])
    ['home', 'room=blue']
    """
    tags = set[str]()
    for source in sources:
        scalars = (
            (key, value) for key, value in source.metadata.items() if isinstance(value, str | int | float | bool)
        )
        tags |= {*source.tags, *(f"{key}={value}" for key, value in scalars)}
    return sorted(tags)


def evolving(tx: Runner, scope: str, ids: Sequence[str], rare: int) -> dict[str, "Evolving"]:
    """Return what an evolution compares notes by; a keyword is rare that at most `rare` notes carry."""
    rows = tx.run("notes/evolving", scope=scope, ids=list(ids), rare=rare) if ids else []
    return {row["id"]: made(Evolving, row, ties={one["note"]: made(Bound, one) for one in row["ties"]}) for row in rows}


def find(tx: Runner, scope: str, id: str) -> Found | None:
    """Return the note of this id, its own or that of a source it comes from; raises InvalidInput if these are two.

    Of a long message it is the note of the first passage that can be read.
    """
    found = found_by(tx, scope, id)
    return next((one for one in found if one.note.status in READABLE), found[0]) if found else None


def found_by(tx: Runner, scope: str, id: str) -> list[Found]:
    """Return the note of this id, or the notes of the source of this id, passage by passage; raises InvalidInput."""
    found = {row["note"]["id"]: found_from(row["note"], row["by"]) for row in tx.run("notes/find", scope=scope, id=id)}
    if len({one.by for one in found.values()}) > 1:
        raise InvalidInput(f"{id!r} is the id of a note and that of another note's source: name {list(found)} instead.")
    return list(found.values())


def former(tx: Runner, scope: str, id: str) -> Note | None:
    """Return the note that lost the source of this id, or one whose coming was undone: as it was last, "undone"."""
    rows = tx.run("notes/former", scope=scope, id=id)
    if not rows:
        return None
    now = find(tx, scope, rows[0]["note"])
    return now.note if now else replace(history(tx, scope, rows[0]["note"])[-1].note, status="undone")


def newest(
    tx: Runner,
    scope: str,
    filters: Mapping[str, Any],
    before: tuple[datetime, str],
    limit: int,
    statuses: Sequence[Status] = READABLE,
) -> list[Found]:
    """Return the notes, readable ones or of other statuses, created last before another one (its time and id)."""
    at, id = before
    given = {"filters": filters, "before": at, "before_id": id, "limit": limit}
    return [found_from(row["note"]) for row in tx.run("notes/newest", scope=scope, statuses=statuses, **given)]


def found_from(row: Row, by: str = "note") -> Found:
    """Return the note of a row that holds its terms, and perhaps its vectors."""
    return Found(
        note_from(row),
        len(row["raw_terms"].split()),
        len(row["context_terms"].split()),
        row.get("constructed_by") or "",
        by,
        row["raw_terms"],
        row["context_terms"],
        row["status"] in READABLE,
        row.get("raw_vector"),
        row.get("context_vector"),
        tuple(sorted(row.get("summed_by") or ())),
    )


def pages(
    tx: Runner,
    scope: str,
    filters: Mapping[str, Any],
    statuses: Sequence[Status] = READABLE,
    *,
    behind: Note | None = None,
) -> Iterator[list[Note]]:
    """Yield the readable notes that are meant, oldest first, a page at a time; or those of other statuses.

    They are those `behind` a note, if one is given.
    """
    after, after_id = (behind.created_at, behind.id) if behind else (UNKNOWN_PAST, "")
    given = {"scope": scope, "filters": filters, "statuses": statuses, "after": after, "after_id": after_id}
    for rows in paged(tx, "notes/page", _PAGE, lambda row: place_of(row["note"]), **given):
        yield [note_from(row["note"]) for row in rows]


def vectors(tx: Runner, scope: str) -> Iterator[tuple[str, Sequence[float]]]:
    """Yield the id of each readable note with its context's vector, in the order of ids, fetched by pages."""
    for rows in paged(tx, "notes/vectors", _PAGE, scope=scope, statuses=READABLE, after=""):
        for row in rows:
            yield row["id"], row["vector"]


def renderings(tx: Runner, scope: str, ids: Sequence[str]) -> list[Rendering]:
    """Return notes with the turns that their contexts are made of, in the order of time."""
    rows = tx.run("notes/renderings", scope=scope, ids=sorted(ids), statuses=QUOTABLE) if ids else []
    return [
        Rendering(
            found_from({**row["note"], "sources": [turn["source"] for turn in row["turns"]]}),
            tuple(
                Turn(source_from(turn["source"]), quotable(turn["previous"]), key_of(turn["previous"]))
                for turn in row["turns"]
            ),
        )
        for row in rows
    ]


def pending(tx: Runner, scope: str, limit: int, without: Sequence[str] = ()) -> list[Rendering]:
    """Return the notes that wait to be constructed, oldest first, each with its turn; `without` are passed over.

    One that is undone between the two statements waits no more.
    """
    ids = [row["id"] for row in tx.run("notes/pending", scope=scope, limit=limit, without=list(without))]
    of = {one.found.note.id: one for one in renderings(tx, scope, ids)}
    return [of[id] for id in ids if id in of]


def key_of(row: Row | None) -> Key | None:
    """Return the key of a source's row."""
    return (row["id"], row["part"]) if row else None


def quotable(row: Row | None) -> Source | None:
    """Return a source that a context may repeat: one whose note can be read."""
    return source_from(row) if row and row["readable"] else None


def revised(revision: Revision) -> Row:
    """Return the row that changes a note."""
    return {
        "id": revision.id,
        "properties": {
            **revision.properties,
            "stamp": new_stamp(),
            **({"several": True} if revision.adds or revision.sums else {}),
        },
        "decision": revision.decision,
        "role": revision.role,
        **_packed(revision.raw_vector, revision.context_vector),
        "adds": list(map(_told, revision.adds)),
        "drops": list(map(_told, revision.drops)),
        "keywords": None if revision.keywords is None else list(revision.keywords),
        "light": revision.light,
        "sums": None if revision.sums is None else sorted(revision.sums),
    }


def _told(key: Key) -> Row:
    return {"id": key[0], "part": key[1] or None}


def gathered(tx: Runner, scope: str, decision: str) -> list[Gathered]:
    """Return what a decision is about, as undo needs it."""
    return [
        made(
            Gathered,
            row,
            now=found_from(row["now"]) if row["now"] else None,
            before=found_from(row["before"]) if row["before"] else None,
        )
        for row in tx.run("notes/gathered", scope=scope, decision=decision)
    ]


def evictable(
    tx: Runner, scope: str, before: datetime, staying: Sequence[str], sources: Sequence[str], sessions: Sequence[str]
) -> list[Evictable]:
    """Return the notes that a cap may evict, none of these classes, sources or sessions.

    What changed after `before` is left out.
    """
    given = {"staying": list(staying), "sources": list(sources), "sessions": list(sessions)}
    rows = tx.run("notes/evictable", scope=scope, before=before, **given)
    return [made(Evictable, row, terms=tuple(row["terms"].split())) for row in rows]


def summed(tx: Runner, scope: str, ids: Sequence[str], dimensions: int) -> list[Summed]:
    """Return notes with what a summary of them is made of, in the order of the ids; those that are gone left out."""
    pages = (list(ids[start : start + _PAGE]) for start in range(0, len(ids), _PAGE))
    rows = [row for page in pages for row in tx.run("notes/summed", scope=scope, ids=page, dimensions=dimensions)]
    return [
        Summed(found_from(row["note"]), row["vector"], tuple(made(Part, one) for one in row["parts"])) for row in rows
    ]


def history(tx: Runner, scope: str, id: str) -> list[Version]:
    """Return all versions of a note, oldest first; the note keeps its id in each."""
    return [made(Version, row) for row in tx.run("notes/history", scope=scope, id=id)]


def words_query(
    words: Sequence[str], scopes: Sequence[Scope], statuses: Sequence[str], *, fields: Sequence[str] = FIELDS
) -> str:
    """Return the full-text query: the status must be there without counting, and any of the words in a scope.

    The words are our own terms, letters and digits only; nothing of Lucene's syntax can come with them. Lucene takes
    1,024 clauses: of words times scopes times fields only so many are asked for, the first.

    >>> words_query(["boat"], [Scope("acme", "ana")], ["active"], fields=["raw_scoped"])
    '+status:(active)^0 +(raw_scoped:(sfbcb39b95boat))'
    """
    if not words:
        return _NOTHING
    most = _MOST_CLAUSES // (len(scopes) * len(fields))
    any_word = " ".join(token + word for token in [scope.token for scope in scopes] for word in words[:most])
    wanted = " ".join(f"{field}:({any_word})" for field in fields)
    return f"+status:({' '.join(statuses)})^0 +({wanted})"
