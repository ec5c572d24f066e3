"""The table of a worker's jobs: what is due when, under which lease, and what is done then."""

import logging
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from typing import cast

from memgraph_engine.blocks.rebuild import rebuild_blocks
from memgraph_engine.claims.consolidation import TIDY, consolidate
from memgraph_engine.cost import NOTHING, Cost
from memgraph_engine.engine.wiring import Engine
from memgraph_engine.errors import MissingExtra
from memgraph_engine.graph.waiting import Waiting
from memgraph_engine.model.block import BlockRun
from memgraph_engine.model.claim import ClaimRun
from memgraph_engine.model.result import Evolved
from memgraph_engine.model.scope import Scope
from memgraph_engine.model.topic import TopicRun
from memgraph_engine.settings import LifecycleSettings, UseSettings
from memgraph_engine.topics.job import partitioner_of, rebuild_topics
from memgraph_engine.worker.schedule import Schedule
from memgraph_engine.writing import erasure, unused
from memgraph_engine.writing.adding import process
from memgraph_engine.writing.eviction import evict
from memgraph_engine.writing.evolution import evolve
from memgraph_engine.writing.pruning import due_since
from memgraph_engine.writing.sweep import sweep

_log = logging.getLogger("memgraph_engine")


class Stopped(Exception):
    """The worker was asked to stop, and leaves a job that has written nothing."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a job did: counts by name, why models were not used, what they cost."""

    counts: Mapping[str, int]
    fallbacks: tuple[str, ...] = ()
    cost: Cost = NOTHING


@dataclass(frozen=True, slots=True)
class Job:
    """A row of the table.

    `due` says why it is due in a memory, '' if it is not; `when` says the same of the job, for people. `do` returns
    None where there was nothing to do; it is told how to ask whether to stop, and raises Stopped where it leaves. It is
    done up to `most` times in a row before other memories have their turn. Of jobs with one `lease` a memory has one at
    a time.
    """

    name: str
    when: str
    due: Callable[[Waiting, datetime], str]
    do: Callable[[Scope, Callable[[], bool]], Outcome | None]
    most: int = 1
    lease: str = "work"


def jobs_of(engine: Engine) -> tuple[Job, ...]:
    """Return the table. Without an engine for topics, which is told once, these are never due."""
    schedule, settings = Schedule.of(engine.settings), engine.settings
    when, due = str(schedule), cast("Callable[[Waiting, datetime], str]", schedule.due)
    if schedule and (lack := _lack(engine)):
        _log.warning("Topics are not found, all else is done. %s", lack)
        when, due = "never, since their engine is not installed", lambda _waiting, _now: ""

    def after(number: int, what: str) -> str:
        return f"after {number:,} {what}" if number else "never"

    return (
        Job(
            "erase",
            "where an erasure was cut off",
            _where("erasing", "an erasure that was cut off"),
            partial(_erase, engine),
        ),
        Job(
            "expire",
            "where notes have expired, or once a day where history has a budget",
            partial(_expiring, settings.lifecycle),
            partial(_expire, engine),
        ),
        Job(
            "construct",
            "where notes are pending",
            _where("pending", "pending notes"),
            partial(_construct, engine, settings.ingest_batch),
            most=10,
        ),
        Job(
            "evict",
            "where a memory has more notes than its cap",
            _where("crowded", "more notes than the cap"),
            partial(_evict, engine),
        ),
        Job(
            "prune",
            "once a day, where notes of little use are archived",
            partial(_unweighed, settings.use),
            partial(_prune, engine),
        ),
        Job("topics", when, due, partial(_topics, engine)),
        Job(
            "blocks",
            after(settings.worker.blocks_after, "writes"),
            _where("unbuilt", "writes since blocks were built"),
            partial(_blocks, engine),
        ),
        Job(
            "claims",
            after(settings.worker.claims_after, "writes"),
            _where("unclaimed", "writes since claims were looked for"),
            partial(_claims, engine),
        ),
        # last: by what is constructed and stays, and by the topics of now
        Job(
            "evolve",
            after(settings.lifecycle.evolve, "new interactions"),
            _where("evolving", "new interactions"),
            partial(_evolve, engine),
        ),
    )


def _construct(engine: Engine, size: int, scope: Scope, _stopping: Callable[[], bool]) -> Outcome | None:
    receipt = process(engine, scope, size)
    counts = Counter[str](sorted(entry.kind for entry in receipt.entries))
    return Outcome(dict(counts), receipt.fallbacks, receipt.cost) if counts else None


def _erase(engine: Engine, scope: Scope, _stopping: Callable[[], bool]) -> Outcome | None:
    done = erasure.unfinished(engine, scope)
    return Outcome({"erased": sum(one.counts["notes"] for one in done)}) if done else None


def _expire(engine: Engine, scope: Scope, _stopping: Callable[[], bool]) -> Outcome | None:
    swept = sweep(engine, scope)
    erased = sum(one.counts["notes"] for one in swept.erased)
    counts = {"archived": swept.notes, "erased": erased, "pruned": swept.pruned}
    done = {name: some for name, some in counts.items() if some}
    return Outcome(done) if done or swept.erased else None


def _expiring(settings: LifecycleSettings, waiting: Waiting, now: datetime) -> str:
    since = due_since(settings, now)
    old = since is not None and (waiting.pruned is None or waiting.pruned <= since)
    return "expired notes" if waiting.expiring else "a day's history" if old else ""


def _evict(engine: Engine, scope: Scope, _stopping: Callable[[], bool]) -> Outcome | None:
    done = evict(engine, scope)
    counts = {"archived": done.notes, "summaries": done.summaries}
    return Outcome(counts, done.fallbacks, done.cost) if done.notes else None


def _prune(engine: Engine, scope: Scope, _stopping: Callable[[], bool]) -> Outcome | None:
    archived = unused.prune(engine, scope)
    return Outcome({"archived": archived}) if archived else None


def _unweighed(settings: UseSettings, waiting: Waiting, now: datetime) -> str:
    since = unused.due_since(settings, now)
    return "a day's use" if since and (waiting.weighed is None or waiting.weighed <= since) else ""


def _topics(engine: Engine, scope: Scope, stopping: Callable[[], bool]) -> Outcome | None:
    phases = _Phases(stopping, "write")
    run = rebuild_topics(engine, scope, progress=phases)
    return _outcome(run, "topics keywords created ended moved joined labelled") if phases.written else None


def _blocks(engine: Engine, scope: Scope, stopping: Callable[[], bool]) -> Outcome | None:
    phases = _Phases(stopping, "publish", "tidy")
    run = rebuild_blocks(engine, scope, phases)
    return _outcome(run, "blocks notes kept created renewed ended described") if phases.written else None


def _claims(engine: Engine, scope: Scope, stopping: Callable[[], bool]) -> Outcome | None:
    run = consolidate(engine, scope, _Phases(stopping, TIDY))
    return _outcome(run, "notes claims created removed abstracted deferred")


def _evolve(engine: Engine, scope: Scope, _stopping: Callable[[], bool]) -> Outcome | None:
    done = evolve(engine, scope)
    return _outcome(done, "notes ties tags contexts") if done.notes else None


class _Phases:
    """Hears of a run's phases: it is left where the worker is to stop, but not in those that `writing` names.

    Where it ends in none of these, another worker's run did, which tells of it: the lease of one of them had lapsed.
    """

    def __init__(self, stopping: Callable[[], bool], *writing: str) -> None:
        self._stopping, self._writing = stopping, writing
        self.written = False

    def __call__(self, phase: str) -> None:
        if self._stopping() and phase not in self._writing:
            raise Stopped
        self.written = phase in self._writing


def _where(name: str, why: str) -> Callable[[Waiting, datetime], str]:
    """Return what makes a job due wherever this of what waits holds."""
    return lambda waiting, _now: why if getattr(waiting, name) else ""


def _outcome(run: TopicRun | BlockRun | ClaimRun | Evolved, names: str) -> Outcome:
    """Return what a run tells of itself by these names: counts, or lists that are counted."""
    found = {name: getattr(run, name) for name in names.split()}
    counts = {name: some if isinstance(some, int) else len(some) for name, some in found.items()}
    return Outcome(counts, run.fallbacks, run.cost)


def _lack(engine: Engine) -> str:
    """Return what the engine for topics lacks, '' if it is installed."""
    try:
        partitioner_of(engine)
    except MissingExtra as error:
        return str(error)
    return ""
