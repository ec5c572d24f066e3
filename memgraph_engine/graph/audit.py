"""Count a memory, and recount what it keeps as sums."""

from memgraph_engine.graph import scopes
from memgraph_engine.graph.database import Database
from memgraph_engine.model.memory import READABLE
from memgraph_engine.model.result import Stats

_LOOKS = 5


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
