"""The table of a worker's jobs: what is due when, under which lease, and what is done then."""

import logging
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
from memgraph_engine.model.result import Receipt
from memgraph_engine.model.scope import Scope
from memgraph_engine.model.topic import TopicRun
from memgraph_engine.settings import UseSettings
from memgraph_engine.topics.job import partitioner_of, rebuild_topics
from memgraph_engine.worker.schedule import Schedule
from memgraph_engine.writing import erasure, unused
from memgraph_engine.writing.eviction import evict
from memgraph_engine.writing.evolution import evolve
from memgraph_engine.writing.pruning import due_since
from memgraph_engine.writing.sweep import sweep
from memgraph_engine.writing.writer import Writer

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

    `due` says why it is due in a memory, '' if it is not; `when` says the same of the job, for people. Of jobs with
    one `lease` a memory has one at a time. It is done up to `most` times in a row before other memories have their
    turn. `do` returns None where there was nothing to do; it is told how to ask whether to stop, and raises Stopped
    where it leaves.
    """

    name: str
    when: str
    due: Callable[[Waiting, datetime], str]
    lease: str
    most: int
    do: Callable[[Scope, Callable[[], bool]], Outcome | None]


def jobs_of(engine: Engine) -> tuple[Job, ...]:
    """Return the table. Without an engine for topics, which is told once, these are never due."""
    writer, schedule = Writer(engine), Schedule.of(engine.settings)
    when, due = str(schedule), cast("Callable[[Waiting, datetime], str]", schedule.due)
    if schedule and (lack := _lack(engine)):
        _log.warning("Topics are not found, all else is done. %s", lack)
        when, due = "never, since their engine is not installed", _never

    def construct(scope: Scope, _stopping: Callable[[], bool]) -> Outcome | None:
        receipt = writer.process(scope, engine.settings.ingest_batch)
        return Outcome(_kinds(receipt), receipt.fallbacks, receipt.cost) if receipt.entries else None

    def erase(scope: Scope, _stopping: Callable[[], bool]) -> Outcome | None:
        done = erasure.unfinished(engine, scope)
        return Outcome({"erased": sum(one.counts["notes"] for one in done)}) if done else None

    def expire(scope: Scope, _stopping: Callable[[], bool]) -> Outcome | None:
        swept = sweep(engine, scope)
        erased = sum(one.counts["notes"] for one in swept.erased)
        counts = {"archived": swept.notes, "erased": erased, "pruned": swept.pruned}
        done = {name: some for name, some in counts.items() if some}
        return Outcome(done) if done or swept.erased else None

    def expiring(waiting: Waiting, now: datetime) -> str:
        since = due_since(engine.settings.lifecycle, now)
        old = since is not None and (waiting.pruned is None or waiting.pruned <= since)
        return "expired notes" if waiting.expiring else "a day's history" if old else ""

    def topics(scope: Scope, stopping: Callable[[], bool]) -> Outcome | None:
        phases = _Phases(stopping, "write")
        run = rebuild_topics(engine, scope, progress=phases)
        return Outcome(_figures(run), run.fallbacks, run.cost) if phases.written else None

    def blocks(scope: Scope, stopping: Callable[[], bool]) -> Outcome | None:
        phases = _Phases(stopping, "publish", "tidy")
        run = rebuild_blocks(engine, scope, phases)
        return Outcome(_built(run), run.fallbacks, run.cost) if phases.written else None

    def claims(scope: Scope, stopping: Callable[[], bool]) -> Outcome | None:
        phases = _Phases(stopping, TIDY)
        run = consolidate(engine, scope, phases)
        counted = ("notes", "claims", "created", "removed", "abstracted", "deferred")
        return Outcome({name: getattr(run, name) for name in counted}, run.fallbacks, run.cost)

    after, claims_after = engine.settings.worker.blocks_after, engine.settings.worker.claims_after

    return (
        Job("erase", "where an erasure was cut off", _erasing, lease="work", most=1, do=erase),
        Job(
            "expire",
            "where notes have expired, or once a day where history has a budget",
            expiring,
            lease="work",
            most=1,
            do=expire,
        ),
        Job("construct", "where notes are pending", _pending, lease="work", most=10, do=construct),
        Job(
            "evict",
            "where a memory has more notes than its cap",
            _crowded,
            lease="work",
            most=1,
            do=partial(_evict, engine),
        ),
        Job(
            "prune",
            "once a day, where notes of little use are archived",
            partial(_unweighed, engine.settings.use),
            lease="work",
            most=1,
            do=partial(_prune, engine),
        ),
        Job("topics", when, due, lease="work", most=1, do=topics),
        Job("blocks", f"after {after:,} writes" if after else "never", _unbuilt, lease="work", most=1, do=blocks),
        Job(
            "claims",
            f"after {claims_after:,} writes" if claims_after else "never",
            _unclaimed,
            lease="work",
            most=1,
            do=claims,
        ),
        # last: by what is constructed and stays, and by the topics of now
        Job(
            "evolve",
            f"after {engine.settings.lifecycle.evolve} new interactions"
            if engine.settings.lifecycle.evolve
            else "never",
            _evolving,
            lease="work",
            most=1,
            do=partial(_evolve, engine),
        ),
    )


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


def _prune(engine: Engine, scope: Scope, _stopping: Callable[[], bool]) -> Outcome | None:
    archived = unused.prune(engine, scope)
    return Outcome({"archived": archived}) if archived else None


def _unweighed(settings: UseSettings, waiting: Waiting, now: datetime) -> str:
    since = unused.due_since(settings, now)
    return "a day's use" if since and (waiting.weighed is None or waiting.weighed <= since) else ""


def _pending(waiting: Waiting, _now: datetime) -> str:
    return "pending notes" if waiting.pending else ""


def _crowded(waiting: Waiting, _now: datetime) -> str:
    return "more notes than the cap" if waiting.crowded else ""


def _evict(engine: Engine, scope: Scope, _stopping: Callable[[], bool]) -> Outcome | None:
    done = evict(engine, scope)
    counts = {"archived": done.notes, "summaries": done.summaries}
    return Outcome(counts, done.fallbacks, done.cost) if done.notes else None


def _evolving(waiting: Waiting, _now: datetime) -> str:
    return "new interactions" if waiting.evolving else ""


def _evolve(engine: Engine, scope: Scope, _stopping: Callable[[], bool]) -> Outcome | None:
    done = evolve(engine, scope)
    counts = {"notes": done.notes, "ties": done.ties, "tags": done.tags, "contexts": done.contexts}
    return Outcome(counts, done.fallbacks, done.cost) if done.notes else None


def _erasing(waiting: Waiting, _now: datetime) -> str:
    return "an erasure that was cut off" if waiting.erasing else ""


def _lack(engine: Engine) -> str:
    """Return what the engine for topics lacks, '' if it is installed."""
    try:
        partitioner_of(engine)
    except MissingExtra as error:
        return str(error)
    return ""


def _never(_waiting: Waiting, _now: datetime) -> str:
    return ""


def _kinds(receipt: Receipt) -> dict[str, int]:
    kinds = [entry.kind for entry in receipt.entries]
    return {kind: kinds.count(kind) for kind in sorted(set(kinds))}


def _unbuilt(waiting: Waiting, _now: datetime) -> str:
    return "writes since blocks were built" if waiting.unbuilt else ""


def _unclaimed(waiting: Waiting, _now: datetime) -> str:
    return "writes since claims were looked for" if waiting.unclaimed else ""


def _built(run: BlockRun) -> dict[str, int]:
    return {
        "blocks": run.blocks,
        "notes": run.notes,
        "kept": run.kept,
        "created": run.created,
        "renewed": run.renewed,
        "ended": run.ended,
        "described": run.described,
    }


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
