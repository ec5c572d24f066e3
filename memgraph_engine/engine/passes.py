"""Passes over a memory: work that nobody waits for. What all kinds have in common is here, once.

A pass is told phase by phase, on the account of its scope. One that makes topics, blocks or claims is alone at it, and
is made again where something was faster.
"""

import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, suppress
from datetime import datetime, timedelta
from functools import partial
from typing import ClassVar, Generic, Protocol, TypeVar

from memgraph_engine.engine.account import on_account
from memgraph_engine.engine.wiring import Engine
from memgraph_engine.errors import NotFound, WriteConflict
from memgraph_engine.graph import leases
from memgraph_engine.graph.leases import Overtaken
from memgraph_engine.graph.waiting import Waiting
from memgraph_engine.model.scope import Scope

WAIT = "wait"
Progress = Callable[[str], None]
"""Told the name of each phase as it begins, WAIT while another run is at it; what it raises ends the run."""

DAY = timedelta(days=1)
_ATTEMPTS = 3  # the last writes whatever notes came between: what they change waits for the next run
_PATIENCE = 900.0  # seconds to wait for another run

R = TypeVar("R")


class State(Protocol):
    """What a run must find unchanged."""

    @property
    def run(self) -> str:
        """The last run, '' for none."""


class Pass(ABC, Generic[R]):
    """One run of a kind of work over a scope. A kind has its own part only: its `work`, and when a worker does it."""

    name: ClassVar[str]
    when: ClassVar[str] = ""
    """When it is due, for people."""
    limit: ClassVar[tuple[str, str, str] | None] = None
    """Or after how many it is due: the setting, by its table and name, and of what."""
    sign: ClassVar[str] = ""
    """The field of what waits in a memory by which it is due."""
    why: ClassVar[str] = ""
    """What that field tells."""
    most: ClassVar[int] = 1
    """Times that a worker does it in a row before other memories have their turn."""
    lease: ClassVar[str] = "work"
    """Of the kinds with one lease a memory has one at a time."""
    writing: ClassVar[tuple[str, ...]] = ()
    """Its last phases, in which it is not left: they write."""
    tells: ClassVar[str] = ""
    """What a worker tells of its result: names of counts or lists, with another name before an = if need be."""

    def __init__(self, engine: Engine, scope: Scope, tell: Progress | None = None) -> None:
        self.engine, self.db, self.scope = engine, engine.db, scope
        self.tell: Progress = tell or (lambda _phase: None)
        self.now = engine.now()
        self.at = ""
        self.seconds: dict[str, float] = {}

    @classmethod
    def plan(cls, engine: Engine) -> str:
        """Say for people when it is due, by the settings."""
        if not cls.limit:
            return cls.when
        table, name, what = cls.limit
        number: int = getattr(getattr(engine.settings, table), name)
        return f"after {number:,} {what}" if number else "never"

    @classmethod
    def due(cls, _engine: Engine, waiting: Waiting, _now: datetime) -> str:
        """Say why it is due in a memory, '' if it is not."""
        return cls.why if getattr(waiting, cls.sign) else ""

    @abstractmethod
    def work(self) -> R:
        """Do it."""

    def counts(self, made: R) -> Mapping[str, int] | None:
        """Return what a worker tells of it, by name; None where there was nothing to do, or another run did it."""
        names = [one.rpartition("=")[::2] for one in self.tells.split()]
        found = {name or field: getattr(made, field) for name, field in names}
        counts = {name: some if isinstance(some, int) else len(some) for name, some in found.items()}
        done = self.at in self.writing if self.writing else any(counts.values())
        return counts if done else None

    def run(self) -> R:
        """Do it, and write down what chat models cost, however it ends."""
        with on_account(self.engine, self.scope) as self.spent:
            return self.work()

    def alone(self) -> AbstractContextManager[None]:
        """Hold the lease of the kind; raises WriteConflict where another run holds it for long."""
        name, waiting = f"{self.name} {self.scope.name}", partial(self.tell, WAIT)
        return leases.held(self.db, name, patience=_PATIENCE, waiting=waiting)

    @contextmanager
    def phase(self, name: str) -> Iterator[None]:
        """Tell of a phase, and take its time."""
        self.tell(name)
        self.at, begun = name, time.perf_counter()
        yield
        self.seconds[name] = self.seconds.get(name, 0.0) + time.perf_counter() - begun


class Rebuild(Pass[R]):
    """A pass that finds anew what was found before, and makes that the present in one transaction.

    Two runs at once do the work once: the second waits, and returns the first's result if nothing was written
    meanwhile; the last phase that it tells is then none of writing.
    """

    @abstractmethod
    def state(self) -> State | None:
        """Return what a run begins with; None for a scope that nothing was ever written to."""

    @abstractmethod
    def once(self, before: str, *, late: bool) -> R:
        """Do the work, unless a run has done it since the one `before`; `late`, whatever is written meanwhile.

        Raises Overtaken, with nothing made the present.
        """

    def work(self) -> R:
        """Do it once that nothing overtakes; raises NotFound, or WriteConflict when others keep winning."""
        scope, state = self.scope.name, self.state()
        if state is None:
            raise NotFound(f"Nothing was ever written to {scope!r}, so it has no {self.name}.")
        with self.alone():
            for attempt in range(_ATTEMPTS):
                with suppress(Overtaken):
                    return self.once(state.run, late=attempt == _ATTEMPTS - 1)
        raise WriteConflict(
            f"Other runs changed the {self.name} of {scope!r} {_ATTEMPTS} times during this one. Try again."
        )
