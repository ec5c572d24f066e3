"""Passes over a memory: one of a kind at a time, told phase by phase, made again where something was faster."""

import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, suppress
from dataclasses import dataclass, field
from functools import partial
from typing import TypeVar

from memgraph_engine.errors import NotFound, WriteConflict
from memgraph_engine.graph import leases
from memgraph_engine.graph.database import Database
from memgraph_engine.graph.leases import Overtaken

WAIT = "wait"
Progress = Callable[[str], None]
"""Told the name of each phase as it begins, WAIT while another run is at it; what it raises ends the run."""

_ATTEMPTS = 3  # the last writes whatever notes came between: what they change waits for the next run
_PATIENCE = 900.0  # seconds to wait for another run

T = TypeVar("T")


@dataclass
class Pass:
    """One run over a scope that makes its topics, blocks or claims; it tells of its phases, and takes their time."""

    db: Database
    scope: str
    kind: str
    tell: Progress
    seconds: dict[str, float] = field(default_factory=dict, init=False)

    def alone(self) -> AbstractContextManager[None]:
        """Hold the lease of the kind; raises WriteConflict where another run holds it for long."""
        name, waiting = f"{self.kind} {self.scope}", partial(self.tell, WAIT)
        return leases.held(self.db, name, patience=_PATIENCE, waiting=waiting)

    @contextmanager
    def phase(self, name: str) -> Iterator[None]:
        """Tell of a phase, and take its time."""
        self.tell(name)
        begun = time.perf_counter()
        yield
        self.seconds[name] = self.seconds.get(name, 0.0) + time.perf_counter() - begun

    def until_written(self, before: str | None, once: Callable[[str, bool], T]) -> T:
        """Return what is done `once` that nothing overtakes, given the last run `before`, and whether it is late.

        Two runs at once do the work once: the second waits, and returns the first's result if nothing was written
        meanwhile; the last phase that it tells is then none of writing. Raises NotFound for a scope that nothing was
        written to, or WriteConflict when others keep winning.
        """
        if before is None:
            raise NotFound(f"Nothing was ever written to {self.scope!r}, so it has no {self.kind}.")
        with self.alone():
            for attempt in range(_ATTEMPTS):
                with suppress(Overtaken):
                    return once(before, attempt == _ATTEMPTS - 1)
        raise WriteConflict(
            f"Other runs changed the {self.kind} of {self.scope!r} {_ATTEMPTS} times during this one. Try again."
        )
