"""Delete what is remembered, so that it can be recovered: notes keep everything but their status."""

from collections.abc import Collection, Mapping, Sequence
from datetime import datetime

from memgraph_engine.engine.wiring import Engine
from memgraph_engine.graph import notes as note_graph
from memgraph_engine.graph.notes import Found, Rendering, Revision
from memgraph_engine.model.memory import NEVER, READABLE, Key
from memgraph_engine.model.result import Decision, Deletion
from memgraph_engine.model.scope import Scope
from memgraph_engine.recall.question import Filters
from memgraph_engine.writing import contexts
from memgraph_engine.writing.change import Summed, remaining, target
from memgraph_engine.writing.commit import retried
from memgraph_engine.writing.lives import restore_each, unsummed
from memgraph_engine.writing.transaction import Transaction

_SOME = 500

Place = tuple[datetime, str]
"""When a note was created, and its id: where it stands among the others."""


@unsummed
def delete(engine: Engine, scope: Scope, id: str) -> Decision:
    """Delete a note. Of a message all notes are deleted; one that tells other sources too loses only the message."""
    at = target(engine, scope, id)
    if at.message:
        told = {source.key: one.note.id for one in at.notes for source in one.note.sources if source.id == at.message}
        deleted = _withdraw(engine, scope, told, "")
        assert deleted  # something of it can be read
        return deleted
    return _delete(at.transaction, [at.found])


def delete_all(engine: Engine, scope: Scope, filters: Filters) -> Deletion:
    """Delete what the sources of a scope tell that are meant, some hundreds of notes in a decision."""
    place: Place = NEVER, ""
    number, decisions = 0, list[Decision]()
    while deleted := _delete_some(engine, scope, filters, place):
        some, decision, place = deleted
        number += some
        decisions += [decision] if decision else []
    return Deletion(number, tuple(decisions))


@unsummed
def _delete_some(
    engine: Engine, scope: Scope, filters: Filters, before: Place
) -> tuple[int, Decision | None, Place] | None:
    """Delete those that are meant of the 500 notes created last before a place; None if there is none.

    Returns how many, by which decision, and the place to go on from.
    """
    db, transaction = engine.db, Transaction.begin(engine, scope)
    page = note_graph.newest(db, scope.name, filters.listing(), before, _SOME)
    if not page:
        return None
    last = page[-1].note.created_at, page[-1].note.id
    meant = {found.note.id: filters.meant(found.note) for found in page if filters.finds(found.note)}
    some = [found for found in page if found.note.id in meant]
    if not some:
        return 0, None, last
    losing = [found for found in some if 0 < len(meant[found.note.id]) < len(found.note.sources)]
    if summed := [source.id for found in losing if found.note.sums for source in meant[found.note.id]]:
        raise Summed(summed)
    whole = [found for found in some if found not in losing]
    shared = note_graph.renderings(db, scope.name, [found.note.id for found in losing])
    lost = {source.key for found in losing for source in meant[found.note.id]}
    why = f"{len(some):,} notes." if len(some) > 1 else ""
    return len(whole), _delete(transaction, whole, (shared, lost), why), last


def withdraw(engine: Engine, scope: Scope, sources: Mapping[Key, str], why: str) -> Decision | None:
    """Delete what some sources (key → note) tell, in one decision; None if nothing of it can be read any more.

    A note that comes from others too loses only these.
    """
    told = dict(sources)
    while True:
        try:
            return retried(_withdraw)(engine, scope, told, why)
        except Summed as summed:
            restore_each(engine, scope, summed.ids)
            back = (one.note for id in summed.ids for one in note_graph.found_by(engine.db, scope.name, id))
            told |= {source.key: note.id for note in back for source in note.sources if source.key in told}


def _withdraw(engine: Engine, scope: Scope, sources: Mapping[Key, str], why: str) -> Decision | None:
    """Do it; raises Summed where a summary tells it."""
    transaction = Transaction.begin(engine, scope)
    found = note_graph.renderings(engine.db, scope.name, sorted(set(sources.values())))
    found = [one for one in found if one.found.note.status in READABLE]
    if not found:
        return None
    if summed := [one for one in found if one.found.note.sums]:
        told = {turn.source.id for one in summed for turn in one.turns if turn.source.key in sources}
        if told:
            raise Summed(sorted(told))
        found = [one for one in found if one not in summed]
    whole = [one.found for one in found if all(turn.source.key in sources for turn in one.turns)]
    shared = [one for one in found if one.found not in whole]
    return _delete(transaction, whole, (shared, set(sources)), why)


def _delete(
    transaction: Transaction,
    some: Sequence[Found],
    losing: tuple[Sequence[Rendering], Collection[Key]] = ((), ()),
    why: str = "",
) -> Decision:
    """Delete some notes; those that are `losing` sources lose these alone."""
    shared, lost = losing
    without = [found.note.id for found in (*some, *(one.found for one in shared))]
    decision = transaction.decide("delete", without[0] if len(without) == 1 else "", evidence=why)
    for found in some:
        transaction.revise(found, Revision(found.note.id, decision.id, {"status": "deleted"}))
    for one in shared:
        less = _less(transaction, one, lost, decision.id)
        transaction.revise(one.found, less)
        if "raw" in less.properties:
            transaction.loosen(
                decision.id, one.found.note.id, {turn.source.id for turn in one.turns if turn.source.key not in lost}
            )
    hidden = dict.fromkeys([source.key for found in some for source in found.note.sources] + sorted(lost))
    without += [note for found in some for note in found.note.sums]  # deleted with their summary, as they are
    contexts.follow(transaction, decision.id, hidden, without)
    transaction.commit()
    return decision


def _less(transaction: Transaction, one: Rendering, lost: Collection[Key], decision: str) -> Revision:
    """Return what becomes of a note that loses sources."""
    rest = [
        (turn.source, None if turn.previous_key in lost else turn.previous)
        for turn in one.turns
        if turn.source.key not in lost
    ]
    drops = tuple(turn.source.key for turn in one.turns if turn.source.key in lost)
    return Revision(one.found.note.id, decision, remaining(transaction, one.found, rest), drops=drops)
