"""Archive what has proved of little use to its reader (MemoryArchitect, section II.D.3). Nothing is erased by it.

What is archived so keeps its words and its end, and comes back whole by an undo of the decision, or by `restore`.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from functools import partial

from memgraph_engine.engine.passes import DAY, Pass
from memgraph_engine.engine.wiring import Engine
from memgraph_engine.graph import notes, usage
from memgraph_engine.graph.notes import Revision
from memgraph_engine.graph.usage import Weighed
from memgraph_engine.graph.waiting import Waiting
from memgraph_engine.lifecycle import utility
from memgraph_engine.model.memory import READABLE
from memgraph_engine.model.scope import Scope
from memgraph_engine.model.usage import Usage
from memgraph_engine.writing import contexts
from memgraph_engine.writing.commit import retried
from memgraph_engine.writing.transaction import Transaction

_SOME = 500


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
            done = _archive(engine, scope, ids[start : start + _SOME])
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
def _archive(engine: Engine, scope: Scope, ids: Sequence[str]) -> Sequence[str]:
    """Archive some notes by one decision; return those that could still be read."""
    db, transaction = engine.db, Transaction.begin(engine, scope)
    found = [one.found for one in notes.renderings(db, scope.name, ids)]
    found = [one for one in found if one.note.status in READABLE and not one.note.pinned]
    if not found:
        return ()
    told = [one.note.id for one in found]
    many = f"{len(told):,} notes have" if len(told) > 1 else "It has"
    why = f"{many} proved of little use: a utility below {utility.LOW} of {utility.MOST}."
    only = told[0] if len(told) == 1 else ""
    decision = transaction.decide("archive", only, evidence=why)
    for one in found:
        transaction.revise(one, Revision.archived(one.note.id, decision.id))
    hidden = dict.fromkeys(source.key for one in found for source in one.note.sources)
    turns = contexts.Turns.after(db, scope.name, hidden)
    contexts.rewrite(transaction, decision.id, turns, told)
    transaction.commit()
    return told
