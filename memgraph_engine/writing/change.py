"""Change what is remembered: a new version of a note. The old state is kept."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from memgraph_engine.engine.wiring import Engine
from memgraph_engine.errors import NotFound
from memgraph_engine.graph import notes as note_graph, sources
from memgraph_engine.graph.notes import Found, Revision
from memgraph_engine.lifecycle.policies import quoted
from memgraph_engine.model.candidate import Candidate
from memgraph_engine.model.memory import READABLE, Source
from memgraph_engine.model.result import Decision
from memgraph_engine.model.scope import Scope
from memgraph_engine.rendering.context import render
from memgraph_engine.writing import contexts
from memgraph_engine.writing.transaction import Transaction

Sourced = Sequence[tuple[Source, Source | None]]
"""Sources, each with the turn before it that a context may repeat."""


@dataclass(frozen=True, slots=True)
class Target:
    """A note about to change in a transaction; or a `message`, by its id, with all of its `notes`.

    So named is a long one, and one that shares its note with others.
    """

    transaction: Transaction
    notes: Sequence[Found]
    message: str = ""

    @property
    def found(self) -> Found:
        """The note, or the first that can be read."""
        return next(one for one in self.notes if one.note.status in READABLE)

    @property
    def source(self) -> Source:
        """The first source of the note."""
        return self.found.note.sources[0]

    @property
    def whole(self) -> str:
        """The id of the source whose text a new one is: the message's, or that of a note which tells it alone.

        It is '' for a note of several sources, or of a passage: a new text is the user's own then.
        """
        alone = len(self.found.note.sources) == 1 and not self.source.span and not self.found.note.sums
        return self.message or (self.source.id if alone else "")


class Summed(Exception):
    """What is to be changed is told by a summary: these ids are restored first."""

    def __init__(self, ids: Sequence[str]) -> None:
        super().__init__(*ids)
        self.ids = tuple(ids)


def target(engine: Engine, scope: Scope, id: str) -> Target:
    """Read what is readable of this id, a note's or a source's; raises NotFound, or Summed."""
    db, transaction = engine.db, Transaction.begin(engine, scope)
    found = note_graph.found_by(db, scope.name, id)
    if not found and sources.find(db, scope.name, id):
        raise NotFound(f"Source {id!r} of {scope} is kept without a note, so there is nothing to change.")
    if not found:
        raise NotFound(f"There is no note or source {id!r} in the memory of {scope}.")
    if any(one.summed_by and one.note.status == "archived" and one.note.expires_at > db.alive() for one in found):
        raise Summed([id])
    one = next((one for one in found if one.note.status in READABLE), None)
    if not one:
        raise NotFound(f"{id!r} of {scope} is {found[0].note.status}; its `history` shows what it was.")
    if one.by == "source" and (len(one.note.sources) > 1 or one.note.sources[0].span):
        return Target(transaction, found, id)
    return Target(transaction, [one])


def remaining(transaction: Transaction, found: Found, turns: Sourced) -> dict[str, Any]:
    """Return the properties of a note that lost sources, and is told by these alone."""
    first = turns[0][0]
    own = {name: getattr(first, name) for name in ("session", "seq", "speaker", "role")}
    if first.said_at not in (None, found.note.said_at):
        own |= {"said_at": first.said_at, "valid_from": first.said_at}
    tags = note_graph.tags_of(source for source, _ in turns)
    return {**own, "agent_id": first.agent, "tags": tags, **retold(transaction, found, turns)}


def retold(transaction: Transaction, found: Found, turns: Sourced) -> dict[str, Any]:
    """Return the texts that a note gets where other sources tell it, or where other turns stand before.

    What the user wrote of it stays, and so does a chat model's context. Nothing is returned where nothing changes.
    """
    language = transaction.language
    text = render([(source, quoted(before, source, found.note)) for source, before in turns], language)
    context = found.note.context if found.constructed_by else text.context
    if found.constructed_by == note_graph.USER or (text.raw, context) == (found.note.raw, found.note.context):
        return {}
    return contexts.texts_of(replace(text, context=context), [source for source, _ in turns], language)


def update(at: Target, new: Candidate) -> Decision:
    """Give a note a text of the user's own; the old one is kept as its past, and its sources stay as they came.

    A pending one has no vectors, and goes on waiting for its construction.
    """
    note, transaction = at.found.note, at.transaction
    decision = transaction.decide("update", note.id)
    transaction.name(new.keywords)
    properties = {**note_graph.texts_of(new), "constructed_by": note_graph.USER}
    names = tuple(keyword.name for keyword in new.keywords)
    transaction.revise(
        at.found, Revision(note.id, decision.id, properties, "changed", new.raw_vector, new.context_vector, names)
    )
    transaction.loosen(decision.id, note.id)
    transaction.commit()
    return decision
