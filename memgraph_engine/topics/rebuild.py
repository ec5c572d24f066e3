"""The topics job: read a scope's keywords, find their topics, write what is different, in one transaction.

Readers see the former topics until the new ones are whole; a run that fails or is killed leaves the former ones.
"""

import logging
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from functools import cached_property
from uuid import uuid4
from zoneinfo import ZoneInfo

import numpy as np
from cronsim import CronSim

from memgraph_engine.engine.passes import Progress, Rebuild
from memgraph_engine.engine.wiring import Engine
from memgraph_engine.errors import InvalidInput, MissingExtra, NotFound
from memgraph_engine.graph import topics as topic_graph
from memgraph_engine.graph.database import Runner
from memgraph_engine.graph.leases import Overtaken
from memgraph_engine.graph.waiting import Waiting
from memgraph_engine.model.ports import Partitioner
from memgraph_engine.model.scope import Scope
from memgraph_engine.model.topic import TopicRun
from memgraph_engine.settings import Settings
from memgraph_engine.topics.difference import Difference, Keywords, difference, keywords
from memgraph_engine.topics.engines import engine_named
from memgraph_engine.topics.naming import Labeller
from memgraph_engine.topics.partition import Bounds, Partition, partition

PHASES = ("read", "partition", "compare", "label", "write")

_log = logging.getLogger("memgraph_engine")
_MOVES = 1000  # named in a run's record


class Topics(Rebuild[TopicRun]):
    """Finds the topics of a scope anew, beginning with those it has."""

    name = "topics"
    writing = ("write",)
    tells = "topics keywords created ended moved joined labelled"

    def __init__(
        self,
        engine: Engine,
        scope: Scope,
        tell: Progress | None = None,
        partitioner: str | Partitioner | None = None,
    ) -> None:
        super().__init__(engine, scope, tell)
        self.settings, self.partitioner = engine.settings.topics, partitioner_of(engine, partitioner)

    @classmethod
    def plan(cls, engine: Engine) -> str:
        """Say when topics are due; never without an engine for them, which is told once."""
        schedule = Schedule.of(engine.settings)
        if schedule and (lack := _lack(engine)):
            _log.warning("Topics are not found, all else is done. %s", lack)
            return "never, since their engine is not installed"
        return str(schedule)

    @classmethod
    def due(cls, engine: Engine, waiting: Waiting, now: datetime) -> str:
        """Say why they are due in a memory."""
        schedule = Schedule.of(engine.settings)
        return schedule.due(waiting, now) if schedule and not _lack(engine) else ""

    def state(self) -> topic_graph.TopicsState | None:
        """Return what a run begins with."""
        return topic_graph.state(self.db, self.scope.name)

    @cached_property
    def labeller(self) -> Labeller:
        """What gives topics their labels, asked once about each however often the run is made."""
        return Labeller(self.engine.roles, self.spent)

    def once(self, before: str, *, late: bool) -> TopicRun:
        """Find them, and write what is different."""
        scope, settings = self.scope.name, self.settings
        with self.phase("read"):
            seen = self.state()
            if seen is None:
                raise NotFound(f"{scope!r} was removed while its topics were looked for.")
            if seen.run != before and not seen.changed_since:
                return topic_graph.runs(self.db, scope, 1)[0]
            found = keywords(topic_graph.network(self.db, scope))
        with self.phase("partition"):
            bounds = Bounds.of(len(found.names), settings.min_size, settings.max_size)
            parts = partition(
                found.graph,
                self.partitioner,
                bounds,
                resolution=settings.resolution,
                seed=settings.seed,
                start=found.start,
            )
        with self.phase("compare"):
            change = difference(found, parts.membership, topic_graph.written(self.db, scope))
        with self.phase("label"):
            topics = self.labeller.labelled(change.topics)
        run = _described(self, found, parts, change)
        run = replace(run, labelled=sum(old != topic for old, topic in zip(change.topics, topics, strict=True)))
        with self.phase("write"):
            run = replace(run, seconds={**self.seconds})
            stored = replace(run, fallbacks=self.spent.kinds)
            middle, to_write = topic_graph.middles(self.db, scope, change.topic_of), change.to_write(topics)

            def write(tx: Runner) -> bool:
                if not topic_graph.begin(tx, scope, seen, run.id, most=bounds.largest, late=late):
                    return False
                read = dict(zip(found.names, found.topics, strict=True))
                # writers put these into topics since they were read
                members = topic_graph.members(tx, scope) if late else ()
                strays = [name for name, topic in members if topic and read.get(name) != topic]
                topic_graph.write(tx, scope, to_write, middle)
                topic_graph.leave(tx, scope, [*change.leaving, *strays])
                topic_graph.join(tx, scope, change.joining)
                topic_graph.end(tx, scope, change.ended)
                topic_graph.join_best(tx, scope, strays)
                topic_graph.record(tx, stored)
                return True

            if not self.db.write(write):
                raise Overtaken
        return replace(run, seconds=self.seconds)


def _described(job: Topics, found: Keywords, parts: Partition, change: Difference) -> TopicRun:
    sizes = np.bincount(parts.membership[parts.membership >= 0], minlength=1)
    return TopicRun(
        id=uuid4().hex,
        scope=job.scope.name,
        at=job.now,
        engine=job.partitioner.name,
        seed=job.settings.seed,
        resolution=job.settings.resolution,
        keywords=len(found.names),
        pairs=found.graph.edges,
        topics=parts.topics,
        smallest=int(sizes.min()),
        largest=int(sizes.max()),
        modularity_before=parts.before,
        modularity_after=parts.after,
        moved=len(change.moves),
        joined=len(change.joining) - sum(bool(move.target) for move in change.moves),
        created=change.created,
        ended=change.ended,
        splits=change.matching.splits,
        merges=change.matching.merges,
        moves=change.moves[:_MOVES],
        fallbacks=job.spent.fallbacks,
        cost=job.spent.cost,
    )


def partitioner_of(engine: Engine, given: str | Partitioner | None = None) -> Partitioner:
    """Return the given partition engine, which may be a name, else that of the settings; raises MissingExtra."""
    chosen = engine.settings.topics.engine if given is None else given
    if isinstance(chosen, str):
        return engine_named(chosen)
    if not (hasattr(chosen, "partition") and hasattr(chosen, "name")):  # bytes have the one, which is another
        raise InvalidInput(
            f"engine must be a name, or have a `name` and a method `partition`; {chosen!r} has not both."
        )
    return chosen


def _lack(engine: Engine) -> str:
    """Return what the engine for topics lacks, '' if it is installed."""
    try:
        partitioner_of(engine)
    except MissingExtra as error:
        return str(error)
    return ""


@dataclass(frozen=True, slots=True)
class Schedule:
    """After so many new notes, at the times of a cron expression, or both; 0 and '' are never."""

    after: int
    cron: str
    timezone: ZoneInfo

    @classmethod
    def of(cls, settings: Settings) -> "Schedule":
        """Return that of the settings."""
        return cls(settings.worker.topics_after, settings.worker.topics_cron, ZoneInfo(settings.timezone))

    def __bool__(self) -> bool:
        """Whether topics are ever due."""
        return bool(self.after or self.cron)

    def __str__(self) -> str:
        """Say it.

        >>> str(Schedule(100, "0 3 * * *", ZoneInfo("Europe/Lisbon")))
        "after 100 new notes with keywords, at '0 3 * * *' (Europe/Lisbon)"
        """
        after = f"after {self.after:,} new notes with keywords" if self.after else ""
        cron = f"at {self.cron!r} ({self.timezone.key})" if self.cron else ""
        return ", ".join(part for part in (after, cron) if part) or "never"

    def due(self, waiting: Waiting, now: datetime) -> str:
        """Return why the topics of a memory are due, '' if they are not. Without a change they are never due.

        Times of the cron expression that every worker missed are made up for once; by it, topics that were never
        looked for are due at once.
        """
        if not waiting.changed_since:
            return ""
        if 0 < self.after <= waiting.notes_since:
            return f"{waiting.notes_since:,} new notes"
        last = self._last(now)
        if last and (waiting.ran is None or waiting.ran < last):
            return f"{self.cron!r} at {last:%Y-%m-%d %H:%M}"
        return ""

    def waits(self, waiting: Waiting, now: datetime) -> str:
        """Say for what the topics of a memory wait, and how near that is; '' where none do, or they are due."""
        if not (self and waiting.changed_since) or self.due(waiting, now):
            return ""
        parts = []
        if self.after and waiting.notes_since:
            parts.append(f"until {self.after:,} new notes have keywords ({waiting.notes_since:,} do)")
        if self.cron:
            parts.append(f"for the next time of {self.cron!r}")
        return f"wait {' or '.join(parts)}" if parts else ""

    def _last(self, now: datetime) -> datetime | None:
        """Return the last time, up to now, that the cron expression names."""
        if not self.cron:
            return None
        after = (now + timedelta(seconds=1)).astimezone(self.timezone)  # the moment itself counts
        last: datetime | None = next(CronSim(self.cron, after, reverse=True), None)
        return last
