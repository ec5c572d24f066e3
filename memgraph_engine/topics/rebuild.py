"""The topics job: read a scope's keywords, find their topics, write what is different, in one transaction.

Readers see the former topics until the new ones are whole; a run that fails or is killed leaves the former ones.
"""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import datetime
from typing import NoReturn
from uuid import uuid4

import numpy as np

from memgraph_engine.errors import NotFound, WriteConflict
from memgraph_engine.graph import leases
from memgraph_engine.graph import topics as topic_graph
from memgraph_engine.graph.database import Database, Row, Runner
from memgraph_engine.model.ports import Partitioner
from memgraph_engine.model.topic import TopicRun
from memgraph_engine.settings import TopicsSettings
from memgraph_engine.topics.bounds import Bounds
from memgraph_engine.topics.difference import Difference, difference
from memgraph_engine.topics.labels import centroids
from memgraph_engine.topics.partition import Partition, partition
from memgraph_engine.topics.reading import Keywords, keywords

PHASES = ("read", "partition", "compare", "write")
Progress = Callable[[str], None]
"""Told the name of each phase as it begins."""

_ATTEMPTS = 3  # the last writes whatever notes came between: their keywords wait for the next run
_LEASE = 120.0  # seconds, taken anew for each phase: a killed run is in nobody's way for longer
_PATIENCE = 900.0  # seconds to wait for another run
_MOVES = 1000  # named in a run's record


class _Overtaken(Exception):
    """Something was written since the keywords were read."""


@dataclass(frozen=True, slots=True)
class _Job:
    db: Database
    scope: str
    engine: Partitioner
    settings: TopicsSettings
    tell: Progress
    seconds: dict[str, float]

    @contextmanager
    def phase(self, name: str) -> Iterator[None]:
        self.tell(name)
        begun = time.perf_counter()
        yield
        self.seconds[name] = self.seconds.get(name, 0.0) + time.perf_counter() - begun


def rebuild(
    db: Database,
    scope: str,
    engine: Partitioner,
    settings: TopicsSettings,
    now: datetime,
    progress: Progress | None = None,
) -> TopicRun:
    """Find the topics of a scope anew, beginning with those it has, and return what changed.

    Two runs at once do the work once: the second waits, and returns the first's result if nothing was written
    meanwhile. Raises NotFound for a scope that nothing was written to, or WriteConflict when others keep winning.
    """
    before = topic_graph.state(db, scope)
    if before is None:
        raise NotFound(f"Nothing was ever written to {scope!r}, so it has no topics.")
    holder = uuid4().hex
    name = f"topics {scope}"
    waited = _wait(db, name, holder)

    def tell(phase: str) -> None:
        leases.acquire(db, name, holder, seconds=_LEASE)
        if progress:
            progress(phase)

    try:
        if waited and (done := _done_since(db, scope, before.run)):
            return done
        return _until_written(_Job(db, scope, engine, settings, tell, {}), now)
    finally:
        leases.release(db, name, holder)


def _wait(db: Database, name: str, holder: str) -> bool:
    """Take the lease; return whether another run held it."""
    deadline, waited = time.monotonic() + _PATIENCE, False
    while not leases.acquire(db, name, holder, seconds=_LEASE):
        if time.monotonic() > deadline:
            raise WriteConflict(f"Another run has held the lease {name!r} for {_PATIENCE:.0f} s. Try again later.")
        waited = True
        time.sleep(0.1)
    return waited


def _done_since(db: Database, scope: str, run: str) -> TopicRun | None:
    """Return the last run if it is another than this one, and nothing was written since."""
    state = topic_graph.state(db, scope)
    if state is None or state.run == run or state.changed_since:
        return None
    return next(iter(topic_graph.runs(db, scope, 1)), None)


def _until_written(job: _Job, now: datetime) -> TopicRun:
    for attempt in range(_ATTEMPTS):
        try:
            return _once(job, now, late=attempt == _ATTEMPTS - 1)
        except _Overtaken:
            continue
    raise WriteConflict(f"Other runs changed the topics of {job.scope!r} {_ATTEMPTS} times during this one. Try again.")


def _once(job: _Job, now: datetime, *, late: bool) -> TopicRun:
    with job.phase("read"):
        seen = topic_graph.state(job.db, job.scope)
        if seen is None:
            _gone(job.scope)
        found = keywords(topic_graph.network(job.db, job.scope))
    with job.phase("partition"):
        settings = job.settings
        bounds = Bounds.of(len(found.names), settings.min_size, settings.max_size)
        parts = partition(
            found.graph, job.engine, bounds, resolution=settings.resolution, seed=settings.seed, start=found.start
        )
    with job.phase("compare"):
        change = difference(found, parts.membership, topic_graph.every(job.db, job.scope))
        rows = _rows(job, change)
    run = _described(job, found, parts, change, now)
    with job.phase("write"):
        run = replace(run, seconds={**job.seconds})
        if not job.db.write(lambda tx: _write(tx, seen, run, change, rows, late)):
            raise _Overtaken
    return replace(run, seconds=job.seconds)


def _gone(scope: str) -> NoReturn:
    raise NotFound(f"{scope!r} was removed while its topics were looked for.")


def _rows(job: _Job, change: Difference) -> list[Row]:
    """Return the topics to write, with a centroid where the members have changed."""
    names = sorted(change.topic_of)
    middle = centroids(topic_graph.vectors(job.db, job.scope, names), change.topic_of)
    return [
        {
            "id": topic.id,
            "label": topic.label,
            "size": topic.size,
            "keywords": list(topic.keywords),
            "vector": middle[topic.id].tolist() if topic.id in middle else None,
        }
        for topic in sorted(change.topics, key=lambda topic: topic.id)
    ]


def _described(job: _Job, found: Keywords, parts: Partition, change: Difference, now: datetime) -> TopicRun:
    sizes = np.bincount(parts.membership[parts.membership >= 0], minlength=1)
    return TopicRun(
        id=uuid4().hex,
        scope=job.scope,
        at=now,
        engine=job.engine.name,
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
    )


def _write(tx: Runner, seen: topic_graph.State, run: TopicRun, change: Difference, rows: list[Row], late: bool) -> bool:
    if not topic_graph.begin(tx, run.scope, seen, run.id, late=late):
        return False
    topic_graph.write(tx, run.scope, rows)
    topic_graph.leave(tx, run.scope, change.leaving)
    topic_graph.join(tx, run.scope, change.joining)
    topic_graph.end(tx, run.scope, change.ended)
    topic_graph.record(tx, run)
    return True
