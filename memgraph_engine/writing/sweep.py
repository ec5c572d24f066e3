"""Archive what has expired: it could not be read since it ended, and now leaves sums, keywords and vector indexes.

What is archived keeps its words and comes back whole by an undo, or by `restore`. How long it can be read never depends
on a sweep, nor does a sweep depend on who else reads. Former versions, decisions, runs and retrievals go when they are
older than their budget; what can be read, and what notes still need, never goes.
"""

from collections.abc import Mapping
from datetime import datetime, timedelta
from inspect import unwrap

from memgraph_engine.engine.passes import DAY, Pass
from memgraph_engine.engine.wiring import Engine
from memgraph_engine.errors import ClockSkew
from memgraph_engine.graph import erasures, notes, scopes
from memgraph_engine.graph.database import SKEW
from memgraph_engine.graph.health import ahead
from memgraph_engine.graph.notes import Revision
from memgraph_engine.graph.waiting import Waiting
from memgraph_engine.model.ports import utc_now
from memgraph_engine.model.result import Decision, Swept
from memgraph_engine.model.scope import Scope
from memgraph_engine.settings import LifecycleSettings, Settings
from memgraph_engine.writing import erasure
from memgraph_engine.writing.commit import retried
from memgraph_engine.writing.transaction import Transaction

_SOME = 500
_ROWS = 1000  # nodes in one transaction
_HISTORY = {
    "decisions": ("pruning/decisions",),
    "past": ("pruning/past", "pruning/sources"),  # with former versions what they alone tell, which is not counted
    "runs": ("pruning/runs",),
    "retrievals": ("pruning/retrievals",),
}
"""What is kept for a number of days (`lifecycle.past_days`), and what removes it."""


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
        # a clock that a program gives is meant as it is
        if unwrap(self.engine.clock) is utc_now and (skew := abs(ahead(db))) > SKEW:
            raise ClockSkew(
                f"The clock of this machine and that of the server at {db.uri} differ by "
                f"{skew.total_seconds() / 60:.0f} minutes. Nothing was swept, since one of them is wrong: set them, "
                "and sweep again."
            )
        if scopes.cut_off(db, scope.name):
            scopes.clear(db, scope.name)
        erased, held = erasure.ended(self.engine, scope)
        archived, decisions = 0, list[Decision]()
        while done := _archive(self.engine, scope):
            archived += done[0]
            decisions.append(done[1])
        scopes.settle(db, scope.name, notes.UNSWEPT)
        pruned = self._prune(self.engine.now()) if prunes(self.engine.settings) else 0
        return Swept(archived, tuple(decisions), tuple(erased), tuple(held), pruned)

    def _prune(self, now: datetime) -> int:
        """Remove what is older than the budget; return how much. Nothing goes while anything of the memory is held."""
        settings, scope, removed = self.engine.settings.lifecycle, self.scope.name, 0
        held = bool(erasures.held(self.db, scope))
        before = {what: now - timedelta(days=days) for what, days in _days(settings).items() if days and not held}
        for what, at in before.items():
            for name in _HISTORY[what]:
                while some := self.db.commit(name, scope=scope, before=at, rows=_ROWS)[0]["removed"]:
                    removed += int(some) * (name != "pruning/sources")
        self.db.commit("pruning/done", scope=scope, now=now, decisions=before.get("decisions"))
        return removed


def prunes(settings: Settings) -> bool:
    """Tell whether history is kept for a time only."""
    return any(_days(settings.lifecycle).values())


def _days(settings: LifecycleSettings) -> dict[str, int]:
    return {what: getattr(settings, f"{what}_days") for what in _HISTORY}


@retried
def _archive(engine: Engine, scope: Scope) -> tuple[int, Decision] | None:
    """Archive the 500 notes that ended first, by one decision; None if none has expired that is not archived.

    What ought to be erased by now, and is held, has decisions of its own: these can't be undone, others can.
    """
    transaction = Transaction.begin(engine, scope)
    rows = engine.db.run("notes/expiring", scope=scope.name, statuses=notes.UNSWEPT, limit=_SOME)
    some = [notes.found_from(row["note"]) for row in rows]
    if not some:
        return None
    some = [one for one in some if one.note.erase_at > transaction.now] or some
    one = some[0].note.id if len(some) == 1 else ""
    decision = transaction.decide("expire", one, evidence=f"{'It' if one else f'{len(some):,} notes'} had expired.")
    for found in some:
        transaction.revise(found, Revision.archived(found.note.id, decision.id))
    transaction.commit()
    return len(some), decision
