"""Take a single tie back: both notes stay, and what was taken for replaced can be found again.

What an assistant repeated of the older one loses its tie with it. Ties are kept as UNTIED: the gate
does not make them again, and an undo can bring them back.
"""

from memgraph_engine.engine.wiring import Engine
from memgraph_engine.errors import InvalidInput, NotFound, UndoRefused
from memgraph_engine.graph import decisions, notes
from memgraph_engine.graph.database import Database
from memgraph_engine.graph.decisions import Tied
from memgraph_engine.graph.notes import Revision
from memgraph_engine.model.memory import NEVER, Note
from memgraph_engine.model.result import Decision
from memgraph_engine.model.scope import Scope
from memgraph_engine.writing import change, contexts
from memgraph_engine.writing.commit import retried
from memgraph_engine.writing.transaction import Transaction


@retried
def untie(engine: Engine, scope: Scope, *ids: str) -> Decision:
    """Take back the tie between two notes; raises InvalidInput, NotFound or UndoRefused."""
    db, transaction = engine.db, Transaction.begin(engine, scope)
    one, other = (_note(db, scope, id) for id in ids)
    if one.id == other.id:
        raise InvalidInput(f"{ids[0]!r} and {ids[1]!r} are the same note, {one.id}: give the two notes of a tie.")
    ties = _ties(db, scope, one, other)
    ties += [echoed for tie in ties for echoed in _echoes(db, scope, tie)]
    why = " ".join(f"Takes back a tie of the kind {tie.kind}, from {tie.newer} to {tie.older}." for tie in ties)
    decision = transaction.decide("untie", evidence=why)
    for newer, older in dict.fromkeys((tie.newer, tie.older) for tie in ties):
        transaction.untie(decision.id, newer, older)
    for tie in ties:
        if tie.kind == "supersede":
            _bring_back(transaction, decision.id, tie.older)
    transaction.commit()
    return decision


def _note(db: Database, scope: Scope, id: str) -> Note:
    """Return a note that is not deleted; one that was replaced is as good as any."""
    found = notes.find(db, scope.name, id)
    if not found:
        raise NotFound(f"There is no note {id!r} in the memory of {scope}.")
    if found.note.status == "deleted":
        raise NotFound(
            f"{id!r} of {scope} is deleted, and its ties with it. Its `history` names the decision; undo that first."
        )
    return found.note


def _ties(db: Database, scope: Scope, one: Note, other: Note) -> list[Tied]:
    """Return the ties between two notes, of which there is at least one."""
    known = decisions.between(db, scope.name, one.id, other.id)
    ties = [tie for tie in known if not tie.untied_by]
    if ties:
        return ties
    between = f"between notes {one.id} and {other.id} of {scope}"
    if known:
        raise UndoRefused(f"The tie {between} is taken back already, by {known[0].untied_by}.")
    raise NotFound(f"There is no tie {between}. `explain` lists the ties of a note.")


def _echoes(db: Database, scope: Scope, tie: Tied) -> list[Tied]:
    """Return the ties to what only repeated the note that was taken for changed."""
    judged = (seen for made in decisions.of_note(db, scope.name, tie.newer) for seen in made.considered)
    repeated = dict.fromkeys(seen.note for seen in judged if seen.follows == tie.older)
    known = (decisions.between(db, scope.name, tie.newer, note) for note in repeated)
    return [one for some in known for one in some if one.newer == tie.newer and not one.untied_by]


def _bring_back(transaction: Transaction, decision: str, note: str) -> None:
    """Let a note that was replaced hold again, as its sources tell it now; contexts may quote it again."""
    db, scope = transaction.db, transaction.scope
    (found,) = notes.renderings(db, scope.name, [note])
    turns = [(turn.source, turn.previous) for turn in found.turns]
    if not turns:
        raise UndoRefused(
            f"Note {note} of {scope} can't be brought back: its message no longer says it. "
            "Its `history` names the update that took it out; undo that first."
        )
    properties, vectors = change.retold(transaction, found.found, turns)
    holds = {**properties, "status": "active", "valid_to": NEVER}
    transaction.revise(found.found, Revision(note, decision, holds, "changed", *vectors))
    after = contexts.Turns.after(db, scope.name, {source.key: source for source, _ in turns})
    contexts.rewrite(transaction, decision, after, without=[note])
