"""The topics job: read a scope's keywords, find their topics, write what is different, in one transaction.

Readers see the former topics until the new ones are whole; a run that fails or is killed leaves the former ones.
"""

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import datetime
from typing import NoReturn
from uuid import uuid4

import numpy as np

from memgraph_engine.errors import NotFound, WriteConflict
from memgraph_engine.graph import keywords as keyword_graph
from memgraph_engine.graph import leases
from memgraph_engine.graph import topics as topic_graph
from memgraph_engine.graph.database import Database, Row, Runner
from memgraph_engine.graph.rows import packed
from memgraph_engine.model.ports import Partitioner
from memgraph_engine.model.topic import Topic, TopicRun
from memgraph_engine.settings import TopicsSettings
from memgraph_engine.topics.bounds import Bounds
from memgraph_engine.topics.difference import Difference, difference
from memgraph_engine.topics.labels import centroids
from memgraph_engine.topics.naming import Labeller
from memgraph_engine.topics.partition import Partition, partition
from memgraph_engine.topics.reading import Keywords, keywords

PHASES = ("read", "partition", "compare", "label", "write")
WAIT = "wait"
Progress = Callable[[str], None]
"""Told the name of each phase as it begins, WAIT while another run is at it; what it raises ends the run."""

_ATTEMPTS = 3  # the last writes whatever notes came between: their keywords wait for the next run
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
    labeller: Labeller | None
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
    labeller: Labeller | None = None,
) -> TopicRun:
    """Find the topics of a scope anew, beginning with those it has, and return what changed.

    Two runs at once do the work once: the second waits, and returns the first's result if nothing was written
    meanwhile; the last phase that it tells is then none of writing. Raises NotFound for a scope that nothing was
    written to, or WriteConflict when others keep winning.
    """
    before = topic_graph.state(db, scope)
    if before is None:
        raise NotFound(f"Nothing was ever written to {scope!r}, so it has no topics.")
    tell = progress or _silent
    with leases.held(db, f"topics {scope}", patience=_PATIENCE, waiting=lambda: tell(WAIT)):
        return _until_written(_Job(db, scope, engine, settings, tell, labeller, {}), now, before.run)


def _silent(_phase: str) -> None:
    """Tell nobody."""


def _until_written(job: _Job, now: datetime, before: str) -> TopicRun:
    for attempt in range(_ATTEMPTS):
        try:
            return _once(job, now, before, late=attempt == _ATTEMPTS - 1)
        except _Overtaken:
            continue
    raise WriteConflict(f"Other runs changed the topics of {job.scope!r} {_ATTEMPTS} times during this one. Try again.")


def _once(job: _Job, now: datetime, before: str, *, late: bool) -> TopicRun:
    """Do the work once, unless another run has done it since the one `before`: then return that."""
    with job.phase("read"):
        seen = topic_graph.state(job.db, job.scope)
        if seen is None:
            _gone(job.scope)
        if seen.run != before and not seen.changed_since:
            return topic_graph.runs(job.db, job.scope, 1)[0]
        found = keywords(topic_graph.network(job.db, job.scope))
    with job.phase("partition"):
        settings = job.settings
        bounds = Bounds.of(len(found.names), settings.min_size, settings.max_size)
        parts = partition(
            found.graph, job.engine, bounds, resolution=settings.resolution, seed=settings.seed, start=found.start
        )
    with job.phase("compare"):
        change = difference(found, parts.membership, topic_graph.written(job.db, job.scope))
    with job.phase("label"):
        topics = job.labeller.labelled(change.topics) if job.labeller else change.topics
    run = _labelled(_described(job, found, parts, change, now), job.labeller, change.topics, topics)
    with job.phase("write"):
        run = replace(run, seconds={**job.seconds})
        stored = replace(run, fallbacks=job.labeller.spent.kinds) if job.labeller else run
        writing = _Writing(seen, stored, found, change, _rows(job, change, topics), bounds.largest, late)
        if not job.db.write(writing.write):
            raise _Overtaken
    return replace(run, seconds=job.seconds)


def _gone(scope: str) -> NoReturn:
    raise NotFound(f"{scope!r} was removed while its topics were looked for.")


def _labelled(run: TopicRun, labeller: Labeller | None, before: Sequence[Topic], after: Sequence[Topic]) -> TopicRun:
    """Add what the labels took to a run."""
    if labeller is None:
        return run
    new = sum(old != topic for old, topic in zip(before, after, strict=True))
    return replace(run, labelled=new, fallbacks=labeller.spent.fallbacks, cost=labeller.spent.cost)


def _rows(job: _Job, change: Difference, topics: Sequence[Topic]) -> list[Row]:
    """Return the topics to write, with a centroid where the members have changed."""
    names = sorted(change.topic_of)
    middle = centroids(topic_graph.vectors(job.db, job.scope, names), change.topic_of)
    return [
        {
            "id": topic.id,
            "label": topic.label,
            "size": topic.size,
            "keywords": list(topic.keywords),
            "labelled_by": topic.labelled_by,
            "labelled_from": list(topic.labelled_from),
            "vector": packed(middle.get(topic.id)),
        }
        for topic in sorted(change.to_write(topics), key=lambda topic: topic.id)
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


@dataclass(frozen=True, slots=True)
class _Writing:
    """What the one transaction writes: as of a state that was `seen`; `late`, whatever was written since."""

    seen: topic_graph.TopicsState
    run: TopicRun
    found: Keywords
    change: Difference
    rows: list[Row]
    most: int
    late: bool

    def write(self, tx: Runner) -> bool:
        """Write it all; False, with nothing written, if it must be prepared anew."""
        scope, change = self.run.scope, self.change
        if not topic_graph.begin(tx, scope, self.seen, self.run.id, most=self.most, late=self.late):
            return False
        strays = self._strays(tx) if self.late else []
        topic_graph.write(tx, scope, self.rows)
        topic_graph.leave(tx, scope, [*change.leaving, *strays])
        topic_graph.join(tx, scope, change.joining)
        topic_graph.end(tx, scope, change.ended)
        keyword_graph.join_topics(tx, scope, strays)
        topic_graph.record(tx, self.run)
        return True

    def _strays(self, tx: Runner) -> list[str]:
        """Return the keywords that writers put into topics since they were read."""
        read = dict(zip(self.found.names, self.found.topics, strict=True))
        return [name for name, topic in topic_graph.members(tx, self.run.scope) if topic and read.get(name) != topic]
