"""The worker: looks for what is due, takes a lease of the memory it is due in, does it, and tells."""

import logging
import os
import time
from collections.abc import Callable
from contextlib import suppress
from math import inf
from queue import Empty, SimpleQueue
from typing import Any, Literal

from memgraph_engine import telemetry
from memgraph_engine.blocks.rebuild import Blocks
from memgraph_engine.claims.consolidation import Claims
from memgraph_engine.cost import NOTHING
from memgraph_engine.engine.passes import DAY, Pass
from memgraph_engine.engine.wiring import Engine, followed, of_tenant
from memgraph_engine.errors import MemgraphEngineError, StoreError
from memgraph_engine.graph import leases, scopes
from memgraph_engine.graph.database import Moved
from memgraph_engine.graph.servers import servers_of
from memgraph_engine.graph.waiting import Limits, Waiting, waiting, waits
from memgraph_engine.model.health import JobRun
from memgraph_engine.model.scope import Scope
from memgraph_engine.topics.rebuild import Schedule, Topics
from memgraph_engine.worker.embedder import Change, under_way
from memgraph_engine.writing.adding import Construction
from memgraph_engine.writing.erasure import Resumption
from memgraph_engine.writing.eviction import Eviction
from memgraph_engine.writing.evolution import Evolution, turns
from memgraph_engine.writing.sweep import Pruning, Sweep, prunes

_FIRST_REST = 30.0  # seconds before what failed is tried again, doubled each time
_LONGEST_REST = 3600.0
_PRIORITY = 10  # of a standing worker, as `nice` counts: 0 is what others have, 19 the lowest
_PAUSE = 20.0  # times as long as the piece of work before it
_LONGEST_PAUSE = 1.0  # seconds

# Evolution is last: by what is constructed and stays, and by the topics of now
JOBS: tuple[type[Pass[Any]], ...] = (
    Resumption,
    Sweep,
    Construction,
    Eviction,
    Pruning,
    Topics,
    Blocks,
    Claims,
    Evolution,
)
"""A worker's jobs, in the order in which they are done."""

_log = logging.getLogger("memgraph_engine")


def give_way() -> None:
    """Let this process wait for others of the machine: whoever answers users goes first, where the system can tell."""
    if hasattr(os, "setpriority"):  # not on Windows
        lower = max(os.getpriority(os.PRIO_PROCESS, 0), _PRIORITY)
        os.setpriority(os.PRIO_PROCESS, 0, lower)


def pausing(stopping: Callable[[], bool]) -> Callable[[], bool]:
    """Return what a standing worker's job asks between two pieces of work: whether to stop, and not without a pause.

    A low priority is this machine's to give: in the database a job's statements stand beside those that users wait for.
    """
    begun = time.monotonic()

    def pause() -> bool:
        nonlocal begun
        if not stopping():
            time.sleep(min(_PAUSE * (time.monotonic() - begun), _LONGEST_PAUSE))
        begun = time.monotonic()
        return stopping()

    return pause


class Stopped(Exception):
    """The worker was asked to stop, and leaves a job that has written nothing."""


class Worker:
    """Does what is due for a tenant, or for all of them. Any number of workers share the work by leases in the graph.

    `tell` hears of every job. Of several workers, each may begin with another `share` of the memories, from 0 to 1.
    Where no engine for topics is installed, it says so once and does all else.

    >>> from memgraph_engine import Memory
    >>> with Memory.connect(tenant=tenant) as memory:
    ...     _ = memory.add("The tide turns at noon.", user_id="ana", wait=False)
    ...     Worker(memory.engine, tell=lambda run: print(run.kind, run.outcome, run.counts)).once()
    construct done {'append': 1}
    True
    """

    def __init__(
        self,
        engine: Engine,
        *,
        every_tenant: bool = False,
        tell: Callable[[JobRun], None] = lambda _run: None,
        share: float = 0.0,
    ) -> None:
        self._engine, self._tell, self._share = engine, tell, share
        self._tenant = None if every_tenant else engine.settings.tenant
        self._engines = {engine.settings.tenant: engine}
        self.jobs = JOBS
        self.plans = {job.name: job.plan(engine) for job in JOBS}
        """When each job is due, for people."""
        self._rests: dict[tuple[str, str], tuple[float, float]] = {}  # how long, and until when
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
        while not self.stopping and self.look(again=False):
            pass
        return self.fine

    @property
    def fine(self) -> bool:
        """Whether all that was due was done; what failed rests."""
        return not self._rests

    def waits(self) -> str:
        """Say for what the topics wait that are nearest to being due, and how near that is; '' where none wait."""
        schedule, now = Schedule.of(self._engine.settings), self._engine.now()
        if str(schedule) != self.plans["topics"]:  # their engine is not installed
            return ""
        some = waiting(self._engine.db, self._tenant, limits=_after(self._engine))
        told = [(one, why) for one in some if (why := schedule.waits(one, now))]
        if not told:
            return ""
        nearest, why = max(told, key=lambda pair: pair[0].notes_since)
        more = len(told) - 1
        others = f", and {more:,} more {'memory waits' if more == 1 else 'memories wait'} longer" if more else ""
        return f"topics of {nearest.scope.name} {why}{others}"

    def run(self) -> None:
        """Do what is due, and look again, until it is asked to stop. What fails is told, and tried again later."""
        while not self.stopping:
            try:
                worked = self.look(again=True)
            except StoreError as error:
                worked = False
                self._tell(JobRun("look", "", self._engine.now(), "failed", error=str(error)))
            if not worked and not self.stopping:
                with suppress(Empty):
                    self._bell.get(timeout=self._engine.settings.worker.every)

    def look(self, *, again: bool) -> bool:
        """Do what is due in each memory; return whether anything was done. Of several servers, tenant by tenant."""
        servers, done = servers_of(self._engine.db), False
        if self._tenant is not None or not servers:
            self._engine = followed(self._engine)
            return self._look_at(self._tenant, again=again)
        for name in (row["name"] for row in servers.catalogue.run("servers/tenants", tenant=None)):
            try:
                known = self._engines.get(name)
                self._engine = self._engines[name] = followed(known) if known else of_tenant(self._engine, name)
                done |= self._look_at(name, again=again)
            except StoreError as error:  # its server is down: the tenants of others need not wait
                self._tell(JobRun("look", f"{name}/", self._engine.now(), "failed", error=str(error)))
        return done

    def _look_at(self, tenant: str | None, *, again: bool) -> bool:
        done = self._embed(again=again)
        for name in scopes.imports_cut_off(self._engine.db, tenant):
            scopes.clear(self._engine.db, name)
        found = backlog(self._engine, tenant)
        first = int(self._share * len(found))
        for one in found[first:] + found[:first]:
            for lease in dict.fromkeys(job.lease for job, _ in self._due(one)):
                if self.stopping:
                    return done
                done |= self._work(one.scope, lease, again=again)
        return done

    def _embed(self, *, again: bool) -> bool:
        """Do a part of what a change of the database's embedder needs; return whether it did anything."""
        key = "", "embed"
        if self._rests.get(key, (0, 0))[1] > time.monotonic() or not under_way(self._engine):
            return False
        begun, stopping = time.perf_counter(), self._asked(again=again)

        def reached() -> None:
            if stopping():
                raise Stopped

        def tell(outcome: Literal["done", "stopped", "failed"], **told: Any) -> None:
            span.tell(outcome=outcome)
            self._tell(JobRun("embed", "", self._engine.now(), outcome, time.perf_counter() - begun, **told))

        with telemetry.job(self._engine.telemetry, "embed") as span:
            try:
                counts = span.run(Change.work, self._engine, reached)
            except (Stopped, Moved):
                tell("stopped")
                return False
            except MemgraphEngineError as error:
                self._rest(key, again=again)
                span.failed(error)
                tell("failed", error=str(error))
                return False
            self._rests.pop(key, None)
            if counts:
                tell("done", counts=counts)
            return bool(counts)

    def _asked(self, *, again: bool) -> Callable[[], bool]:
        """Return what a job asks between two pieces of work: whether to stop."""
        return pausing(lambda: self.stopping) if again else lambda: self.stopping

    def _due(self, one: Waiting) -> list[tuple[type[Pass[Any]], str]]:
        """Return the jobs that are due in a memory, and why; those that failed have a rest."""
        now, clock = self._engine.now(), time.monotonic()
        due = [(job, why) for job in self.jobs if (why := job.due(self._engine, one, now))]
        return [(job, why) for job, why in due if self._rests.get((one.scope.name, job.name), (0, 0))[1] <= clock]

    def _work(self, scope: Scope, lease: str, *, again: bool) -> bool:
        """Do what is due in one memory under a lease, unless another worker has it or was faster."""
        done = False
        with leases.held_if_free(self._engine.db, f"{lease} {scope.name}") as mine:
            now = waits(self._engine.db, scope, _after(self._engine)) if mine else None
            for job, why in self._due(now) if now else ():
                for _ in range(job.most if job.lease == lease else 0):
                    if self.stopping or not self._do(job, scope, why, again=again):
                        break
                    done = True
        return done

    def _do(self, job: type[Pass[Any]], scope: Scope, why: str, *, again: bool) -> bool:
        """Do one job and tell of it; return whether it did anything."""
        begun = time.perf_counter()
        stopping = self._asked(again=again)

        def tell(outcome: Literal["done", "stopped", "failed"], error: str = "", **told: Any) -> None:
            seconds, at = time.perf_counter() - begun, self._engine.now()
            span.tell(outcome=outcome)
            self._tell(JobRun(job.name, scope.name, at, outcome, seconds, why, error=error, **told))

        def reached(phase: str) -> None:
            if stopping() and phase not in job.writing:
                raise Stopped

        with telemetry.job(self._engine.telemetry, job.name, scope.tenant, scope.user) as span:
            try:
                one = job(self._engine, scope, reached)
                made = span.run(one.run)
            except (Stopped, Moved):  # of another embedder, it is due again
                tell("stopped")
                return False
            except Exception as error:  # noqa: BLE001  what is wrong with one memory must not keep the others waiting
                if not isinstance(error, MemgraphEngineError):
                    _log.exception("The job %s of %s failed", job.name, scope.name)
                self._rest((scope.name, job.name), again=again)
                span.failed(error)
                tell("failed", error=str(error) or type(error).__name__)
                return False
            self._rests.pop((scope.name, job.name), None)
            counts = one.counts(made)
            if counts is not None:
                fallbacks, cost = getattr(made, "fallbacks", ()), getattr(made, "cost", NOTHING)
                tell("done", counts=counts, fallbacks=fallbacks, cost=cost)
            return counts is not None

    def _rest(self, key: tuple[str, str], *, again: bool) -> None:
        """Leave what failed alone for a while, and longer each time: a job, and a memory's name."""
        last, _ = self._rests.get(key, (0.0, 0.0))
        rest = min(max(_FIRST_REST, 2 * last), _LONGEST_REST) if again else inf
        self._rests[key] = rest, time.monotonic() + rest


def backlog(engine: Engine, tenant: str | None) -> list[Waiting]:
    """Return what waits for workers in the memories of a tenant, or of all if none is named."""
    settings, now = engine.settings, engine.now()
    unpruned, unweighed = (now - DAY if on else None for on in (prunes(settings), settings.use.prune))
    return waiting(engine.db, tenant, unpruned, unweighed, _after(engine))


def _after(engine: Engine) -> Limits:
    """Return after how much a memory has work."""
    worker, caps, dimensions = engine.settings.worker, engine.settings.lifecycle, engine.embedder.dimensions
    return Limits(
        caps.cap, caps.cap_bytes, dimensions, turns(engine.settings), worker.blocks_after, worker.claims_after
    )
