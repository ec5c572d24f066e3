"""Topics and the runs that find them."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from memgraph_engine.arrays import NDArray, np
from memgraph_engine.graph import schema
from memgraph_engine.graph.database import Database, Row, Runner, paged
from memgraph_engine.graph.rows import made, packed, stored
from memgraph_engine.model.scope import Scope
from memgraph_engine.model.topic import Topic, TopicRun, TopicTie

_PAGE = 5000  # keywords in one statement
_SOME = 10_000  # rows of one statement of a transaction


@dataclass(frozen=True, slots=True)
class TopicsState:
    """What a run must find unchanged: the scope's version and its last run; and what came since: writes, new notes."""

    version: int
    run: str
    changed_since: int
    notes_since: int


def state(db: Database, scope: str) -> TopicsState | None:
    """Return what a run begins with; None if there is no such scope. Raises StoreMismatch (`schema.told`)."""
    return schema.told(db, "topics/state", scope, TopicsState)


def network(db: Database, scope: str) -> Iterator[list[Row]]:
    """Return the keywords by pages, in the order of their names: name, topic, near."""
    return paged(db, "topics/network", _PAGE, lambda row: {"after": row["name"]}, scope=scope, after="")


def middles(tx: Runner, scope: str, topic_of: Mapping[str, str]) -> dict[str, "NDArray[np.float32]"]:
    """Return the normalised mean of the vectors of each topic's keywords, which are given by name."""
    names, sums = sorted(topic_of), dict[str, Any]()
    for start in range(0, len(names), _PAGE):
        for row in tx.run("topics/vectors", scope=scope, names=names[start : start + _PAGE]):
            topic = topic_of[row["name"]]
            sums[topic] = sums.get(topic, 0.0) + np.asarray(row["vector"], dtype=np.float64)
    lengths = {topic: float(np.linalg.norm(total)) for topic, total in sums.items()}
    # vectors that cancel out have no middle
    return {topic: (sums[topic] / length).astype(np.float32) for topic, length in lengths.items() if length}


def begin(tx: Runner, scope: str, seen: TopicsState, run: str, *, most: int, late: bool) -> bool:
    """Lock the scope for a run; False if another run wrote since, or, unless it is `late`, any writer.

    Until the next run, new keywords join topics of less than `most` keywords.
    """
    rows = tx.run(
        "topics/begin",
        scope=scope,
        version=seen.version,
        notes=seen.notes_since,
        before=seen.run,
        run=run,
        most=most,
        late=late,
    )
    return bool(rows)


def members(tx: Runner, scope: str) -> Iterator[tuple[str, str | None]]:
    """Yield the keywords in the order of their names, each with its topic."""
    for rows in paged(tx, "topics/members", _PAGE, lambda row: {"after": row["name"]}, scope=scope, after=""):
        for row in rows:
            yield row["name"], row["topic"]


def write(tx: Runner, scope: str, topics: Sequence[Topic], middle: Mapping[str, "NDArray[np.float32]"]) -> None:
    """Store topics, and the vector of the `middle` of each; where there is none, the former stays."""
    rows = [{"id": topic.id, **stored(topic), "vector": packed(middle.get(topic.id))} for topic in topics]
    for start in range(0, len(rows), _SOME):
        tx.run("topics/write", scope=scope, rows=rows[start : start + _SOME])


def leave(tx: Runner, scope: str, names: Sequence[str]) -> None:
    """Take keywords out of their topics."""
    for start in range(0, len(names), _SOME):
        tx.run("topics/leave", scope=scope, names=names[start : start + _SOME])


def join(tx: Runner, scope: str, topic_of: Sequence[tuple[str, str]]) -> None:
    """Put keywords, by name, into topics."""
    rows = [{"name": name, "topic": topic} for name, topic in topic_of]
    for start in range(0, len(rows), _SOME):
        tx.run("topics/join", scope=scope, rows=rows[start : start + _SOME])


def join_best(tx: Runner, scope: str, names: Collection[str]) -> None:
    """Put those of these keywords that have no topic into the one that they occur with most, if it has room."""
    if names:
        tx.run("keywords/join_topics", scope=scope, names=sorted(names))


def end(tx: Runner, scope: str, ids: Sequence[str]) -> None:
    """Remove topics."""
    if ids:
        tx.run("topics/end", scope=scope, ids=ids)


def record(tx: Runner, run: TopicRun) -> None:
    """Keep what a run found and did."""
    properties = stored(run, "changed_since")  # what came while it ran is told by the scope
    tx.run("topics/record", scope=run.scope, id=run.id, properties=properties)


def every(tx: Runner, scope: str) -> list[Topic]:
    """Return the topics, the largest first, each with its most central keywords."""
    # one that another run removes meanwhile may be seen without what it held
    return [made(Topic, row) for row in tx.run("topics/list", scope=scope) if row["keywords"] is not None]


def written(tx: Runner, scope: str) -> list[Topic]:
    """Return the topics as the last run wrote them, whatever has joined or left since."""
    return [made(Topic, row) for row in tx.run("topics/written", scope=scope)]


def find(tx: Runner, scope: str, id: str) -> Topic | None:
    """Return a topic with all of its keywords."""
    rows = tx.run("topics/find", scope=scope, id=id)
    return made(Topic, rows[0]) if rows else None


def ties(tx: Runner, scope: str) -> list[TopicTie]:
    """Return which topics occur together, the strongest tie first."""
    return [TopicTie(**row) for row in tx.run("topics/ties", scope=scope)]


def runs(tx: Runner, scope: str, limit: int) -> list[TopicRun]:
    """Return the last runs, newest first."""
    return [made(TopicRun, row["run"]) for row in tx.run("topics/runs", scope=scope, limit=limit)]


def changed(tx: Runner, tenant: str) -> list[Scope]:
    """Return the scopes of a tenant that were written to since their topics were found."""
    return [Scope(tenant, row["user"] or None) for row in tx.run("topics/changed", tenant=tenant)]
