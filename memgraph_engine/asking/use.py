"""Count what readers were shown, beside the reads: nobody waits for it, and no write is made stale by it."""

import logging
from collections.abc import Iterable
from datetime import datetime
from threading import Lock, Timer

from memgraph_engine.engine.wiring import Engine
from memgraph_engine.errors import Closed, MemgraphEngineError, StoreError
from memgraph_engine.graph import usage
from memgraph_engine.lifecycle import utility
from memgraph_engine.model.memory import Note
from memgraph_engine.model.scope import Scope
from memgraph_engine.model.usage import Usage

_MOST = 100  # shown notes that wait together
_SECONDS = 5.0  # that they wait at most

_log = logging.getLogger("memgraph_engine")


class Recorder:
    """Collects what readers were shown, and writes a hundred at a time, or what came within five seconds.

    A count that can't be written is lost; the first is told.
    """

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._lock, self._writing = Lock(), Lock()
        self._waiting: dict[Scope, dict[str, tuple[Usage, int, datetime]]] = {}
        self._number = 0
        self._timer: Timer | None = None
        self._told = False

    def shown(self, reader: Scope, notes: Iterable[Note]) -> None:
        """Count that a reader was shown some notes, where anything asks for it (the setting `use.record`)."""
        if not self._engine.counts_use:
            return
        at, policies = self._engine.now(), self._engine.policies
        with self._lock:
            own = self._waiting.setdefault(reader, {})
            for note in notes:
                start, times, _ = own.get(note.id) or (utility.fresh(policies.known(note.policy), note), 0, at)
                own[note.id] = start, times + 1, at
                self._number += 1
            if self._number >= _MOST:
                self._await(0.0)
            elif self._number and not self._timer:
                self._await(_SECONDS)

    def write(self) -> None:
        """Write what waits, now."""
        with self._writing:
            with self._lock:
                waiting, self._waiting, self._number = self._waiting, {}, 0
                if self._timer:
                    self._timer.cancel()
                self._timer = None
            for reader, shown in waiting.items():
                self._write(reader, shown)

    def _write(self, reader: Scope, shown: dict[str, tuple[Usage, int, datetime]]) -> None:
        def changed(note: str, before: Usage) -> Usage:
            _, times, at = shown[note]
            return utility.shown(before, at, times)

        fresh = {note: start for note, (start, *_) in shown.items()}
        try:
            usage.change(self._engine.db, reader.name, [one.name for one in reader.readable], fresh, changed)
        except (StoreError, Closed) as error:
            self.failed(reader, error)

    def failed(self, reader: Scope, error: MemgraphEngineError) -> None:
        """Tell that something could not be counted, the first time."""
        if not self._told:
            _log.warning("The use of %s is not counted: %s Further failures are not told.", reader, error)
        self._told = True

    def _await(self, seconds: float) -> None:
        if self._timer:
            self._timer.cancel()
        self._timer = Timer(seconds, self.write)
        self._timer.daemon = True
        self._timer.start()
