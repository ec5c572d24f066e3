"""Change what is remembered: a new version of a note, or its deletion. The old state is kept.

The turn after a changed one repeats it in its context, so that context is rewritten with it: what was deleted
or corrected is found nowhere.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from uuid import uuid4

from memgraph_engine.embedding import CheckedEmbedder
from memgraph_engine.errors import InvalidInput, NotFound
from memgraph_engine.gate.commit import Stale
from memgraph_engine.graph import keywords as keyword_graph
from memgraph_engine.graph import notes as note_graph
from memgraph_engine.graph import scopes, sources
from memgraph_engine.graph.database import Database, Runner
from memgraph_engine.graph.notes import READABLE, Follower, Found, Revision
from memgraph_engine.graph.scopes import Change
from memgraph_engine.language import tokenize
from memgraph_engine.model.candidate import Candidate
from memgraph_engine.model.memory import Source
from memgraph_engine.model.result import Decision
from memgraph_engine.model.scope import Scope
from memgraph_engine.model.text import line

_SOME = 500


@dataclass(frozen=True, slots=True)
class Target:
    """A note about to change, and what stands around it, as of a version of the scope."""

    version: int
    language: str
    found: Found
    previous: Source | None
    followers: Sequence[Follower]

    @property
    def source(self) -> Source:
        """The one source of the note."""
        return self.found.note.sources[0]


def target(db: Database, scope: Scope, id: str) -> Target:  # noqa: A002  the graph's own word
    """Read the readable note of this id, its own or its source's; raises NotFound or InvalidInput."""
    state = scopes.state(db, scope.name)
    one = note_graph.find(db, scope.name, id) if state else None
    if not state or not one:
        raise NotFound(f"There is no note or source {id!r} in the memory of {scope}.")
    if one.note.status not in READABLE:
        raise NotFound(f"{id!r} of {scope} is {one.note.status}; history({id!r}) shows what it was.")
    if one.by == "source" and len(one.note.sources) > 1:
        raise InvalidInput(
            f"Source {id!r} is one of {len(one.note.sources)} that note {one.note.id} comes from. "
            f"Name the note itself to change all of it: {one.note.id!r}."
        )
    previous, followers = note_graph.neighbours(db, scope.name, one.note.id)
    return Target(state.version, state.language, one, previous, followers)


def delete(db: Database, scope: Scope, at: Target, embedder: CheckedEmbedder, now: datetime) -> Decision:
    """Delete a note so that it can be recovered: it keeps everything but its status."""
    decision = Decision(uuid4().hex, "delete", now, at.found.note.id)
    rewritten = _rewrite(at, None, embedder)
    change = Change(-1, -at.found.raw_length, rewritten.context_change - at.found.context_length)
    gone = keyword_graph.pairs(at.found.note.keywords)

    def write(tx: Runner) -> None:
        if not scopes.advance(tx, scope.name, at.version, change):
            raise Stale
        deleted = Revision(at.found.note.id, {"status": "deleted"})
        note_graph.revise(tx, scope.name, decision, [deleted, *rewritten.revisions])
        keyword_graph.co_occur(tx, scope.name, Counter({pair: -n for pair, n in gone.items()}))

    db.write(write)
    return decision


def delete_some(db: Database, scope: Scope, now: datetime) -> Decision | None:
    """Delete up to 500 notes, from the newest back, so that no context is left to rewrite; None if there is none."""
    state = scopes.state(db, scope.name)
    some = note_graph.newest(db, scope.name, _SOME) if state else []
    if not state or not some:
        return None
    decision = Decision(uuid4().hex, "delete", now, "")
    gone: keyword_graph.Pairs = Counter()
    for found in some:
        gone.update(keyword_graph.pairs(found.note.keywords))
    change = Change(-len(some), -sum(f.raw_length for f in some), -sum(f.context_length for f in some))

    def write(tx: Runner) -> None:
        if not scopes.advance(tx, scope.name, state.version, change):
            raise Stale
        deleted = [Revision(f.note.id, {"status": "deleted"}) for f in some]
        note_graph.revise(tx, scope.name, decision, deleted)
        keyword_graph.co_occur(tx, scope.name, Counter({pair: -n for pair, n in gone.items()}))

    db.write(write)
    return decision


def update(
    db: Database,
    scope: Scope,
    at: Target,
    new: Candidate,
    embedder: CheckedEmbedder,
    now: datetime,
) -> Decision:
    """Give a note a new text; the old one is kept as its past."""
    note = at.found.note
    decision = Decision(uuid4().hex, "update", now, note.id)
    rewritten = _rewrite(at, new.source, embedder)
    change = Change(
        0,
        len(new.raw_terms) - at.found.raw_length,
        len(new.context_terms) - at.found.context_length + rewritten.context_change,
    )
    pairs = Counter(keyword_graph.pairs(k.name for k in new.keywords))
    pairs.subtract(keyword_graph.pairs(note.keywords))
    revision = Revision(
        note.id,
        {
            "raw": [new.raw],
            "context": new.context,
            "raw_terms": " ".join(new.raw_terms),
            "context_terms": " ".join(new.context_terms),
        },
        raw_vector=new.raw_vector,
        context_vector=new.context_vector,
    )

    def write(tx: Runner) -> None:
        if not scopes.advance(tx, scope.name, at.version, change):
            raise Stale
        sources.revise(tx, scope.name, new.source, now)
        note_graph.revise(tx, scope.name, decision, [revision, *rewritten.revisions])
        keyword_graph.create(tx, scope.name, new.keywords)
        keyword_graph.detach(tx, scope.name, [note.id])
        keyword_graph.attach(tx, scope.name, {note.id: [k.name for k in new.keywords]})
        keyword_graph.co_occur(tx, scope.name, pairs)

    db.write(write)
    return decision


@dataclass(frozen=True, slots=True)
class _Rewritten:
    revisions: Sequence[Revision]
    context_change: int


def _rewrite(at: Target, now_before: Source | None, embedder: CheckedEmbedder) -> _Rewritten:
    """Make the followers' contexts anew, with what stands before them now."""
    before = f"{line(now_before, at.language)} " if now_before else ""
    contexts = [before + line(follower.source, at.language) for follower in at.followers]
    revisions, change = [], 0
    for follower, context, vector in zip(at.followers, contexts, embedder.embed_documents(contexts), strict=True):
        terms = tokenize(context, at.language)
        change += len(terms) - follower.context_length
        properties = {"context": context, "context_terms": " ".join(terms)}
        revisions.append(Revision(follower.id, properties, context_vector=vector))
    return _Rewritten(revisions, change)
