"""Archive what has expired: it could not be read since it ended, and now leaves sums, keywords and vector indexes.

What is archived keeps its words and comes back whole by an undo, or by `restore`. How long it can be read never depends
on a sweep, nor does a sweep depend on who else reads.
"""

from dataclasses import dataclass
from datetime import datetime
from uuid import uuid4

from memgraph_engine.errors import ClockSkew
from memgraph_engine.graph import notes, scopes
from memgraph_engine.graph.database import SKEW, Database
from memgraph_engine.graph.health import ahead
from memgraph_engine.graph.notes import Revision
from memgraph_engine.model.result import Decision
from memgraph_engine.model.scope import Scope
from memgraph_engine.writing.transaction import Transaction

_SOME = 500


@dataclass(frozen=True, slots=True)
class Batch:
    """How many notes were archived, and by which decision."""

    notes: int
    decision: Decision


def sweep(db: Database, scope: Scope, now: datetime) -> Batch | None:
    """Archive the 500 notes that ended first; None if none has expired that is not archived.

    What ought to be erased by now, and is held, has decisions of its own: these can't be undone, others can.
    """
    state = scopes.state(db, scope.name)
    some = notes.expiring(db, scope.name, _SOME) if state else []
    if not state or not some:
        return None
    some = [one for one in some if one.note.erase_at > now] or some
    transaction = Transaction(scope, state.version, now)
    one = some[0].note.id if len(some) == 1 else ""
    ended = "It" if one else f"{len(some):,} notes"
    decision = transaction.decide(Decision(uuid4().hex, "expire", now, one, evidence=f"{ended} had expired."))
    for found in some:
        transaction.revise(found, Revision.archived(found.note.id, decision.id))
    transaction.commit(db)
    return Batch(len(some), decision)


def check_clock(db: Database) -> None:
    """Raise ClockSkew if this machine's clock and the server's differ by more than five minutes."""
    skew = abs(ahead(db))
    if skew > SKEW:
        raise ClockSkew(
            f"The clock of this machine and that of the server at {db.uri} differ by {skew.total_seconds() / 60:.0f} "
            "minutes. Nothing was swept, since one of them is wrong: set them, and sweep again."
        )
