"""Sources: what came from outside, verbatim."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

from memgraph_engine.graph import schema
from memgraph_engine.graph.database import Database, Row, Runner
from memgraph_engine.graph.notes import QUOTABLE, ends, key_of, quotable
from memgraph_engine.graph.rows import made, source_from, source_properties, status_of
from memgraph_engine.model.candidate import Candidate
from memgraph_engine.model.memory import READABLE, TRUE_ONCE, Key, Source, cut_up

_GAP = " … "


@dataclass(frozen=True, slots=True)
class Known:
    """A stored source: the hashes of all its versions, newest first, and the notes (id, status) that it is part of.

    These are none for a source without a note, and several for a long message, passage by passage. One that has `ended`
    is to be erased by now: what comes with its id is new.
    """

    hashes: tuple[str, ...]
    notes: tuple[tuple[str, str], ...]
    ended: bool = False


@dataclass(frozen=True, slots=True)
class Seen:
    """What a write was prepared with: nothing of it holds once the version has moved on.

    `tails` is the last turn of each session, of a long one the last passage; `hidden` are those whose note can't be
    read any more.
    """

    version: int
    language: str
    notes: int
    known: Mapping[str, Known]
    tails: Mapping[str, Source]
    hidden: frozenset[Key]
    keywords: Mapping[str, str]


def look_up(db: Database, scope: str, ids: Sequence[str], sessions: Sequence[str], keys: Sequence[str]) -> Seen | None:
    """Read all that a write needs to know; None if there is no such scope.

    A commit shows itself piece by piece, what its indexes find last: what is seen is whole only if the version was
    known before, from an earlier transaction. Raises StoreMismatch where a newer process has upgraded the database
    meanwhile.
    """
    rows = db.run("sources/look_up", scope=scope, ids=ids, sessions=sessions, keys=keys, statuses=QUOTABLE)
    if not rows:
        return None
    row = rows[0]
    schema.current(db, *row["store"])
    return made(
        Seen,
        row,
        known={
            k["id"]: Known(tuple(k["hashes"]), tuple((note["id"], status_of(note)) for note in k["notes"]), k["ended"])
            for k in row["known"]
        },
        tails={tail["session"]: source_from(tail) for tail in row["tails"]},
        hidden=frozenset((tail["id"], tail["part"]) for tail in row["tails"] if not tail["readable"]),
        keywords={k["key"]: k["name"] for k in row["keywords"]},
    )


def known(db: Database, scope: str, ids: Iterable[str]) -> dict[str, Known]:
    """Return the sources of these ids that are stored, but those that are to be erased by now."""
    seen = look_up(db, scope, sorted({*ids}), [], [])
    return {id: one for id, one in seen.known.items() if not one.ended} if seen else {}


@dataclass(frozen=True, slots=True)
class Told:
    """The note that tells a part of a source: from how many sources it comes, and why it is what it is."""

    note: str
    status: str
    sources: int
    evidence: str


@dataclass(frozen=True, slots=True)
class Passage:
    """A stored passage of a document, or piece of code: the hashes of all its versions, newest first, and its notes.

    These are one for each of its parts (`told`), several for a long one, none for one that made no note. One that was
    `taken` out of a note that others tell too has none any more.
    """

    source: Source
    hashes: tuple[str, ...]
    told: Mapping[Key, Told]
    taken: bool

    @property
    def readable(self) -> Mapping[Key, str]:
        """The notes (ids) that can be read, by the parts that they tell."""
        return {key: one.note for key, one in self.told.items() if one.status in READABLE}

    @property
    def alone(self) -> bool:
        """Whether no note of it tells other sources too."""
        return all(one.sources == 1 for one in self.told.values())

    def ended_by(self, evidence: str) -> bool:
        """Tell whether nothing of it can be read, since it was deleted for this reason."""
        deleted = any(one.status == "deleted" and one.evidence == evidence for one in self.told.values())
        return deleted and not self.readable


def document(tx: Runner, scope: str, id: str) -> list[Passage]:
    """Return the passages of a document, in the order in which they came."""
    found = []
    for row in tx.run("sources/document", scope=scope, document=id):
        source = source_from(row["source"])
        told = {
            (source.id, one["part"]): Told(one["id"], status_of(one), one["sources"], one["evidence"] or "")
            for one in row["notes"]
        }
        found.append(Passage(source, tuple(row["hashes"]), told, row["taken"]))
    return found


def documents(tx: Runner, scope: str, folder: str) -> list[str]:
    """Return the ids of the documents of a folder that still say something."""
    rows = tx.run("sources/documents", scope=scope, folder=folder, statuses=READABLE)
    return [row["document"] for row in rows]


def find(tx: Runner, scope: str, id: str) -> Source | None:
    """Return the source of this id, with or without a note; a long message whole."""
    found = passages(tx, scope, id)
    return joined(found) if found else None


def recent(tx: Runner, scope: str, session: str, roles: Sequence[str], limit: int) -> list[Source]:
    """Return the last turns of a session, the oldest first; of a long one the passages that can be read."""
    given = {"session": session, "roles": roles, "statuses": TRUE_ONCE, "limit": limit}
    rows = tx.run("sources/recent", scope=scope, **given) if limit else []
    return [_readable(row["source"], row["parts"]) for row in reversed(rows)]


def _readable(row: Row, parts: Sequence[int]) -> Source:
    """Return a source with these passages of it alone; dots stand for what is left out."""
    cuts, whole = row.get("cuts") or (), source_from(row)
    kept = [one for one in cut_up(whole, cuts) if one.part in parts]
    if len(kept) > len(cuts):
        return whole
    text = kept[0].text
    for before, one in pairwise(kept):
        text += one.text if one.part == before.part + 1 else f"{_GAP}{one.text}"
    start, end = (_GAP if kept[0].part else ""), (_GAP if kept[-1].part < len(cuts) else "")
    return replace(kept[0], text=f"{start}{text}{end}".strip(), part=0, span=None)


def passages(tx: Runner, scope: str, id: str, hash: str = "") -> list[Source]:
    """Return the passages of a source, in order, with or without notes; one that is not cut is its only passage.

    With a `hash` they are those of the version that had it, if there was one.
    """
    rows = tx.run("sources/find", scope=scope, id=id, hash=hash)
    if not rows:
        return []
    row = rows[0]["source"]
    return cut_up(source_from(row), row.get("cuts") or ())


def arriving(passages: Sequence[Candidate]) -> Row:
    """Return the row that stores a source after the turn before it, by the candidates made of its passages."""
    first, sources = passages[0], [one.source for one in passages]
    return {
        "id": first.source.id,
        "previous": first.previous,
        "properties": {**source_properties(joined(sources)), "cuts": cuts(sources) or None},
        **ends(first.source.expires_at, first.source.erase_at),
    }


def joined(passages: Sequence[Source]) -> Source:
    """Return the whole source of all of its passages."""
    return replace(passages[0], text="".join(one.text for one in passages), span=None)


def cuts(passages: Sequence[Source]) -> list[int]:
    """Return before which characters a source is cut into these passages."""
    return [one.span[0] for one in passages[1:] if one.span]


@dataclass(frozen=True, slots=True)
class Around:
    """The turn before a source, if a context may repeat it, its key, and the notes (ids) of the turns after it.

    In a long message these turns are the passages before and after.
    """

    previous: Source | None
    previous_key: Key | None
    followers: tuple[str, ...]


def around(tx: Runner, scope: str, ids: Iterable[str]) -> dict[Key, Around]:
    """Return what stands around each passage of sources in their conversations."""
    given = {"ids": sorted(set(ids)), "statuses": QUOTABLE, "followers": (*TRUE_ONCE, "archived")}
    rows = tx.run("sources/turns", scope=scope, **given) if given["ids"] else []
    return {
        (row["id"], row["part"]): Around(quotable(row["previous"]), key_of(row["previous"]), tuple(row["followers"]))
        for row in rows
    }
