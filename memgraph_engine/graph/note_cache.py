"""Notes as a search scores and returns them, kept in memory by their stamps.

A search's statement names notes by their stamps only. A stamp is drawn anew with every version of a note, so what is
kept under one never changes, and an entry can't be stale. What no memory holds any more is named by no statement.
"""

from collections import Counter, OrderedDict
from collections.abc import Iterable, Mapping, Sequence
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

_OVERHEAD = 1500  # bytes of an entry beside its texts, terms and vectors: objects, and its place in the cache
_TERM = 100  # bytes of a term and its count, shared strings counted in part


@dataclass(frozen=True, slots=True, eq=False)
class CachedNote:
    """A version of a note. `raw_terms` and `context_terms` count its terms, of which there are `…_length` in all.

    `vectors` has the shape (2, dimensions), of length 1: raw and context; None for a note that waits for them.
    Times are in milliseconds since 1970.
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
    raw_terms: Mapping[str, int]
    raw_length: int
    context_terms: Mapping[str, int]
    context_length: int
    vectors: "NDArray[np.float32] | None"
    row: Row
    size: int

    def note(self, superseded_at: int | None = None) -> Note:
        """Return the note; what is found as a former version has a time at which it ended, others end never."""
        note = note_from(self.row)
        return note if superseded_at is None else replace(note, superseded_at=moment(superseded_at))


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
            rows = tx.run("notes/fetch", scopes=scopes, stamps=missing, dimensions=dimensions)
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
    raw_terms, context_terms = _counted(note.pop("raw_terms")), _counted(note.pop("context_terms"))
    vectors = _unit(row["vectors"]) if row["vectors"] else None
    texts = [note["context"], *note["raw"], *(source["text"] for source in note["sources"])]
    return CachedNote(
        scope=row["scope"],
        id=note["id"],
        status=note["status"],
        session=note["session"],
        seq=note["seq"],
        said_at=note["said_at"],
        valid_from=note["valid_from"],
        raw=note["raw"],
        context=note["context"],
        tags=note["tags"],
        raw_terms=raw_terms,
        raw_length=raw_terms.total(),
        context_terms=context_terms,
        context_length=context_terms.total(),
        vectors=vectors,
        row=note,
        size=_OVERHEAD * (1 + len(note["sources"]))
        + _TERM * (len(raw_terms) + len(context_terms))
        + sum(map(getsizeof, texts))
        + (0 if vectors is None else vectors.nbytes),
    )


def _counted(terms: str) -> Counter[str]:
    return Counter(map(intern, terms.split()))


def _unit(vectors: Sequence[Any]) -> "NDArray[np.float32]":
    import numpy as np

    given: NDArray[np.float32] = np.array([vector.to_numpy() for vector in vectors], dtype=np.float32)
    unit: NDArray[np.float32] = given / np.linalg.norm(given, axis=1, keepdims=True)
    return unit
