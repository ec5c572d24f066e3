"""What is removed of a scope's history, once its time is over."""

from datetime import datetime

from memgraph_engine.graph.database import Database

_ROWS = 1000  # nodes in one transaction


def past(db: Database, scope: str, before: datetime) -> int:
    """Remove the former versions of notes that were replaced before, and what they alone tell; return how many."""
    removed = _all(db, "pruning/past", scope, before)
    _all(db, "pruning/sources", scope, before)
    return removed


def decisions(db: Database, scope: str, before: datetime) -> int:
    """Remove the decisions that were made before and by which nothing stands; return how many."""
    return _all(db, "pruning/decisions", scope, before)


def runs(db: Database, scope: str, before: datetime) -> int:
    """Remove the runs of before that looked for topics or built blocks, but the last of each; return how many."""
    return _all(db, "pruning/runs", scope, before)


def retrievals(db: Database, scope: str, before: datetime) -> int:
    """Remove what is recorded of retrievals from before; return of how many."""
    return _all(db, "pruning/retrievals", scope, before)


def done(db: Database, scope: str, now: datetime, decided: datetime | None) -> None:
    """Say that a scope was pruned, and until when its decisions were, if they were."""
    db.commit("pruning/done", scope=scope, now=now, decisions=decided)


def _all(db: Database, name: str, scope: str, before: datetime) -> int:
    removed = 0
    while some := db.commit(name, scope=scope, before=before, rows=_ROWS)[0]["removed"]:
        removed += int(some)
    return removed
