"""Change what is remembered: a new version of a note, or its deletion. The old state is kept."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import uuid4

from memgraph_engine.embedding import CheckedEmbedder
from memgraph_engine.errors import NotFound
from memgraph_engine.graph import notes as note_graph
from memgraph_engine.graph import scopes, sources
from memgraph_engine.graph.database import Database
from memgraph_engine.graph.notes import Found, Rendering, Revision
from memgraph_engine.lifecycle import quoted
from memgraph_engine.model.candidate import Candidate
from memgraph_engine.model.memory import READABLE, Key, Source
from memgraph_engine.model.result import Decision
from memgraph_engine.model.scope import Scope
from memgraph_engine.recall.question import Filters
from memgraph_engine.rendering import render, terms
from memgraph_engine.writing import contexts
from memgraph_engine.writing.transaction import Transaction

_SOME = 500

Sourced = Sequence[tuple[Source, Source | None]]
"""Sources, each with the turn before it that a context may repeat."""
Place = tuple[datetime, str]
"""When a note was created, and its id: where it stands among the others."""


@dataclass(frozen=True, slots=True)
class Target:
    """A note about to change, as of a version of the scope; or a `message`, by its id, with all of its `notes`.

    So named is a long one, and one that shares its note with others.
    """

    version: int
    language: str
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


def target(db: Database, scope: Scope, id: str) -> Target:  # noqa: A002  the graph's own word
    """Read what is readable of this id, a note's or a source's; raises NotFound, or Summed."""
    state = scopes.state(db, scope.name)
    found = note_graph.found_by(db, scope.name, id) if state else []
    if state and not found and sources.find(db, scope.name, id):
        raise NotFound(f"Source {id!r} of {scope} is kept without a note, so there is nothing to change.")
    if not state or not found:
        raise NotFound(f"There is no note or source {id!r} in the memory of {scope}.")
    if any(one.summed_by and one.note.status == "archived" and one.note.expires_at > db.alive() for one in found):
        raise Summed([id])
    one = next((one for one in found if one.note.status in READABLE), None)
    if not one:
        raise NotFound(f"{id!r} of {scope} is {found[0].note.status}; its `history` shows what it was.")
    if one.by == "source" and (len(one.note.sources) > 1 or one.note.sources[0].span):
        return Target(state.version, state.language, found, id)
    return Target(state.version, state.language, [one])


def delete(db: Database, scope: Scope, at: Target, embedder: CheckedEmbedder, now: datetime) -> Decision:
    """Delete a note so that it can be recovered: it keeps everything but its status.

    Of a message all notes are deleted; one that tells other sources too loses only the message.
    """
    if at.message:
        told = {source.key: one.note.id for one in at.notes for source in one.note.sources if source.id == at.message}
        deleted = withdraw(db, scope, told, embedder, now, "")
        assert deleted  # something of it can be read
        return deleted
    return _delete(db, Transaction(scope, at.version, now), [at.found], at.language, embedder)


def delete_some(
    db: Database, scope: Scope, filters: Filters, before: Place, embedder: CheckedEmbedder, now: datetime
) -> tuple[int, Decision | None, Place] | None:
    """Delete those that are meant of the 500 notes created last before a place; None if there is none.

    Returns how many, by which decision, and the place to go on from.
    """
    state = scopes.state(db, scope.name)
    page = note_graph.newest(db, scope.name, filters.listing(), before, _SOME) if state else []
    if not state or not page:
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
    transaction = Transaction(scope, state.version, now)
    return len(whole), _delete(db, transaction, whole, state.language, embedder, (shared, lost), why), last


def withdraw(
    db: Database, scope: Scope, sources: Mapping[Key, str], embedder: CheckedEmbedder, now: datetime, why: str
) -> Decision | None:
    """Delete what some sources (key → note) tell; a note that comes from others too loses only these.

    None if nothing of it can be read any more. Raises Summed where a summary tells it.
    """
    state = scopes.state(db, scope.name)
    found = note_graph.renderings(db, scope.name, sorted(set(sources.values()))) if state else []
    found = [one for one in found if one.found.note.status in READABLE]
    if not state or not found:
        return None
    if summed := [one for one in found if one.found.note.sums]:
        told = {turn.source.id for one in summed for turn in one.turns if turn.source.key in sources}
        if told:
            raise Summed(sorted(told))
        found = [one for one in found if one not in summed]
    whole = [one.found for one in found if all(turn.source.key in sources for turn in one.turns)]
    shared = [one for one in found if one.found not in whole]
    return _delete(
        db, Transaction(scope, state.version, now), whole, state.language, embedder, (shared, set(sources)), why
    )


def _delete(
    db: Database,
    transaction: Transaction,
    some: Sequence[Found],
    language: str,
    embedder: CheckedEmbedder,
    losing: tuple[Sequence[Rendering], Collection[Key]] = ((), ()),
    why: str = "",
) -> Decision:
    """Delete some notes; those that are `losing` sources lose these alone."""
    shared, lost = losing
    without = [found.note.id for found in (*some, *(one.found for one in shared))]
    decision = transaction.decide(
        Decision(uuid4().hex, "delete", transaction.now, without[0] if len(without) == 1 else "", evidence=why)
    )
    for found in some:
        transaction.revise(found, Revision(found.note.id, decision.id, {"status": "deleted"}))
    for one in shared:
        less = _less(one, lost, decision.id, language, embedder)
        transaction.revise(one.found, less)
        if "raw" in less.properties:
            transaction.loosen(
                decision.id, one.found.note.id, {turn.source.id for turn in one.turns if turn.source.key not in lost}
            )
    hidden = dict.fromkeys([source.key for found in some for source in found.note.sources] + sorted(lost))
    turns = contexts.Turns.after(db, transaction.scope.name, hidden)
    without += [note for found in some for note in found.note.sums]  # deleted with their summary, as they are
    contexts.rewrite(db, transaction, decision.id, turns, language=language, embedder=embedder, without=without)
    transaction.commit(db)
    return decision


def _less(one: Rendering, lost: Collection[Key], decision: str, language: str, embedder: CheckedEmbedder) -> Revision:
    """Return what becomes of a note that loses sources."""
    rest = [
        (turn.source, None if turn.previous_key in lost else turn.previous)
        for turn in one.turns
        if turn.source.key not in lost
    ]
    drops = tuple(turn.source.key for turn in one.turns if turn.source.key in lost)
    properties, vectors = remaining(one.found, rest, language, embedder)
    return Revision(one.found.note.id, decision, properties, "changed", *vectors, drops=drops)


def remaining(
    found: Found, turns: Sourced, language: str, embedder: CheckedEmbedder
) -> tuple[Mapping[str, Any], tuple[Any, Any]]:
    """Return the properties and vectors of a note that lost sources, and is told by these alone."""
    first = turns[0][0]
    own = {name: getattr(first, name) for name in ("session", "seq", "speaker", "role")}
    if first.said_at not in (None, found.note.said_at):
        own |= {"said_at": first.said_at, "valid_from": first.said_at}
    texts, vectors = retold(found, turns, language, embedder)
    return {**own, "agent_id": first.agent, "tags": note_graph.tags_of(source for source, _ in turns), **texts}, vectors


def retold(
    found: Found, turns: Sourced, language: str, embedder: CheckedEmbedder
) -> tuple[Mapping[str, Any], tuple[Any, Any]]:
    """Return the texts and vectors that a note gets where other sources tell it, or where other turns stand before.

    What the user wrote of it stays, and so does a chat model's context. Nothing is returned where nothing changes.
    """
    text = render([(source, quoted(before, found.note)) for source, before in turns], language)
    context = found.note.context if found.constructed_by else text.context
    if found.constructed_by == note_graph.USER or (text.raw, context) == (found.note.raw, found.note.context):
        return {}, (None, None)
    sources = [source for source, _ in turns]
    properties = {"raw": list(text.raw), "raw_terms": " ".join(terms(text.spoken, sources, language))}
    properties |= contexts.terms_of(context, sources, language)
    if found.note.status == "pending":
        return properties, (None, None)
    raw_vector, context_vector = embedder.embed_documents([text.spoken, context])
    return properties, (raw_vector, context_vector)


def update(db: Database, scope: Scope, at: Target, new: Candidate, now: datetime) -> Decision:
    """Give a note a text of the user's own; the old one is kept as its past, and its sources stay as they came.

    A pending one has no vectors, and goes on waiting for its construction.
    """
    note, transaction = at.found.note, Transaction(scope, at.version, now)
    decision = transaction.decide(Decision(uuid4().hex, "update", now, note.id))
    transaction.name(new.keywords)
    properties = {**note_graph.texts_of(new), "constructed_by": note_graph.USER}
    names = tuple(keyword.name for keyword in new.keywords)
    transaction.revise(
        at.found, Revision(note.id, decision.id, properties, "changed", new.raw_vector, new.context_vector, names)
    )
    transaction.loosen(decision.id, note.id)
    transaction.commit(db)
    return decision
