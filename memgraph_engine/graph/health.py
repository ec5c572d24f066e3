"""How a database is: whether it is as it must be, how much a memory holds, and how old the work is that waits."""

from datetime import datetime, timedelta

from memgraph_engine.errors import InvalidInput, StoreError
from memgraph_engine.graph import schema, scopes
from memgraph_engine.graph.database import SKEW, Database
from memgraph_engine.graph.rows import made, moment
from memgraph_engine.model.health import Health, Undone
from memgraph_engine.model.memory import READABLE
from memgraph_engine.model.result import Stats

_LOOKS = 5

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


def look(db: Database, tenant: str, cap: int, size: int, overdue: timedelta) -> Health:
    """Return how the database is; work that waits longer than `overdue` is a fault. A database's errors are faults.

    A memory without a cap of its own may have `cap` notes, and `size` bytes; 0 is any number.
    """
    try:
        rows = db.run("store/read")
        clock = ahead(db)
        caps = {"cap": cap, "bytes": size, "dimensions": rows[0]["dimensions"]} if rows else {}
        waiting = db.run("scopes/undone", tenant=tenant, **caps) if rows else []
        fresh = db.run("scopes/fresh", tenant=tenant)[0]["notes"] if rows else 0
        left = scopes.imports_cut_off(db, tenant)
    except StoreError as error:
        return Health(db.uri, (str(error),), expected=schema.VERSION)
    found = rows[0]["schema"] if rows else 0
    undone = (
        *([Undone("clear", len(left), min(left.values()))] if left else []),
        *(made(Undone, row) for row in waiting),
    )
    upgrading = rows[0]["upgrading"] if rows else None
    newer, faults = max(found, upgrading or 0), list[str]()
    if newer > schema.VERSION:
        faults.append(f"The database has schema {newer}, newer than schema {schema.VERSION}, which this process knows.")
    elif upgrading:
        faults.append(f"An upgrade to schema {upgrading} was cut off, or still runs: connect once more.")
    if abs(clock) > SKEW:
        faults.append(f"The server's clock and this machine's differ by {abs(clock).total_seconds() / 60:.0f} minutes.")
    faults += [fault for one in undone if (fault := _late(one, db.alive(), overdue))]
    return Health(db.uri, tuple(faults), found, schema.VERSION, round(clock.total_seconds(), 3), undone, fresh)


def _late(one: Undone, now: datetime, overdue: timedelta) -> str:
    if one.since is None or now - one.since <= overdue:
        return ""
    memories = "1 memory" if one.memories == 1 else f"{one.memories:,} memories"
    return (
        f"{_WAITS[one.job]} since {one.since:%Y-%m-%d %H:%M} UTC, in {memories}: run `memgraph-engine worker`, which "
        "does what waits."
    )


def stats(db: Database, scope: str, model: str) -> Stats:
    """Count what a scope holds; all 0 for one that nothing was written to."""
    rows = db.run("scopes/counts", scope=scope)
    if not rows:
        return Stats(scope=scope, model=model)
    row = rows[0]
    return Stats(scope=scope, model=model, **{**row, "notes": dict(row["notes"])})


def verify(db: Database, scope: str, dimensions: int) -> list[str]:
    """Return a sentence for each thing that is not as it must be.

    The counts are of several moments: where somebody wrote meanwhile, only what is found again is a fault.
    """
    before = scopes.state(db, scope)
    faults = _faults(db, scope, dimensions)
    for _ in range(_LOOKS):
        if not faults or (now := scopes.state(db, scope)) == before:
            break
        before, again = now, _faults(db, scope, dimensions)
        faults = [fault for fault in faults if fault in again]
    return faults


def _faults(db: Database, scope: str, dimensions: int) -> list[str]:
    faults = []
    if scopes.cut_off(db, scope):
        faults.append(
            "An import was cut off. What it wrote is still there, though no read finds it: `memgraph-engine sweep` "
            "removes it."
        )
    for row in db.run("scopes/sums", scope=scope, statuses=READABLE):
        faults += [
            f"The scope keeps {name} = {row[name]}, but {counted} are counted."
            for name, counted in row["counted"].items()
            if row[name] != counted
        ]
    faults += [
        f"CO_OCCUR of {row['a']!r} and {row['b']!r} is {row['kept']}, but {row['counted']} notes carry both."
        for row in db.run("keywords/recount", scope=scope, statuses=READABLE)
    ]
    faults += [
        f"Note {row['id']} {row['fault']}." for row in db.run("notes/faults", scope=scope, dimensions=dimensions)
    ]
    faults += [
        f"Keyword {row['name']!r} is {'not ' * row['shared']}found by its vector, though "
        f"{'' if row['shared'] else 'fewer than '}two notes that can be read carry it."
        for row in db.run("keywords/faults", scope=scope, statuses=READABLE)
    ]
    for name in ("topics/faults", "blocks/faults", "claims/faults"):
        faults += [row["fault"] for row in db.run(name, scope=scope)]
    faults += [
        f"Decision {row['id']} tells of a profile by a source that was removed."
        for row in db.run("profile/faults", scope=scope)
    ]
    return faults
