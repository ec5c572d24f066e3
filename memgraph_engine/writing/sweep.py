"""Archive what has expired: it could not be read since it ended, and now leaves sums, keywords and vector indexes.

What is archived keeps its words and comes back whole by an undo, or by `restore`. How long it can be read never depends
on a sweep, nor does a sweep depend on who else reads.
"""

from collections.abc import Mapping
from datetime import datetime
from inspect import unwrap

from memgraph_engine.engine.passes import DAY, Pass
from memgraph_engine.engine.wiring import Engine
from memgraph_engine.errors import ClockSkew
from memgraph_engine.graph import notes, scopes
from memgraph_engine.graph.database import SKEW, Database
from memgraph_engine.graph.health import ahead
from memgraph_engine.graph.notes import Revision
from memgraph_engine.graph.waiting import Waiting
from memgraph_engine.model.ports import utc_now
from memgraph_engine.model.result import Decision, Swept
from memgraph_engine.model.scope import Scope
from memgraph_engine.writing import erasure
from memgraph_engine.writing.commit import retried
from memgraph_engine.writing.pruning import prune, prunes
from memgraph_engine.writing.transaction import Transaction

_SOME = 500


class Sweep(Pass[Swept]):
    """Erases what has its end for good, but what is held, and archives what else has expired. Raises ClockSkew."""

    name, when = "expire", "where notes have expired, or once a day where history has a budget"

    @classmethod
    def due(cls, engine: Engine, waiting: Waiting, now: datetime) -> str:
        """Say what has expired, notes or history."""
        old = prunes(engine.settings) and (waiting.pruned is None or waiting.pruned <= now - DAY)
        return "expired notes" if waiting.expiring else "a day's history" if old else ""

    def counts(self, made: Swept) -> Mapping[str, int] | None:
        """Return what was archived, erased and pruned, as far as anything was."""
        erased = sum(one.counts["notes"] for one in made.erased)
        counts = {"archived": made.notes, "erased": erased, "pruned": made.pruned}
        done = {name: some for name, some in counts.items() if some}
        return done if done or made.erased else None

    def work(self) -> Swept:
        """Sweep; one that was cut off goes on by the next."""
        db, scope = self.db, self.scope
        if unwrap(self.engine.clock) is utc_now:  # a clock that a program gives is meant as it is
            _check_clock(db)
        if scopes.cut_off(db, scope.name):
            scopes.clear(db, scope.name)
        erased, held = erasure.ended(self.engine, scope)
        archived, decisions = 0, list[Decision]()
        while done := _archive(self.engine, scope):
            archived += done[0]
            decisions.append(done[1])
        scopes.settle(db, scope.name, notes.UNSWEPT)
        pruned = prune(self.engine, scope, self.engine.now())
        return Swept(archived, tuple(decisions), tuple(erased), tuple(held), pruned)


@retried
def _archive(engine: Engine, scope: Scope) -> tuple[int, Decision] | None:
    """Archive the 500 notes that ended first, by one decision; None if none has expired that is not archived.

    What ought to be erased by now, and is held, has decisions of its own: these can't be undone, others can.
    """
    transaction = Transaction.begin(engine, scope)
    some = notes.expiring(engine.db, scope.name, _SOME)
    if not some:
        return None
    some = [one for one in some if one.note.erase_at > transaction.now] or some
    one = some[0].note.id if len(some) == 1 else ""
    decision = transaction.decide("expire", one, evidence=f"{'It' if one else f'{len(some):,} notes'} had expired.")
    for found in some:
        transaction.revise(found, Revision.archived(found.note.id, decision.id))
    transaction.commit()
    return len(some), decision


def _check_clock(db: Database) -> None:
    """Raise ClockSkew if this machine's clock and the server's differ by more than five minutes."""
    skew = abs(ahead(db))
    if skew > SKEW:
        raise ClockSkew(
            f"The clock of this machine and that of the server at {db.uri} differ by {skew.total_seconds() / 60:.0f} "
            "minutes. Nothing was swept, since one of them is wrong: set them, and sweep again."
        )
