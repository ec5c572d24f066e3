"""What waits for a worker: notes to construct, and writes since topics were found."""

from dataclasses import asdict, dataclass
from datetime import datetime

from memgraph_engine.graph.database import Database
from memgraph_engine.graph.rows import made
from memgraph_engine.model.scope import Scope


@dataclass(frozen=True, slots=True)
class Waiting:
    """What came to a scope since its topics were found (`ran`, None for never): writes, and notes new to the graph.

    `pending`: since when `notes` are not constructed yet. `expiring`: since when some may have expired that are not
    swept yet. `erasing`: since when an erasure is begun and not done. `crowded`: it is above its cap, in notes or in
    bytes. `evolving`: it was told enough since it evolved. `unbuilt`: it was written to enough since its blocks were
    built, `unclaimed` since claims were looked for. `pruned` is when its history was, and `weighed` when the utilities
    of its notes were looked at. Times are None for never.
    """

    scope: Scope
    notes: int
    pending: datetime | None
    expiring: datetime | None
    erasing: datetime | None
    crowded: bool
    evolving: bool
    unbuilt: bool
    unclaimed: bool
    changed_since: int
    notes_since: int
    ran: datetime | None
    pruned: datetime | None
    weighed: datetime | None


@dataclass(frozen=True, slots=True)
class Limits:
    """After how much a scope has work, at 0 never.

    `cap`: notes of one that has no cap of its own. `bytes`: what notes with vectors of so many `dimensions` take.
    `evolve`: new messages. `blocks` and `claims`: writes.
    """

    cap: int = 0
    bytes: int = 0
    dimensions: int = 0
    evolve: int = 0
    blocks: int = 0
    claims: int = 0


def waiting(
    db: Database,
    tenant: str | None,
    unpruned: datetime | None = None,
    unweighed: datetime | None = None,
    limits: Limits = Limits(),
) -> list[Waiting]:
    """Return the scopes with any work, those whose topics are oldest first; of all tenants if none is named.

    Not to have been pruned since `unpruned` is work too, nor to have been weighed since `unweighed`; None where history
    is kept for ever, and where no note is archived for being of little use.
    """
    given = {"unpruned": unpruned, "unweighed": unweighed, **asdict(limits)}
    rows = db.run("scopes/waiting", tenant=tenant, **given)
    return [made(Waiting, row, scope=Scope(row["tenant"], row["user"] or None)) for row in rows]


def waits(db: Database, scope: Scope, limits: Limits) -> Waiting | None:
    """Return the work of one scope; None if it is gone."""
    rows = db.run("scopes/waits", scope=scope.name, **asdict(limits))
    return made(Waiting, rows[0], scope=scope) if rows else None
