"""Notes as a search scores and returns them, kept in memory by their stamps.

A search's statement names notes by their stamps only. A stamp is drawn anew with every version of a note, so what is
kept under one never changes, and an entry can't be stale. What no memory holds any more is named by no statement.

What scores need of a note is fetched with the pool; the rest of it only for the few notes that are returned.
"""

from collections import OrderedDict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass, replace
from itertools import chain
from sys import getsizeof, intern
from threading import Lock
from typing import Any

from memgraph_engine.arrays import NDArray, np
from memgraph_engine.forks import begun
from memgraph_engine.graph.database import Runner
from memgraph_engine.graph.rows import moment, note_from
from memgraph_engine.language.questions import counts, only_asks
from memgraph_engine.model.memory import Note
from memgraph_engine.model.result import CacheStats
from memgraph_engine.model.text import asks, personal, said

_FEATURES, _NOTE, _SOURCE = 950, 900, 1400  # bytes of an entry, of a note and of a source, beside texts and vectors


@dataclass(frozen=True, slots=True)
class Replacement:
    """A note that took the place of another: id, status, when it was said and created, and ends (ms since 1970).

    `former` are the words of the other one that it took the place of; '' for all of them.
    """

    note: str
    status: str
    said: int
    created: int
    former: str
    ends: int


@dataclass(slots=True, eq=False)
class CachedNote:
    """A version of a note.

    `terms` are those of the raw text and, behind them, those of the context, each as its `term_number`; `lengths` tells
    how many each text has.
    It `asks` where all that it holds ends with a question, `only_asks` where it says nothing besides, `counts` where
    some of it has a number, and is `personal` where somebody but an assistant speaks of himself in it.
    `several` sources may tell it. `vectors` has the shape (2, dimensions), of
    length 1: raw and context; None for a note that waits for them. Times are in milliseconds since 1970. `size` is
    about how many bytes it takes.
    `replaced` says what took its place, the first one first. This alone may change: it is of a version of the scope.
    """

    stamp: int
    scope: str
    id: str
    status: str
    session: str
    seq: int
    role: str
    speaker: str
    asks: bool
    only_asks: bool
    counts: bool
    personal: bool
    said_at: int
    valid_from: int
    tags: tuple[str, ...]
    several: bool
    terms: "NDArray[np.int64]"
    lengths: tuple[int, int]
    vectors: "NDArray[np.float32] | None"
    size: int
    replaced: tuple[Replacement, ...] = ()
    _note: Note | None = None
    _asked: tuple[int, bool] = (-1, False)

    @property
    def whole(self) -> bool:
        """Whether all of it was read."""
        return self._note is not None

    @property
    def trust(self) -> str:
        """How far it is trusted, '' where not all of it was read."""
        return self._note.trust if self._note else ""

    def current(self, version: int | None) -> bool:
        """Whether what is known of its replacement is that of a version of the scope; None asks for none.

        A commit shows itself piece by piece, the version first, so the first answer at a version is asked for again.
        """
        return version is None or self._asked == (version, True)

    def follow(self, replaced: Iterable[Replacement], version: int) -> None:
        """Take what took its place, as of a version of the scope."""
        self.replaced, self._asked = tuple(replaced), (version, self._asked[0] == version)

    def note(self, superseded_at: int | None = None) -> Note:
        """Return the note, for the caller to keep, once all of it was read.

        What is found as a former version has a time at which it ended.
        """
        assert self._note is not None
        note = self._note
        if any(source.metadata for source in note.sources):  # what else it has can't be changed by whoever gets it
            note = replace(note, sources=tuple(replace(one, metadata=deepcopy(one.metadata)) for one in note.sources))
        return note if superseded_at is None else replace(note, superseded_at=moment(superseded_at))

    def completed(self, note: Note) -> int:
        """Take the rest of the note; return by how many bytes it grew."""
        texts = [note.context, *note.raw, *(source.text for source in note.sources)]
        more = 0 if self._note else _NOTE + _SOURCE * len(note.sources) + sum(map(getsizeof, texts))
        self._note, self.size = note, self.size + more
        return more


class NoteCache:
    """Keeps the notes that were used last, within a number of bytes; 0 keeps none. Threads share it.

    An entry is found by who may read its scope, and by nobody else.
    """

    def __init__(self, most_bytes: int) -> None:
        self._most = most_bytes
        begun(self, NoteCache._begin)

    def _begin(self) -> None:
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
            rows = tx.run("notes/features", scopes=scopes, stamps=missing, dimensions=dimensions)
            fetched = {note.stamp: note for note in _cached(rows[0]["notes"], dimensions)}
            notes |= fetched
            self._keep(fetched)
        with self._lock:
            self._found += len(stamps) - len(missing)
            self._fetched += len(missing)
        return notes, len(missing)

    def complete(
        self, tx: Runner, scopes: Sequence[str], notes: Sequence[CachedNote], versions: Mapping[str, int] | None = None
    ) -> None:
        """Read the rest of notes that are returned; one that was removed meanwhile stays as it is.

        With the `versions` of their scopes also what took their place, unless it is known as of these.
        """
        known = versions or {}
        missing = {note.stamp: note for note in notes if not (note.whole and note.current(known.get(note.scope)))}
        if not missing:
            return
        unread = [stamp for stamp, note in missing.items() if not note.whole]
        for row in tx.run("notes/fetch", scopes=scopes, stamps=list(missing), unread=unread):
            note = missing[row["stamp"]]
            with self._lock:
                note.follow((Replacement(**one) for one in row["replaced"]), known.get(note.scope, -1))
                if row["note"]:
                    more = note.completed(note_from(row["note"]))
                    self._bytes += more if self._notes.get(note.stamp) is note else 0
        self._evict()

    def _keep(self, notes: Mapping[int, CachedNote]) -> None:
        if not self._most:
            return
        with self._lock:
            for stamp, note in notes.items():
                replaced = self._notes.pop(stamp, None)
                self._notes[stamp] = note
                self._bytes += note.size - (replaced.size if replaced else 0)
        self._evict()

    def _evict(self) -> None:
        with self._lock:
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


def _cached(rows: Sequence[Sequence[Any]], dimensions: int) -> Iterator[CachedNote]:
    """Yield the notes of rows; all vectors are made in one go."""
    raw = b"".join(vector.raw() for row in rows for vector in row[-2:] if vector is not None)
    given = np.frombuffer(raw, dtype=">f4").astype(np.float32).reshape(-1, 2, dimensions)  # as Bolt has them
    unit = iter(given / np.linalg.norm(given, axis=2, keepdims=True))
    for row in rows:
        stamp, scope, id, status, session, seq, role, speaker, lines, *rest = row
        said_at, valid_from, tags, several, raw, context, vector, _ = rest
        vectors = None if vector is None else next(unit).copy()  # a part of the whole would keep all of it in memory
        texts = raw.split(), context.split()
        terms = np.fromiter(map(term_number, chain.from_iterable(texts)), dtype=np.int64)
        yield CachedNote(
            stamp,
            intern(scope),
            id,
            intern(status),
            intern(session),
            seq,
            intern(role or ""),
            intern(speaker or ""),
            all(map(asks, lines)),
            all(only_asks(said(line), "standard") for line in lines),
            any(counts(said(line)) for line in lines),
            personal(role, *lines),
            said_at,
            valid_from,
            tuple(tags),
            several,
            terms,
            (len(texts[0]), len(texts[1])),
            vectors,
            size=_FEATURES + terms.nbytes + (0 if vectors is None else vectors.nbytes),
        )


term_number = hash
"""A term as 64 bits, so that arrays can hold terms: another one in every process, and in practice never that of two."""
