"""How many reads a client serves at once: above a number it leaves out what can wait, above twice it refuses."""

from collections.abc import Iterator
from contextlib import contextmanager
from threading import Lock

from memgraph_engine.errors import Overloaded
from memgraph_engine.forks import begun


class Load:
    """Counts the reads that run. Up to `most` are served in full, 0 is any number. Safe to share between threads.

    >>> load = Load(1)
    >>> with load.read() as first, load.read() as second:
    ...     first, second
    (False, True)
    """

    def __init__(self, most: int = 0) -> None:
        self._most = most
        begun(self, Load._begin)

    def _begin(self) -> None:
        self._running, self._lock = 0, Lock()

    @contextmanager
    def read(self) -> Iterator[bool]:
        """Take a place for a read while it runs; yields whether more than `most` run. Raises Overloaded above twice."""
        if not self._most:
            yield False
            return
        with self._lock:
            if self._running >= 2 * self._most:
                raise Overloaded(
                    f"This client runs {self._running} reads, twice as many as it serves in full "
                    f"(recall.busy = {self._most}), and refused one more. Ask again when some of them have ended."
                )
            self._running += 1
            busy = self._running > self._most
        try:
            yield busy
        finally:
            with self._lock:
                self._running -= 1
