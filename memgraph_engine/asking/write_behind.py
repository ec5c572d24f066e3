"""Write what reads leave, beside the reads: nobody waits for it, and no write is made stale by it."""

import logging
from abc import ABC, abstractmethod
from collections.abc import Sequence
from threading import Lock, Timer
from typing import ClassVar, Generic, TypeVar

from memgraph_engine.errors import Closed, MemgraphEngineError, StoreError
from memgraph_engine.forks import begun
from memgraph_engine.model.scope import Scope

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

    def __init__(self) -> None:
        self._told = False
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
