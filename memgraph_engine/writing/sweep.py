"""Archive what has expired: it could not be read since it ended, and now leaves sums, keywords and vector indexes.

So is what has proved of little use to its reader (MemoryArchitect, section II.D.3), where that is wanted.

What is archived keeps its words and comes back whole by an undo, or by `restore`. How long it can be read never depends
on a sweep, nor does a sweep depend on who else reads. Former versions, decisions, runs and retrievals go when they are
older than their budget; what can be read, and what notes still need, never goes.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from functools import partial
from inspect import unwrap

from memgraph_engine.engine.passes import DAY, Pass
from memgraph_engine.engine.wiring import Engine
from memgraph_engine.errors import ClockSkew
from memgraph_engine.graph import erasures, notes, scopes, usage
from memgraph_engine.graph.database import SKEW
from memgraph_engine.graph.health import ahead
from memgraph_engine.graph.notes import Found, Revision
from memgraph_engine.graph.usage import Weighed
from memgraph_engine.graph.waiting import Waiting
from memgraph_engine.lifecycle import utility
from memgraph_engine.model.memory import READABLE
from memgraph_engine.model.ports import utc_now
from memgraph_engine.model.result import Decision, DecisionKind, Swept
from memgraph_engine.model.scope import Scope
from memgraph_engine.model.usage import Usage
from memgraph_engine.settings import LifecycleSettings, Settings
from memgraph_engine.writing import contexts, erasure
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
    sign, why = "expiring", "expired notes"

    @classmethod
    def due(cls, engine: Engine, waiting: Waiting, now: datetime) -> str:
        """Say what has expired, notes or history."""
        old = prunes(engine.settings) and (waiting.pruned is None or waiting.pruned <= now - DAY)
        return super().due(engine, waiting, now) or ("a day's history" if old else "")

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
    which = f"{len(some):,} notes" if len(some) > 1 else "It"
    decision = _archived(transaction, "expire", some, f"{which} had expired.")
    transaction.commit()
    return len(some), decision


def _archived(transaction: Transaction, kind: DecisionKind, some: Sequence[Found], why: str) -> Decision:
    """Plan to archive some notes, by one decision."""
    decision = transaction.decide(kind, some[0].note.id if len(some) == 1 else "", evidence=why)
    for found in some:
        transaction.revise(found, Revision.archived(found.note.id, decision.id))
    return decision


# ---- what is of little use ------------------------------------------------------------------


class Pruning(Pass[int]):
    """Archives the notes of a user that are of little use, 500 in a decision; returns how many.

    What comes back begins anew, with the utility that it started with. The shared memory is left alone: what is of no
    use to one of its readers may be to another.
    """

    name, when = "prune", "once a day, where notes of little use are archived"

    @classmethod
    def due(cls, engine: Engine, waiting: Waiting, now: datetime) -> str:
        """Say that utilities were not looked at for a day."""
        due = engine.settings.use.prune and (waiting.weighed is None or waiting.weighed <= now - DAY)
        return "a day's use" if due else ""

    def counts(self, made: int) -> Mapping[str, int] | None:
        """Return how many were archived."""
        return {"archived": made} if made else None

    def work(self) -> int:
        """Archive them."""
        engine, db, scope, now, policies = self.engine, self.db, self.scope, self.now, self.engine.policies
        low = dict[str, Weighed]()
        if scope.user:
            before = now - timedelta(days=engine.settings.use.prune_after)
            found = usage.prunable(db, scope.name, before)
            some = ((id, one) for id, one in found if policies.known(one.policy).prune)
            used = ((id, one, one.usage or _started(engine, one, one.created)) for id, one in some)
            low = {id: one for id, one, usage_of in used if utility.current(usage_of, now) < utility.LOW}
        ids, archived = sorted(low), 0
        for start in range(0, len(ids), _SOME):
            done = _archive_unused(engine, scope, ids[start : start + _SOME])
            fresh = {id: _started(engine, low[id], now) for id in done}
            usage.change(db, scope.name, [scope.name], fresh, partial(_begun, fresh))
            archived += len(done)
        db.commit("usage/weighed", scope=scope.name, now=now)
        return archived


def _begun(fresh: Mapping[str, Usage], note: str, before: Usage) -> Usage:
    return replace(before, utility=fresh[note].utility, scored_at=fresh[note].scored_at)


def _started(engine: Engine, one: Weighed, at: datetime) -> Usage:
    return utility.started(engine.policies.known(one.policy), at, message=one.message)


@retried
def _archive_unused(engine: Engine, scope: Scope, ids: Sequence[str]) -> Sequence[str]:
    """Archive some notes; return those that could still be read."""
    transaction = Transaction.begin(engine, scope)
    found = [one.found for one in notes.renderings(engine.db, scope.name, ids)]
    found = [one for one in found if one.note.status in READABLE and not one.note.pinned]
    if not found:
        return ()
    told = [one.note.id for one in found]
    many = f"{len(told):,} notes have" if len(told) > 1 else "It has"
    why = f"{many} proved of little use: a utility below {utility.LOW} of {utility.MOST}."
    decision = _archived(transaction, "archive", found, why)
    hidden = dict.fromkeys(source.key for one in found for source in one.note.sources)
    contexts.follow(transaction, decision.id, hidden, told)
    transaction.commit()
    return told
