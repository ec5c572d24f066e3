"""Holds: what must not be erased."""

from memgraph_engine.graph.database import Database, Runner
from memgraph_engine.graph.rows import dated
from memgraph_engine.model.result import Hold


def create(db: Database, scope: str, hold: Hold) -> bool:
    """Keep a hold; False if there is no such scope."""
    given = {"id": hold.id, "session": hold.session, "source": hold.source, "reason": hold.reason, "now": hold.at}
    return bool(db.commit("holds/create", scope=scope, **given))


def every(tx: Runner, scope: str) -> list[Hold]:
    """Return what is held of a scope, the oldest first."""
    return [Hold(**dated(row, "at")) for row in tx.run("holds/list", scope=scope)]


def release(db: Database, scope: str, id: str) -> bool:
    """End a hold; False if there is none of that id."""
    return bool(db.commit("holds/release", scope=scope, id=id))
