"""Notes as a search scores and returns them, kept in memory by their stamps.

A search's statement names notes by their stamps only. A stamp is drawn anew with every version of a note, so what is
kept under one never changes, and an entry can't be stale. What no memory holds any more is named by no statement.
"""

from collections import Counter, OrderedDict
from collections.abc import Iterable, Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass, replace
from sys import getsizeof, intern
from threading import Lock
from typing import TYPE_CHECKING, Any

from memgraph_engine.graph.database import Row, Runner
from memgraph_engine.graph.rows import moment, note_from
from memgraph_engine.model.memory import Note
from memgraph_engine.model.result import CacheStats

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

_KEPT = ("id", "status", "session", "seq", "said_at", "valid_from", "raw", "context", "tags")
_COUNTS: dict[tuple[int, int], tuple[int, int]] = {}  # one for all notes: they are few
_NOTE, _SOURCE, _TERM = 1400, 1400, 60  # bytes of a note, of each source, and of each term, beside texts and vectors


@dataclass(slots=True, eq=False)
class CachedNote:
    """A version of a note. `terms` counts each of its terms in the raw text and in the context, `lengths` are the sums.

    `vectors` has the shape (2, dimensions), of length 1: raw and context; None for a note that waits for them.
    Times are in milliseconds since 1970. `size` is about how many bytes all of it takes.
    """

    scope: str
    id: str
    status: str
    session: str
    seq: int
    said_at: int
    valid_from: int
    raw: Sequence[str]
    context: str
    tags: Sequence[str]
    terms: Mapping[str, tuple[int, int]]
    lengths: tuple[int, int]
    vectors: "NDArray[np.float32] | None"
    size: int
    _row: Row | None
    _note: Note | None = None

    def note(self, superseded_at: int | None = None) -> Note:
        """Return the note, for the caller to keep; what is found as a former version has a time at which it ended."""
        if self._note is None:  # of a pool most are never looked at
            assert self._row is not None
            self._note = note_from(self._row)
            self._row = None
        note = self._note
        if any(source.metadata for source in note.sources):  # what else it has can't be changed by whoever gets it
            note = replace(note, sources=tuple(replace(one, metadata=deepcopy(one.metadata)) for one in note.sources))
        return note if superseded_at is None else replace(note, superseded_at=moment(superseded_at))

    def metadata(self) -> list[Mapping[str, object]]:
        """Return what is known of each source beside its words."""
        return [source.metadata for source in self.note().sources]

    def said(self) -> frozenset[str]:
        """Return the terms of the raw text."""
        return frozenset(term for term, (raw, _) in self.terms.items() if raw)


class NoteCache:
    """Keeps the notes that were used last, within a number of bytes; 0 keeps none. Threads share it.

    An entry is found by who may read its scope, and by nobody else.
    """

    def __init__(self, most_bytes: int) -> None:
        self._most = most_bytes
        self._notes: OrderedDict[int, CachedNote] = OrderedDict()
        self._bytes = self._found = self._fetched = 0
        self._lock = Lock()

    def read(
        self, tx: Runner, scopes: Sequence[str], stamps: Sequence[int], dimensions: int
    ) -> tuple[dict[int, CachedNote], int]:
        """Return notes by their stamps, and how many were fetched; what was removed meanwhile is left out."""
        with self._lock:
            notes = {stamp: note for stamp in stamps if (note := self._notes.get(stamp)) and note.scope in scopes}
            for stamp in notes:
                self._notes.move_to_end(stamp)
        missing = [stamp for stamp in stamps if stamp not in notes]
        if missing:
            rows = tx.run("notes/fetch", scopes=scopes, versions={"stamps": missing}, dimensions=dimensions)
            fetched = {row["stamp"]: _cached(row) for row in rows}
            notes |= fetched
            self._keep(fetched)
        with self._lock:
            self._found += len(stamps) - len(missing)
            self._fetched += len(missing)
        return notes, len(missing)

    def _keep(self, notes: Mapping[int, CachedNote]) -> None:
        if not self._most:
            return
        with self._lock:
            for stamp, note in notes.items():
                replaced = self._notes.pop(stamp, None)
                self._notes[stamp] = note
                self._bytes += note.size - (replaced.size if replaced else 0)
            while self._bytes > self._most:
                _, oldest = self._notes.popitem(last=False)
                self._bytes -= oldest.size

    def drop(self, scopes: Iterable[str]) -> None:
        """Forget all notes of some scopes."""
        gone = frozenset(scopes)
        with self._lock:
            for stamp in [stamp for stamp, note in self._notes.items() if note.scope in gone]:
                self._bytes -= self._notes.pop(stamp).size

    def clear(self) -> None:
        """Forget all notes."""
        with self._lock:
            self._notes.clear()
            self._bytes = 0

    def stats(self) -> CacheStats:
        """Return what is kept, and how often what was asked for was."""
        with self._lock:
            return CacheStats(len(self._notes), self._bytes, self._most, self._found, self._fetched)


def _cached(row: Row) -> CachedNote:
    note: dict[str, Any] = row["note"]
    raw, context = Counter(note.pop("raw_terms").split()), Counter(note.pop("context_terms").split())
    pairs = ((term, (raw[term], context[term])) for term in raw | context)
    terms = {intern(term): _COUNTS.setdefault(counts, counts) for term, counts in pairs}
    vectors = _unit(row["vectors"]) if row["vectors"] else None
    texts = [note["context"], *note["raw"], *(source["text"] for source in note["sources"])]
    size = _NOTE + _SOURCE * len(note["sources"]) + _TERM * len(terms) + sum(map(getsizeof, texts))
    return CachedNote(
        scope=row["scope"],
        **{name: note[name] for name in _KEPT},
        terms=terms,
        lengths=(raw.total(), context.total()),
        vectors=vectors,
        size=size + (0 if vectors is None else vectors.nbytes),
        _row=note,
    )


def _unit(vectors: Sequence[Any]) -> "NDArray[np.float32]":
    import numpy as np

    given: NDArray[np.float32] = np.array([vector.to_numpy() for vector in vectors], dtype=np.float32)
    unit: NDArray[np.float32] = given / np.linalg.norm(given, axis=1, keepdims=True)
    return unit
