"""Topics and the runs that find them."""

import json
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from memgraph_engine.graph.database import Database, Row, Runner
from memgraph_engine.graph.rows import moment
from memgraph_engine.model.topic import Move, Topic, TopicRun

_PAGE = 5000  # keywords in one statement
_SOME = 10_000  # rows of one statement of a transaction
_JSON = ("splits", "merges", "moves", "seconds")


@dataclass(frozen=True, slots=True)
class State:
    """What a run must find unchanged: the scope's version and its last run; and the writes since that one."""

    version: int
    run: str
    changed_since: int


def state(db: Database, scope: str) -> State | None:
    """Return what a run begins with; None if there is no such scope."""
    rows = db.run("topics/state", scope=scope)
    return State(**rows[0]) if rows else None


def network(db: Database, scope: str) -> Iterator[list[Row]]:
    """Yield the keywords by pages, in the order of their names: name, topic, near."""
    after = ""
    while rows := db.run("topics/network", scope=scope, after=after, limit=_PAGE):
        yield rows
        after = rows[-1]["name"]


def vectors(db: Database, scope: str, names: Sequence[str]) -> Iterator[tuple[str, Sequence[float]]]:
    """Yield the vectors of keywords, fetched by pages."""
    for start in range(0, len(names), _PAGE):
        for row in db.run("topics/vectors", scope=scope, names=names[start : start + _PAGE]):
            yield row["name"], row["vector"]


def begin(tx: Runner, scope: str, seen: State, run: str, *, late: bool) -> bool:
    """Lock the scope for a run; False if another run wrote since, or, unless it is `late`, any writer."""
    return bool(tx.run("topics/begin", scope=scope, version=seen.version, before=seen.run, run=run, late=late))


def write(tx: Runner, scope: str, rows: Sequence[Row]) -> None:
    """Store topics: id, label, size, keywords, vector."""
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


def end(tx: Runner, scope: str, ids: Sequence[str]) -> None:
    """Remove topics."""
    if ids:
        tx.run("topics/end", scope=scope, ids=ids)


def record(tx: Runner, run: TopicRun) -> None:
    """Keep what a run found and did."""
    given = asdict(run)
    properties = {name: json.dumps(value) if name in _JSON else value for name, value in given.items()}
    for name in ("id", "scope", "changed_since"):  # what came while it ran is told by the scope
        del properties[name]
    properties |= {"created": list(run.created), "ended": list(run.ended)}
    tx.run("topics/record", scope=run.scope, id=run.id, properties=properties)


def every(tx: Runner, scope: str) -> list[Topic]:
    """Return the topics, the largest first, each with its most central keywords."""
    return [_topic(row) for row in tx.run("topics/list", scope=scope)]


def find(tx: Runner, scope: str, id: str) -> Topic | None:  # noqa: A002  the graph's own word
    """Return a topic with all of its keywords."""
    rows = tx.run("topics/find", scope=scope, id=id)
    return _topic(rows[0]) if rows else None


def runs(tx: Runner, scope: str, limit: int) -> list[TopicRun]:
    """Return the last runs, newest first."""
    return [_run(row["run"]) for row in tx.run("topics/runs", scope=scope, limit=limit)]


def changed(tx: Runner, tenant: str) -> list[str]:
    """Return the scopes of a tenant that were written to since their topics were found."""
    return [row["scope"] for row in tx.run("topics/changed", tenant=tenant)]


def _topic(row: Row) -> Topic:
    return Topic(row["id"], row["label"], row["size"], tuple(row["keywords"]))


def _run(row: Row) -> TopicRun:
    fields: dict[str, Any] = {**row, **{name: json.loads(row[name]) for name in _JSON}}
    fields["at"] = moment(row["at"])
    fields["moves"] = tuple(Move(**one) for one in fields["moves"])
    for name in ("splits", "merges"):
        fields[name] = {topic: tuple(others) for topic, others in fields[name].items()}
    return TopicRun(**{**fields, "created": tuple(row["created"]), "ended": tuple(row["ended"])})
