"""The worker: looks for what is due, takes a lease of the memory it is due in, does it, and tells."""

import logging
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from math import inf
from queue import Empty, SimpleQueue
from typing import Literal

from memgraph_engine.cost import NOTHING, Cost
from memgraph_engine.engine.wiring import Engine
from memgraph_engine.errors import MemgraphEngineError, StoreError
from memgraph_engine.graph import leases
from memgraph_engine.graph.waiting import Waiting, waiting, waits
from memgraph_engine.model.job import Job
from memgraph_engine.model.result import Receipt
from memgraph_engine.model.scope import Scope
from memgraph_engine.model.topic import TopicRun
from memgraph_engine.remember import Writer
from memgraph_engine.topics.job import partitioner_of, rebuild_topics
from memgraph_engine.worker.schedule import Schedule

_BATCHES = 10  # of one memory's pending notes; then the other memories have their turn
_FIRST_REST = 30.0  # seconds before what failed is tried again, doubled each time
_LONGEST_REST = 3600.0

_log = logging.getLogger("memgraph_engine")

Kind = Literal["construct", "topics"]


class _Stopped(Exception):
    """The worker was asked to stop, and leaves a job that has written nothing."""


@dataclass(frozen=True, slots=True)
class _Made:
    counts: Mapping[str, int]
    fallbacks: tuple[str, ...] = ()
    cost: Cost = NOTHING


class Worker:
    """Does what is due for a tenant, or for all of them. Any number of workers share the work by leases in the graph.

    `tell` hears of every job. Raises MissingExtra where topics are due some time and their engine is not installed.

    >>> from memgraph_engine import Memory
    >>> with Memory.connect(tenant=tenant) as memory:
    ...     _ = memory.add("The tide turns at noon.", user_id="ana", wait=False)
    ...     Worker(memory.engine, tell=lambda job: print(job.kind, job.outcome, job.counts)).once()
    construct done {'append': 1}
    True
    """

    def __init__(
        self, engine: Engine, *, every_tenant: bool = False, tell: Callable[[Job], None] = lambda _job: None
    ) -> None:
        self._engine, self._tell = engine, tell
        self._tenant = None if every_tenant else engine.settings.tenant
        self._writer = Writer(engine)
        self.schedule = Schedule.of(engine.settings)
        if self.schedule:
            partitioner_of(engine)
        self._rests: dict[tuple[str, Kind], tuple[float, float]] = {}  # how long, and until when
        self._bell: SimpleQueue[None] = SimpleQueue()
        self.stopping = False

    def stop(self) -> None:
        """Ask the worker to end soon: it finishes a batch, or leaves a topics job that has written nothing.

        Can be called by a signal handler or another thread.
        """
        self.stopping = True
        self._bell.put(None)

    def once(self) -> bool:
        """Do what is due until nothing is; return whether all of it was done. Raises StoreError."""
        while not self.stopping and self._look(again=False):
            pass
        return not self._rests

    def run(self) -> None:
        """Do what is due, and look again, until it is asked to stop. What fails is told, and tried again later."""
        while not self.stopping:
            try:
                worked = self._look(again=True)
            except StoreError as error:
                worked = False
                self._tell(Job("look", "", self._engine.now(), "failed", error=str(error)))
            if not worked and not self.stopping:
                with suppress(Empty):
                    self._bell.get(timeout=self._engine.settings.worker.every)

    def _look(self, *, again: bool) -> bool:
        """Do what is due in each memory; return whether anything was done."""
        done = False
        for one in waiting(self._engine.db, self._tenant):
            if self.stopping:
                break
            if self._due(one):
                done |= self._work(one.scope, again=again)
        return done

    def _due(self, one: Waiting) -> dict[Kind, str]:
        """Return the jobs that are due in a memory, and why; those that failed have a rest."""
        found: dict[Kind, str] = {"construct": "pending notes"} if one.pending else {}
        if why := self.schedule.due(one, self._engine.now()):
            found["topics"] = why
        now = time.monotonic()
        return {kind: why for kind, why in found.items() if self._rests.get((one.scope.name, kind), (0, 0))[1] <= now}

    def _work(self, scope: Scope, *, again: bool) -> bool:
        """Do what is due in one memory, unless another worker is there or has been."""
        done = False
        with leases.held_if_free(self._engine.db, f"work {scope.name}") as mine:
            now = waits(self._engine.db, scope) if mine else None
            for kind, why in (self._due(now) if now else {}).items():
                for _ in range(_BATCHES if kind == "construct" else 1):
                    if self.stopping or not self._do(kind, scope, why, again=again):
                        break
                    done = True
        return done

    def _do(self, kind: Kind, scope: Scope, why: str, *, again: bool) -> bool:
        """Do one job and tell of it; return whether it did anything."""
        begun = time.perf_counter()

        def tell(outcome: Literal["done", "stopped", "failed"], made: _Made | None = None, error: str = "") -> None:
            one = made or _Made({})
            seconds = time.perf_counter() - begun
            at = self._engine.now()
            self._tell(
                Job(kind, scope.name, at, outcome, seconds, why, one.counts, error, one.fallbacks, one.cost),
            )

        try:
            made = self._construct(scope) if kind == "construct" else self._group(scope)
        except _Stopped:
            tell("stopped")
            return False
        except Exception as error:  # noqa: BLE001  what is wrong with one memory must not keep the others waiting
            if not isinstance(error, MemgraphEngineError):
                _log.exception("The job %s of %s failed", kind, scope.name)
            self._rest(scope, kind, again=again)
            tell("failed", error=str(error) or type(error).__name__)
            return False
        self._rests.pop((scope.name, kind), None)
        if made:
            tell("done", made)
        return made is not None

    def _rest(self, scope: Scope, kind: Kind, *, again: bool) -> None:
        """Leave what failed alone for a while, and longer each time."""
        last, _ = self._rests.get((scope.name, kind), (0.0, 0.0))
        rest = min(max(_FIRST_REST, 2 * last), _LONGEST_REST) if again else inf
        self._rests[scope.name, kind] = rest, time.monotonic() + rest

    def _construct(self, scope: Scope) -> _Made | None:
        """Construct a batch of pending notes; None if there are none."""
        receipt = self._writer.process(scope, self._engine.settings.ingest_batch)
        return _Made(_kinds(receipt), receipt.fallbacks, receipt.cost) if receipt.entries else None

    def _group(self, scope: Scope) -> _Made:
        """Find topics; until they are written, the job can be left."""

        def reached(phase: str) -> None:
            if self.stopping and phase != "write":
                raise _Stopped

        run = rebuild_topics(self._engine, scope, progress=reached)
        return _Made(_figures(run), run.fallbacks, run.cost)


def _kinds(receipt: Receipt) -> dict[str, int]:
    kinds = [entry.kind for entry in receipt.entries]
    return {kind: kinds.count(kind) for kind in sorted(set(kinds))}


def _figures(run: TopicRun) -> dict[str, int]:
    return {
        "topics": run.topics,
        "keywords": run.keywords,
        "created": len(run.created),
        "ended": len(run.ended),
        "moved": run.moved,
        "joined": run.joined,
        "labelled": run.labelled,
    }
