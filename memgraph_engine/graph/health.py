"""Look how a database is: whether it answers, its schema, its clock, and how old the work is that nobody has done."""

from datetime import datetime, timedelta

from memgraph_engine.errors import InvalidInput, StoreError
from memgraph_engine.graph import schema, scopes
from memgraph_engine.graph.database import SKEW, Database
from memgraph_engine.graph.rows import dated, moment
from memgraph_engine.model.health import Health, Undone

_LONGEST = 1e9  # seconds
_WAITS = {
    "construct": "Notes are pending",
    "expire": "Notes have expired that no sweep has archived",
    "erase": "An erasure was cut off, or still runs",
    "clear": "An import was cut off, and left what it wrote",
}


def ahead(db: Database) -> timedelta:
    """Return by how much the server's clock is ahead of that by which this client reads."""
    return moment(db.run("store/clock")[0]["now"]) - db.alive()


def patience(overdue: float) -> timedelta:
    """Return how long work may wait, of a number of seconds; raises InvalidInput."""
    if type(overdue) not in (int, float) or not 0 <= overdue < _LONGEST:
        raise InvalidInput(f"overdue must be a number of seconds from 0, not {overdue!r}.")
    return timedelta(seconds=overdue)


def look(db: Database, tenant: str, cap: int, overdue: timedelta) -> Health:
    """Return how the database is; work that waits longer than `overdue` is a fault. A database's errors are faults."""
    try:
        rows = db.run("store/read")
        clock = ahead(db)
        waiting = db.run("scopes/undone", tenant=tenant, cap=cap) if rows else []
        fresh = db.run("scopes/fresh", tenant=tenant)[0]["notes"] if rows else 0
        left = scopes.imports_cut_off(db, tenant)
    except StoreError as error:
        return Health(db.uri, (str(error),), expected=schema.VERSION)
    found = rows[0]["schema"] if rows else 0
    undone = (
        *([Undone("clear", len(left), min(left.values()))] if left else []),
        *(Undone(**dated(row, "since")) for row in waiting),
    )
    faults = [*_schema_faults(found, rows[0]["upgrading"] if rows else None)]
    if abs(clock) > SKEW:
        faults.append(f"The server's clock and this machine's differ by {abs(clock).total_seconds() / 60:.0f} minutes.")
    faults += [fault for one in undone if (fault := _late(one, db.alive(), overdue))]
    return Health(db.uri, tuple(faults), found, schema.VERSION, round(clock.total_seconds(), 3), undone, fresh)


def _schema_faults(found: int, upgrading: int | None) -> list[str]:
    newer = max(found, upgrading or 0)
    if newer > schema.VERSION:
        return [f"The database has schema {newer}, newer than schema {schema.VERSION}, which this process knows."]
    return [f"An upgrade to schema {upgrading} was cut off, or still runs: connect once more."] if upgrading else []


def _late(one: Undone, now: datetime, overdue: timedelta) -> str:
    if one.since is None or now - one.since <= overdue:
        return ""
    memories = "1 memory" if one.memories == 1 else f"{one.memories:,} memories"
    return (
        f"{_WAITS[one.job]} since {one.since:%Y-%m-%d %H:%M} UTC, in {memories}: run `memgraph-engine worker`, which "
        "does what waits."
    )
