"""Write what reads leave, beside the reads: nobody waits for it, and no write is made stale by it.

That is what readers were shown, and what they were given, by whichever call.
"""

import logging
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from functools import partial
from threading import Lock, Timer
from typing import Any, ClassVar, Generic, TypeVar
from uuid import uuid4

from memgraph_engine.engine.wiring import Engine
from memgraph_engine.errors import Closed, MemgraphEngineError, StoreError
from memgraph_engine.forks import begun
from memgraph_engine.graph import erasures, retrievals, usage
from memgraph_engine.graph.database import SKEW, Row, Runner
from memgraph_engine.language.terms import DEFAULT_LANGUAGE
from memgraph_engine.lifecycle import utility
from memgraph_engine.model.marker import seen
from memgraph_engine.model.memory import NEVER, UNKNOWN_PAST, Note
from memgraph_engine.model.scope import Scope
from memgraph_engine.model.usage import Usage

_MOST = 100  # things that wait together
_SECONDS = 5.0  # that they wait at most

_log = logging.getLogger("memgraph_engine")

T = TypeVar("T")


class WriteBehind(ABC, Generic[T]):
    """Collects what reads leave, for each reader, and writes a hundred at a time, or what came within five seconds.

    What can't be written is lost; the first time is told.
    """

    lost: ClassVar[str]
    """What is told then: `{}` stands for whose it is."""

    def __init__(self, engine: Engine) -> None:
        self._engine, self._told = engine, False
        begun(self, WriteBehind._begin)

    def _begin(self) -> None:
        """Let nothing wait: what did when this process was forked, its parent writes."""
        self._lock, self._writing = Lock(), Lock()
        self._waiting: dict[Scope, list[T]] = {}
        self._timer: Timer | None = None

    @abstractmethod
    def _write(self, reader: Scope, waiting: Sequence[T]) -> None:
        """Write what waits of a reader; raises StoreError or Closed."""

    def _came(self, reader: Scope, some: Sequence[T]) -> None:
        """Let some more wait."""
        with self._lock:
            if some:
                self._waiting.setdefault(reader, []).extend(some)
            number = sum(map(len, self._waiting.values()))
            if number >= _MOST:
                self._await(0.0)
            elif number and not self._timer:
                self._await(_SECONDS)

    def write(self) -> None:
        """Write what waits, now."""
        with self._writing:
            with self._lock:
                waiting, self._waiting = self._waiting, {}
                if self._timer:
                    self._timer.cancel()
                self._timer = None
            for reader, some in waiting.items():
                try:
                    self._write(reader, some)
                except (StoreError, Closed) as error:
                    self.failed(reader, error)

    def failed(self, reader: Scope, error: MemgraphEngineError) -> None:
        """Tell that something could not be written, the first time."""
        if not self._told:
            _log.warning("%s: %s Further failures are not told.", self.lost.format(reader), error)
        self._told = True

    def _await(self, seconds: float) -> None:
        if self._timer:
            self._timer.cancel()
        self._timer = Timer(seconds, self.write)
        self._timer.daemon = True
        self._timer.start()


Shown = tuple[Note, datetime]
"""A note, and when it was shown."""


class Recorder(WriteBehind[Shown]):
    """Counts what readers were shown, where anything asks for it (the setting `use.record`)."""

    lost = "The use of {} is not counted"

    def shown(self, reader: Scope, notes: Iterable[Note]) -> None:
        """Count that a reader was shown some notes."""
        if self._engine.counts_use:
            now = self._engine.now()
            self._came(reader, [(note, now) for note in notes])

    def _write(self, reader: Scope, waiting: Sequence[Shown]) -> None:
        times, last = Counter(note.id for note, _ in waiting), {note.id: at for note, at in waiting}
        policies = self._engine.policies
        # as it was when it was shown first
        fresh = {note.id: utility.fresh(policies.known(note.policy), note) for note, _ in reversed(waiting)}

        def changed(note: str, before: Usage) -> Usage:
            return utility.shown(before, last[note], times[note])

        usage.change(self._engine.db, reader.name, [one.name for one in reader.readable], fresh, changed)


class Log(WriteBehind[Row]):
    """Records the calls that gave notes to readers.

    What was asked before an erasure is not written behind it: not a word of it, and nothing where all of the reader's
    memory was erased.
    """

    lost = "What {} was given is not recorded"

    def given(self, reader: Scope, call: str, question: str, notes: Iterable[Note], asked: Mapping[str, Any]) -> None:
        """Record a call that gave notes, if any; `asked` may hold `agent`, `session` and their `worth` now, by id."""
        kept, worth = self._engine.settings.audit.retrievals, asked.get("worth", {})
        told = [{"id": n.id, "recorded_at": n.recorded_at, "utility": worth.get(n.id)} for n in notes] if kept else []
        if not told:
            return
        names = {name: asked.get(name) or "" for name in ("agent", "session")}
        properties = {"call": call, "at": self._engine.now(), **names}
        words = (
            self._engine.redaction.asked(seen(question)) if kept == "text" else None
        )  # an erasure looks for words in it
        row = {"id": uuid4().hex, "properties": properties, "notes": told, "question": words}
        self._came(reader, [row])

    def _write(self, reader: Scope, waiting: Sequence[Row]) -> None:
        language = self._engine.settings.language or DEFAULT_LANGUAGE
        retrievals.write(self._engine.db, reader, language, partial(_left, reader, waiting))


def _left(reader: Scope, rows: Sequence[Row], tx: Runner) -> list[Row]:
    """Return what is left of rows by the erasures of what the reader reads.

    Clocks of clients differ: a question of up to SKEW behind the end of an erasure may be of before it.
    """
    since = min(row["properties"]["at"] for row in rows) - SKEW
    own, *others = (erasures.lately(tx, scope, since) for scope in reader.readable)
    whole = max((one.begun for one in own if one.everything), default=UNKNOWN_PAST)
    some = max((one.ended or NEVER - SKEW for each in (own, *others) for one in each), default=UNKNOWN_PAST) + SKEW
    left = [row for row in rows if row["properties"]["at"] > whole]
    return [row if row["properties"]["at"] > some else _wordless(row) for row in left]


def _wordless(row: Row) -> Row:
    """Return a row without what may say something: the question, and what the session is called."""
    return {**row, "question": None, "properties": {**row["properties"], "session": ""}}
