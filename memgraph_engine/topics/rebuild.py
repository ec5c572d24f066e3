"""The topics job: read a scope's keywords, find their topics, write what is different, in one transaction.

Readers see the former topics until the new ones are whole; a run that fails or is killed leaves the former ones.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from functools import partial
from uuid import uuid4

import numpy as np

from memgraph_engine.engine.passes import Pass, Progress
from memgraph_engine.engine.wiring import Engine
from memgraph_engine.errors import NotFound
from memgraph_engine.graph import keywords as keyword_graph, topics as topic_graph
from memgraph_engine.graph.database import Row, Runner
from memgraph_engine.graph.leases import Overtaken
from memgraph_engine.graph.rows import packed
from memgraph_engine.model.ports import Partitioner
from memgraph_engine.model.scope import Scope
from memgraph_engine.model.topic import Topic, TopicRun
from memgraph_engine.settings import TopicsSettings
from memgraph_engine.topics.bounds import Bounds
from memgraph_engine.topics.difference import Difference, difference
from memgraph_engine.topics.labels import centroids
from memgraph_engine.topics.naming import Labeller
from memgraph_engine.topics.partition import Partition, partition
from memgraph_engine.topics.reading import Keywords, keywords

PHASES = ("read", "partition", "compare", "label", "write")

_MOVES = 1000  # named in a run's record


@dataclass
class _Topics(Pass):
    engine: Partitioner
    settings: TopicsSettings
    labeller: Labeller


def rebuild(
    engine: Engine, scope: Scope, partitioner: Partitioner, progress: Progress | None, labeller: Labeller
) -> TopicRun:
    """Find the topics of a scope anew, beginning with those it has, and return what changed; raises as a pass does."""
    db, tell, now = engine.db, progress or (lambda _phase: None), engine.now()
    before = topic_graph.state(db, scope.name)
    job = _Topics(db, scope.name, "topics", tell, partitioner, engine.settings.topics, labeller)
    return job.until_written(before.run if before else None, partial(_once, job, now))


def _once(job: _Topics, now: datetime, before: str, late: bool) -> TopicRun:
    """Do the work once, unless another run has done it since the one `before`: then return that."""
    with job.phase("read"):
        seen = topic_graph.state(job.db, job.scope)
        if seen is None:
            raise NotFound(f"{job.scope!r} was removed while its topics were looked for.")
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
        topics = job.labeller.labelled(change.topics)
    run = _described(job, found, parts, change, now)
    run = replace(run, labelled=sum(old != topic for old, topic in zip(change.topics, topics, strict=True)))
    with job.phase("write"):
        run = replace(run, seconds={**job.seconds})
        stored = replace(run, fallbacks=job.labeller.spent.kinds)
        writing = _Writing(seen, stored, found, change, _rows(job, change, topics), bounds.largest, late)
        if not job.db.write(writing.write):
            raise Overtaken
    return replace(run, seconds=job.seconds)


def _rows(job: _Topics, change: Difference, topics: Sequence[Topic]) -> list[Row]:
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


def _described(job: _Topics, found: Keywords, parts: Partition, change: Difference, now: datetime) -> TopicRun:
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
        fallbacks=job.labeller.spent.fallbacks,
        cost=job.labeller.spent.cost,
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
